/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3 7; timeout: 30 */
/*
 * CONTROL-5: all ranks but rank 0 report, twice; rank 0 logs one line, which is
 * that of a rank, and polls return the messages of channels alone.
 */
#include <stdio.h>
#include <string.h>

#include <mpi.h>

#include <storm/context.h>

#include "channel/channel_control.h"
#include "engine/engine_internal.h"
#include "support/check.h"

struct lines {
    int n;
    char text[STORM_REPORT_BYTES];
};

static void count(void *self, storm_log_level level, int rank, const char *line)
{
    struct lines *lines = self;
    if (level != STORM_LOG_WARN || strncmp(line, "slow on ", 8) != 0)
        return;
    CHECK_EQ(rank, 0);
    lines->n++;
    snprintf(lines->text, sizeof lines->text, "%s", line);
}

/* Until all ranks have sent, and what they sent has been received. */
static void poll_all(struct storm_control *control, int size)
{
    MPI_Request all;
    int done = 0, from, n_wants = 0;
    struct storm_message message;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    while (!done || n_wants < size) {
        storm_status status = control->ops->poll(control, &from, &message);
        CHECK(status >= 0);
        if (status == STORM_OK) {
            CHECK_EQ(message.kind, STORM_MESSAGE_WANT);
            n_wants++;
        }
        if (!done)
            MPI_Test(&all, &done, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    struct lines lines = {0};
    const struct storm_context_params params = {
        .size = sizeof params, .log = count, .log_self = &lines};
    const struct storm_message want = {.kind = STORM_MESSAGE_WANT};
    const struct storm_engine_params engine_params = {
        .size = sizeof engine_params, .record_bytes = 32};
    struct storm_context *context;
    struct storm_engine *engine;
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &params, &context));
    CHECK_OK(storm_engine_create(context, &engine_params, &engine));
    struct storm_control *control = engine->control; /* nobody else polls it */
    int rank = storm_context_rank(context), size = storm_context_size(context);
    for (int i = 0; i < 2 && rank > 0; i++) {
        char text[64];
        snprintf(text, sizeof text, "slow on %d, %d", rank, i);
        CHECK(control->ops->report(control, text) >= 0);
    }
    for (int to = 0; to < size; to++)
        CHECK_OK(control->ops->send(control, to, &want));
    poll_all(control, size);
    storm_engine_destroy(engine); /* receives what is left */
    int reporter = 0, number = -1;
    if (rank == 0) {
        CHECK_EQ(lines.n, 1);
        CHECK_EQ(sscanf(lines.text, "slow on %d, %d", &reporter, &number), 2);
        CHECK(reporter > 0 && reporter < size);
        CHECK_EQ(number, 0);
    } else {
        CHECK_EQ(lines.n, 0);
    }
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
