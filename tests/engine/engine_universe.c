/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; backend: ofi-tcp; timeout: 60 */
/*
 * FI_UNIVERSE_SIZE has the number of expected peers when libfabric first reads
 * it, not later, unless the user has set it.
 */
#include <stdlib.h>

#include "harness.h"

static char first_read[64]; /* "": not read yet, or not set */
static int n_reads;

extern char **environ;

/* In place of the C library's, for libfabric too. */
STORM_API char *getenv(const char *name)
{
    char *found = NULL;
    size_t n = strlen(name);
    for (char **at = environ; *at && !found; at++)
        if (strncmp(*at, name, n) == 0 && (*at)[n] == '=')
            found = *at + n + 1;
    if (strcmp(name, "FI_UNIVERSE_SIZE") == 0 && n_reads++ == 0 && found)
        snprintf(first_read, sizeof first_read, "%s", found);
    return found;
}

static void stay(void *self, struct storm_step *step, void *packet,
                 struct storm_outcome *outcome)
{
    (void)self;
    (void)step;
    (void)packet;
    outcome->fate = STORM_FATE_CENSUS;
}

int main(void)
{
    int rank;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (n_reads > 0) {
        printf("skipped: MPI has loaded libfabric\n");
        MPI_Finalize();
        return CHECK_SKIP;
    }
    if (rank == 1)
        setenv("FI_UNIVERSE_SIZE", "77", 1);
    struct harness h;
    struct storm_engine_params params = {
        .size = sizeof params,
        .record_bytes = 32,
        .physics = &(struct storm_physics){.size = sizeof(struct storm_physics),
                                           .step = stay}};
    CHECK_OK(harness_open(&h, &params, NULL));
    CHECK(n_reads > 0);
    CHECK_TEXT(first_read, rank == 1 ? "77" : "16");
    harness_close(&h);
    MPI_Finalize();
    return CHECK_PASS;
}
