/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/*
 * Which interface a rank gives its neighbours the address of: not the loopback,
 * not a bridge, not one that is down or without a cable; by name any that
 * works. In a network of this program's own.
 */
#include <arpa/inet.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/interface.h"
#include "support/check.h"

static void check_address(const char *name, const char *expected)
{
    struct in_addr at = {.s_addr = storm_interface_address(name)};
    check_where("interface '%s'", name);
    CHECK_TEXT(inet_ntoa(at), expected);
}

static void need(const char *commands)
{
    if (system(commands) != 0) { /* NOLINT(cert-env33-c) */
        printf("cannot make interfaces here: %s\n", commands);
        exit(CHECK_SKIP);
    }
}

/* The kernel notices signals some time after a command has returned. */
static void await_signals(void)
{
    for (int ms = 0; ms < 5000; ms++) {
        if (storm_interface_address("good0") &&
            storm_interface_address("bridge0") &&
            !storm_interface_address("down0"))
            return;
        usleep(1000);
    }
}

int main(void)
{
    if (unshare(CLONE_NEWNET) != 0) {
        printf("no network of its own\n");
        return CHECK_SKIP;
    }
    need("ip link set lo up && ip link add bridge0 type bridge && "
         "ip addr add 10.1.0.1/24 dev bridge0 && ip link set bridge0 up");
    check_address("", "127.0.0.1");
    /* Without its other end a cable has no signal. */
    need("ip link add down0 type veth peer name down1 && "
         "ip addr add 10.2.0.1/24 dev down0 && ip link set down0 up && "
         "ip link add good0 type veth peer name good1 && "
         "ip addr add 10.3.0.1/24 dev good0 && ip link set good0 up && "
         "ip link set good1 up");
    await_signals();
    check_address("", "10.3.0.1");
    check_address("good0", "10.3.0.1");
    check_address("bridge0", "10.1.0.1");
    check_address("lo", "127.0.0.1");
    check_address("down0", "0.0.0.0");
    check_address("good1", "0.0.0.0"); /* has no address */
    check_address("none0", "0.0.0.0");
    return CHECK_PASS;
}
