/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* Log messages: which reach the sink, and how long ones are cut. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "support/check.h"

struct received {
    int n, rank;
    storm_log_level level;
    char line[2048];
};

static void receive(void *self, storm_log_level level, int rank,
                    const char *message)
{
    struct received *received = self;
    received->n++;
    received->rank = rank;
    received->level = level;
    snprintf(received->line, sizeof received->line, "%s", message);
}

static void test_which_ranks(void)
{
    const storm_log_level levels[] = {STORM_LOG_ERROR, STORM_LOG_WARN,
                                      STORM_LOG_INFO, STORM_LOG_DEBUG};
    for (int rank = 0; rank < 3; rank++) {
        for (int limit = 0; limit < 4; limit++) {
            for (int level = 0; level < 4; level++) {
                struct received received = {.n = 0};
                struct storm_log log = {receive, &received, levels[limit], rank,
                                        NULL};
                storm_log_write(&log, levels[level], "peer %d lost", 4);
                int wanted = level <= limit && (rank == 0 || level == 0);
                CHECK_EQ(received.n, wanted);
                if (wanted) {
                    CHECK_EQ(received.rank, rank);
                    CHECK(received.level == levels[level]);
                    CHECK_TEXT(received.line, "peer 4 lost");
                }
            }
        }
    }
}

static void test_long_lines(void)
{
    struct received received = {.n = 0};
    struct storm_log log = {receive, &received, STORM_LOG_INFO, 0, NULL};
    char lengthy[3000];
    memset(lengthy, 'a', sizeof lengthy);
    lengthy[2999] = '\0';
    storm_log_write(&log, STORM_LOG_INFO, "%s", lengthy);
    CHECK_EQ(strlen(received.line), 1023);
    CHECK_TEXT(received.line + 1018, "aa...");
    lengthy[1023] = '\0';
    storm_log_write(&log, STORM_LOG_INFO, "%s", lengthy);
    CHECK_TEXT(received.line, lengthy);
}

/* One line from the writer; every rank knows of the error. */
static void test_shared(void)
{
    for (int rank = 0; rank < 3; rank++) {
        struct received received = {.n = 0};
        atomic_uint_least64_t n_errors = 0;
        struct storm_log log = {receive, &received, STORM_LOG_INFO, rank,
                                &n_errors};
        storm_log_shared(&log, 1, "peer %d lost", 4);
        CHECK_EQ(received.n, rank == 1);
        CHECK_EQ(n_errors, 1);
        storm_log_write(&log, STORM_LOG_WARN, "slow");
        CHECK_EQ(n_errors, 1);
        storm_log_write(&log, STORM_LOG_ERROR, "lost");
        CHECK_EQ(n_errors, 2);
    }
}

static void test_no_sink(void)
{
    struct storm_log log = {NULL, NULL, STORM_LOG_DEBUG, 0, NULL};
    storm_log_write(&log, STORM_LOG_ERROR, "not logged");
    storm_log_write(NULL, STORM_LOG_ERROR, "not logged");
}

static void test_stderr(void)
{
    fflush(stderr);
    FILE *real = stderr, *file = tmpfile();
    CHECK(file != NULL);
    stderr = file;
    storm_log_to_stderr(NULL, STORM_LOG_ERROR, 3, "peer 4 lost");
    storm_log_to_stderr(NULL, STORM_LOG_WARN, 0, "slow network");
    storm_log_to_stderr(NULL, STORM_LOG_INFO, 0, "backend shm");
    stderr = real;
    rewind(file);
    char text[200] = "";
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    CHECK_TEXT(text, "storm: error: rank 3: peer 4 lost\n"
                     "storm: warning: slow network\n"
                     "storm: backend shm\n");
}

int main(void)
{
    test_which_ranks();
    test_long_lines();
    test_shared();
    test_no_sink();
    test_stderr();
    return 0;
}
