/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A deck of examples/decks, run in a directory of its own with another seed,
 * and its profiles read back.
 */
#ifndef TESTS_RUN_CASE_H
#define TESTS_RUN_CASE_H

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include <storm/context.h>
#include <storm/deck.h>
#include <storm/run.h>

#include "support/check.h"

/* Columns of a profile. */
enum {
    CASE_POSITION,
    CASE_MATERIAL_T,
    CASE_RADIATION_T,
    CASE_RADIATION,
    CASE_MATERIAL,
    CASE_VOLUME,
    CASE_COLUMNS
};
enum { CASE_MOST_ROWS = 4096, CASE_PATH = 512 };

struct case_profile {
    double time, from;
    size_t n;
    double row[CASE_MOST_ROWS][CASE_COLUMNS];
};

struct case_run {
    char dir[CASE_PATH];
    char *json;
};

/* Path of a deck, from that of this header. */
static inline void case_deck(const char *name, char path_out[CASE_PATH])
{
    const char *here = __FILE__;
    const char *end = strstr(here, "/tests/run/");
    CHECK(end != NULL);
    snprintf(path_out, CASE_PATH, "%.*s/examples/decks/%s.yaml",
             (int)(end - here), here, name);
}

/* Runs the deck on the ranks of comm, from the beginning or from the newest
 * checkpoint of another run; sets ends in NULL. */
static inline struct case_run case_restart_on(MPI_Comm comm, const char *name,
                                              uint64_t seed,
                                              const char *const *sets,
                                              const struct case_run *from)
{
    struct case_run run = {.json = NULL};
    char path[CASE_PATH], text[32], *problems = NULL;
    size_t n_sets = 0;
    int rank;
    MPI_Comm_rank(comm, &rank);
    while (sets != NULL && sets[n_sets] != NULL)
        n_sets++;
    case_deck(name, path);
    struct storm_deck *deck = NULL;
    storm_status status = storm_deck_read(path, sets, n_sets, &deck, &problems);
    if (status < 0)
        fprintf(stderr, "%s", problems != NULL ? problems : "no deck\n");
    CHECK_OK(status);
    struct storm_options *options;
    CHECK_OK(storm_options_create(&options));
    snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    CHECK_OK(storm_options_set(options, "seed", text, NULL, 0));
    CHECK_OK(storm_deck_set_options(deck, options));
    if (rank == 0) {
        snprintf(run.dir, sizeof run.dir, "/tmp/storm-case-XXXXXX");
        CHECK(mkdtemp(run.dir) != NULL);
    }
    MPI_Bcast(run.dir, sizeof run.dir, MPI_CHAR, 0, comm);
    struct storm_context *context;
    struct storm_context_params context_params = {.size = sizeof context_params,
                                                  .options = options};
    CHECK_OK(storm_context_create(comm, &context_params, &context));
    struct storm_run_params params = {.size = sizeof params,
                                      .out_dir = run.dir,
                                      .restart_dir =
                                          from != NULL ? from->dir : NULL};
    struct storm_run_report *report;
    CHECK_OK(storm_run(context, deck, &params, &report));
    const char *json = storm_run_report_text(report, STORM_RUN_JSON);
    int length = json != NULL ? (int)strlen(json) + 1 : 0;
    MPI_Bcast(&length, 1, MPI_INT, 0, comm);
    run.json = calloc((size_t)length, 1);
    CHECK(run.json != NULL);
    if (json != NULL)
        memcpy(run.json, json, (size_t)length);
    MPI_Bcast(run.json, length, MPI_CHAR, 0, comm);
    storm_run_report_destroy(report);
    storm_context_destroy(context);
    storm_options_destroy(options);
    storm_deck_destroy(deck);
    return run;
}

static inline struct case_run case_open_on(MPI_Comm comm, const char *name,
                                           uint64_t seed,
                                           const char *const *sets)
{
    return case_restart_on(comm, name, seed, sets, NULL);
}

/* Removes what the run has written, when all ranks have read it. */
static inline void case_close_on(MPI_Comm comm, struct case_run *run)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    MPI_Barrier(comm);
    if (rank != 0) {
        free(run->json);
        return;
    }
    DIR *dir = opendir(run->dir);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        char path[2 * CASE_PATH];
        snprintf(path, sizeof path, "%s/%s", run->dir, entry->d_name);
        (void)unlink(path);
    }
    if (dir != NULL)
        closedir(dir);
    (void)rmdir(run->dir);
    free(run->json);
}

/* Both on all ranks. */
static inline struct case_run case_open(const char *name, uint64_t seed,
                                        const char *const *sets)
{
    return case_open_on(MPI_COMM_WORLD, name, seed, sets);
}

static inline void case_close(struct case_run *run)
{
    case_close_on(MPI_COMM_WORLD, run);
}

static inline bool case_read(const char *path, struct case_profile *p)
{
    FILE *file = fopen(path, "r");
    char line[1024];
    if (file == NULL)
        return false;
    CHECK(fgets(line, sizeof line, file) != NULL);
    CHECK(sscanf(line, "# time %lf from %lf", &p->time, &p->from) == 2);
    CHECK(fgets(line, sizeof line, file) != NULL);
    static const char names[] =
        "position,material_temperature,radiation_temperature,"
        "radiation_energy,material_energy,volume";
    CHECK(strncmp(line, names, sizeof names - 1) == 0);
    for (p->n = 0; fgets(line, sizeof line, file) != NULL; p->n++) {
        double *r = p->row[p->n];
        CHECK(p->n < CASE_MOST_ROWS);
        CHECK(sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf", &r[0], &r[1], &r[2],
                     &r[3], &r[4], &r[5]) == CASE_COLUMNS);
    }
    fclose(file);
    return true;
}

/* The profile at exactly this time. */
static inline void case_at(const struct case_run *run, double time,
                           struct case_profile *p)
{
    DIR *dir = opendir(run->dir);
    CHECK(dir != NULL);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[2 * CASE_PATH];
        snprintf(path, sizeof path, "%s/%s", run->dir, entry->d_name);
        if (strncmp(entry->d_name, "profile-", 8) == 0 && case_read(path, p) &&
            p->time == time) {
            closedir(dir);
            return;
        }
    }
    check_fail(__FILE__, __LINE__, "a profile at that time");
}

/* A column at a place, linear in between. */
static inline double case_value(const struct case_profile *p, double x,
                                int column)
{
    size_t i = 1;
    while (i + 1 < p->n && p->row[i][0] < x)
        i++;
    const double *a = p->row[i - 1], *b = p->row[i];
    return a[column] + (b[column] - a[column]) * ((x - a[0]) / (b[0] - a[0]));
}

/* A number of the summary. */
static inline double case_json(const struct case_run *run, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(run->json, quoted);
    CHECK(at != NULL);
    return strtod(at + strlen(quoted), NULL);
}

/* The hash of the state in the end. */
static inline uint64_t case_hash(const struct case_run *run)
{
    static const char key[] = "\"state_hash\": \"";
    const char *at = strstr(run->json, key);
    CHECK(at != NULL);
    return strtoull(at + strlen(key), NULL, 16);
}

/* Mean and its standard error, as values come in. */
struct case_mean {
    double n, sum, square;
};

static inline void case_add(struct case_mean *m, double value)
{
    m->n += 1.0;
    m->sum += value;
    m->square += value * value;
}

static inline double case_average(const struct case_mean *m)
{
    return m->sum / m->n;
}

static inline double case_error(const struct case_mean *m)
{
    double mean = m->sum / m->n;
    double variance = (m->square / m->n - mean * mean) / (m->n - 1.0);
    return variance > 0.0 ? sqrt(variance) : 0.0;
}

#endif /* TESTS_RUN_CASE_H */
