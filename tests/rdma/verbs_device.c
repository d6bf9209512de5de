/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 60 */
/*
 * Device, port, address, partition and service level: what the user names is
 * taken, what is not there is refused in words that name it, and so is a
 * machine without any.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/ibv/ibv_fabric.h"
#include "rdma/adapter.h"

/* One request, as environment variables, and the expected error. */
struct request {
    const char *device, *port, *gid, *pkey, *level;
    const char *complaint; /* part of the message; NULL: it works */
};

static void rank_main(void *self, const struct storm_env *env,
                      const struct storm_boot *boot)
{
    const struct request *request = self;
    char line[ADAPTER_LINE] = "";
    struct storm_log *log = (struct storm_log *)&env->log;
    struct storm_log before = *log;
    struct storm_fabric *fabric = NULL;
    check_where("device '%s' port %s gid %s pkey %s level %s", request->device,
                request->port, request->gid, request->pkey, request->level);
    log->sink = adapter_keep_line;
    log->self = line;
    storm_status status = storm_fabric_ibv.open(env, boot, &fabric);
    *log = before;
    printf("device '%s' port %s gid %s pkey %s level %s: %s\n", request->device,
           request->port, request->gid, request->pkey, request->level,
           status < 0 ? line : fabric->provider);
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
    CHECK_EQ(f->port.pkey_index, atoi(request->pkey));
    /* It has carried the self-test. */
    CHECK_EQ(f->port.service_level, atoi(request->level));
    fabric->ops->close(fabric);
}

static void try_request(struct request request)
{
    setenv("STORM_IBV_DEVICE", request.device, 1);
    setenv("STORM_IBV_PORT", request.port, 1);
    setenv("STORM_IBV_GID_INDEX", request.gid, 1);
    setenv("STORM_IBV_PKEY_INDEX", request.pkey, 1);
    setenv("STORM_IBV_SERVICE_LEVEL", request.level, 1);
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
    const struct request requests[] = {
        {"", "0", "-1", "0", "0", NULL},
        {port.name, "1", "0", "0", "3", NULL},
        {port.name, "0", "1", "0", "0", NULL},
        {"nothing0", "0", "-1", "0", "0", "no RDMA device nothing0"},
        {port.name, "9", "-1", "0", "0", "has no port 9"},
        {"", "0", "255", "0", "0", "number 255"},
        {"", "0", "-1", "65535", "0", "no partition key number 65535"},
    };
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        try_request(requests[i]);
    return CHECK_PASS;
}
