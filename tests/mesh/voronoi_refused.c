/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; timeout: 20 */
/*
 * Invalid Voronoi meshes are refused, on all ranks, and the message names the
 * points.
 */
#include "voronoi_check.h"

static char message[512];

static void record_message(void *self, storm_log_level level, int rank,
                           const char *text)
{
    (void)self;
    (void)rank;
    if (level == STORM_LOG_ERROR)
        snprintf(message, sizeof message, "%s", text);
}

/* All ranks refuse it, and at least one logs why. */
static void check_refused(struct storm_context *context,
                          const struct point_set *set, const char *expected)
{
    struct storm_mesh *mesh = NULL;
    message[0] = '\0';
    storm_status status = set_mesh(context, set, 0, &mesh);
    CHECK(status == STORM_ERR_ARG || status == STORM_ERR_PEER);
    CHECK(mesh == NULL);
    int found = strstr(message, expected) != NULL, any;
    MPI_Allreduce(&found, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(any);
}

int main(int argc, char **argv)
{
    struct storm_context *context;
    MPI_Init(&argc, &argv);
    struct storm_context_params params = {.size = sizeof params,
                                          .log = record_message};
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &params, &context));
    int size = storm_context_size(context);
    struct dice dice = dice_make(1, 0);
    struct point_set set = set_make(100);
    for (int i = 0; i < set.n; i++)
        for (int d = 0; d < 3; d++)
            set.x[i][d] = set_uniform(&dice);

    memcpy(set.x[70], set.x[13], sizeof set.x[70]);
    char expected[64]; /* numbers go from rank to rank; see set_mesh */
    int before[2] = {0, 0}, at[2] = {13, 70};
    for (int k = 0; k < 2; k++)
        for (int rank = 0; rank < at[k] % size; rank++)
            before[k] += (set.n - rank + size - 1) / size;
    int number[2] = {before[0] + 13 / size, before[1] + 70 / size};
    snprintf(expected, sizeof expected, "points %d and %d are the same",
             number[0] < number[1] ? number[0] : number[1],
             number[0] < number[1] ? number[1] : number[0]);
    check_refused(context, &set, expected);

    set.x[70][1] = 1.0000001;
    check_refused(context, &set, "is not in the box");
    set.x[70][1] = NAN;
    check_refused(context, &set, "is not in the box");
    set.x[70][1] = 0.123;
    set.hi[2] = 0.0;
    check_refused(context, &set, "box is empty in direction 2");
    set.hi[2] = 1e-13;
    set.n = 0;
    check_refused(context, &set, "box is too thin");
    set.hi[2] = 1.0;
    check_refused(context, &set, "cannot have 0 points");

    struct storm_memory_entry entry = STORM_MEMORY_ENTRY_INIT;
    CHECK_OK(storm_context_memory(context, 0, &entry));
    CHECK_EQ(entry.bytes, 0);
    free(set.x);
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
