/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST args: threads 1 2; label: slow-asan */
/*
 * Signals belong to the user's program: no fabric, nor a library it brings
 * along, changes what happens to any of them. (Sanitizers do, hence the label.)
 */
#include <signal.h>
#include <string.h>

#include "support/conform.h"

enum { N_SIGNALS = 32 };

/* What happens to each signal, as the program starts. */
static struct sigaction at_start[N_SIGNALS];

static void look(struct sigaction actions[N_SIGNALS])
{
    memset(actions, 0, N_SIGNALS * sizeof actions[0]);
    for (int i = 1; i < N_SIGNALS; i++)
        CHECK_EQ(sigaction(i, NULL, &actions[i]), 0);
}

static void signals(struct conform *c)
{
    struct sigaction now[N_SIGNALS];
    look(now);
    for (int i = 1; i < N_SIGNALS; i++) {
        check_where("%s, signal %d", c->fabric->ops->name, i);
        CHECK(now[i].sa_handler == at_start[i].sa_handler);
        CHECK_EQ(now[i].sa_flags, at_start[i].sa_flags);
    }
}

int main(int argc, char **argv)
{
    look(at_start);
    for (int i = 1; i < N_SIGNALS; i++) /* not even before main */
        CHECK(at_start[i].sa_handler == SIG_DFL ||
              at_start[i].sa_handler == SIG_IGN);
    return conform_main(argc, argv, signals);
}
