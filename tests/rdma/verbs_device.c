/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 60 */
/*
 * Device, port and address: what the user names is taken, what is not there is
 * refused in words that name it, and so is a machine without any.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/ibv/ibv_fabric.h"
#include "support/check.h"
#include "support/threads.h"

/* One request, as environment variables, and the expected error. */
struct request {
    const char *device, *port, *gid;
    const char *complaint; /* part of the message; NULL: it works */
};

static void keep_line(void *self, storm_log_level level, int rank,
                      const char *message)
{
    (void)rank;
    if (level == STORM_LOG_ERROR)
        snprintf(self, 1024, "%s", message);
}

static void rank_main(void *self, const struct storm_env *env,
                      const struct storm_boot *boot)
{
    const struct request *request = self;
    char line[1024] = "";
    struct storm_log *log = (struct storm_log *)&env->log;
    struct storm_log before = *log;
    struct storm_fabric *fabric = NULL;
    check_where("device '%s' port %s gid %s", request->device, request->port,
                request->gid);
    log->sink = keep_line;
    log->self = line;
    storm_status status = storm_fabric_ibv.open(env, boot, &fabric);
    *log = before;
    printf("device '%s' port %s gid %s: %s\n", request->device, request->port,
           request->gid, status < 0 ? line : fabric->provider);
    if (request->complaint) {
        CHECK_EQ(status, STORM_ERR_NOSUP);
        CHECK(strstr(line, request->complaint) != NULL);
        return;
    }
    CHECK_OK(status);
    struct verbs_fabric *f = (struct verbs_fabric *)fabric;
    CHECK(!request->device[0] ||
          strcmp(fabric->provider, request->device) == 0);
    CHECK(atoi(request->port) == 0 || f->port.number == atoi(request->port));
    CHECK(atoi(request->gid) < 0 || f->port.gid_index == atoi(request->gid));
    fabric->ops->close(fabric);
}

static void try_request(struct request request)
{
    setenv("STORM_IBV_DEVICE", request.device, 1);
    setenv("STORM_IBV_PORT", request.port, 1);
    setenv("STORM_IBV_GID_INDEX", request.gid, 1);
    threads_run(1, rank_main, &request);
}

int main(void)
{
    const struct verbs_request any = {.device = "", .gid_index = -1};
    struct verbs_port port;
    char reason[256] = "";
    if (verbs_port_open(&any, &port, reason, sizeof reason) < 0) {
        CHECK(strstr(reason, "RDMA") != NULL || strstr(reason, "port") != NULL);
        printf("skipped: %s\n", reason);
        return CHECK_SKIP;
    }
    verbs_port_close(&port);
    try_request((struct request){"", "0", "-1", NULL});
    try_request((struct request){port.name, "1", "0", NULL});
    try_request((struct request){port.name, "0", "1", NULL});
    try_request((struct request){"nothing0", "0", "-1",
                                 "no RDMA device nothing0"});
    try_request((struct request){port.name, "9", "-1", "has no port 9"});
    try_request((struct request){"", "0", "255", "number 255"});
    return CHECK_PASS;
}
