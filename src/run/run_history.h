/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of a run that get rows with each step: history.csv (all of the
 * problem), probes.csv (fields at points), trace.csv (events of packets).
 *
 *   HISTORY-1  Columns up to `balance` of history.csv, and all of the other
 *              files, are the same bytes on any number of ranks.
 *   HISTORY-2  A restarted run has the files of one that was never stopped, but
 *              for the columns after `balance`.
 */
#ifndef STORM_RUN_HISTORY_H
#define STORM_RUN_HISTORY_H

#include <storm/engine.h>
#include <storm/packet.h>

#include "io/io_rows.h"

struct run;

struct run_history {
    struct io_rows rows;
    struct io_rows probes, trace;
    bool has_failed;             /* to be written */
    size_t n_walls;              /* and one for what is outside */
    storm_cell_idx *probe_cells; /* of this rank, -1: none */
    uint64_t probe_cells_of;     /* generation of the mesh, plus 1 */
};

/* Once the run knows with which step it begins; rank 0 has a file then. */
storm_status run_history_open(struct run *run);
void run_history_close(struct run *run);

/* The row of a step, from readings of the statistics before and after it.
 * Collective. */
storm_status run_history_add(struct run *run, const struct storm_stats *before,
                             const struct storm_stats *after, double dt_s);

/* run_probes.c: the same for points; also of the state before the first
 * step. */
storm_status run_probes_open(struct run *run);
void run_probes_close(struct run *run);
storm_status run_probes_add(struct run *run);

/* run_trace.c: the same for packets that are followed. */
storm_status run_trace_open(struct run *run);
storm_status run_trace_add(struct run *run);
/* At the end, about packets that never were; of replicas, of the first. */
void run_trace_warn(struct run *run);

/* On rank 0: the file <name>.csv, or <name>-<replica>.csv in a job. A run that
 * is restarted keeps its rows (ROWS-3), or warns that there are none. */
storm_status run_rows_open(struct run *run, struct io_rows *rows,
                           const char *name, const char *header);

/* A name as the name of a column or an entry of it. */
void run_column_name(struct storm_page *page, const char *name);

/* What is new goes to the disk. Collective. STORM_ERR_IO (logged). */
storm_status run_history_write(struct run *run);

/* The same on rank 0 alone, for those who watch a run. It goes on if that
 * fails, until the next run_history_write. */
void run_history_try(struct run *run);

#endif /* STORM_RUN_HISTORY_H */
