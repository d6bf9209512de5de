/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; args: 2 1; timeout: 60; label: slow-asan slow-mpich */
/* TEST ranks: 1; args: 600 0; timeout: 700; label: long */
/*
 * CHECKPOINT-3: a run restarts from a checkpoint with bytes changed with the
 * state that was saved, or not at all; no crash, no hang, no growth of memory.
 */
#include <mpi.h>

#include <storm/context.h>
#include <storm/deck.h>
#include <storm/run.h>

#include "fuzz/mutants.h"

/* Small: most of its bytes are the structure of the file. */
static const char deck_text[] =
    "title: small\n"
    "mesh: {box: {lo: [0, 0, 0], hi: [1, 1, 1]}, cells: [2, 1, 1]}\n"
    "materials: [{name: m, absorption: {coef: 1}, heat_capacity: {coef: 1},\n"
    "             temperature: 1}]\n"
    "constants: {c: 1, a: 1}\n"
    "time: {dt: 0.1, steps: 2}\n"
    "packets: {emit_per_cell: 2, max_per_cell: 3}\n"
    "output: {checkpoint: {every: 2}}\n";

/* Runs or restarts; the state hash if all is well. */
static storm_status try_run(struct storm_context *context,
                            const struct storm_deck *deck, const char *out,
                            const char *restart, uint64_t *hash_out)
{
    struct storm_run_params params = STORM_RUN_PARAMS_INIT;
    struct storm_run_report *report = NULL;
    params.out_dir = out;
    params.restart_dir = restart;
    storm_status status = storm_run(context, deck, &params, &report);
    if (status < 0)
        return status;
    const char *json = storm_run_report_text(report, STORM_RUN_JSON);
    const char *at = strstr(json, "\"state_hash\": \"");
    CHECK(at != NULL);
    *hash_out = strtoull(at + strlen("\"state_hash\": \""), NULL, 16);
    storm_run_report_destroy(report);
    return status;
}

static void remove_others(const char *dir)
{
    char command[256];
    snprintf(command, sizeof command,
             "find '%s' -type f ! -name checkpoint-2.h5 -delete", dir);
    CHECK_EQ(system(command), 0);
}

int main(int argc, char **argv)
{
    struct storm_context *context;
    struct storm_context_params params = STORM_CONTEXT_PARAMS_INIT;
    struct storm_deck *deck = NULL;
    struct storm_options *options;
    char *problems = NULL;
    uint64_t right = 0, hash, n_read = 0;
    size_t n = 0;
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_deck_parse("small", deck_text, strlen(deck_text), NULL, 0,
                              &deck, &problems));
    CHECK_OK(storm_options_create(&options));
    CHECK_OK(storm_deck_set_options(deck, options));
    params.options = options;
    params.log = mutants_on_log;
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &params, &context));
    struct mutants *m = mutants_begin(argc, argv, "checkpoint-2.h5");
    CHECK_OK(try_run(context, deck, m->dir, NULL, &right));
    remove_others(m->dir);
    CHECK_OK(try_run(context, deck, NULL, m->dir, &hash));
    CHECK_EQ(hash, right);
    unsigned char *good = mutants_load(m->path, &n);
    printf("%zu bytes\n", n);
    while (mutants_next(m)) {
        mutants_make(m, good, n);
        storm_status status = try_run(context, deck, NULL, m->dir, &hash);
        n_read += status == STORM_OK;
        if (status == STORM_OK)
            CHECK_EQ(hash, right);
        else
            CHECK(status == STORM_ERR_IO || status == STORM_ERR_ARG ||
                  status == STORM_ERR_STATE);
    }
    printf("%llu were read\n", (unsigned long long)n_read);
    mutants_end(m);
    free(good);
    storm_context_destroy(context);
    storm_options_destroy(options);
    storm_deck_destroy(deck);
    MPI_Finalize();
    return CHECK_PASS;
}
