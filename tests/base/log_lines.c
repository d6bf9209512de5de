/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* Messages: which are handed on, and what long ones become. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "support/check.h"

struct heard {
    int n, rank;
    storm_log_level level;
    char line[2048];
};

static void hear(void *self, storm_log_level level, int rank,
                 const char *message)
{
    struct heard *heard = self;
    heard->n++;
    heard->rank = rank;
    heard->level = level;
    snprintf(heard->line, sizeof heard->line, "%s", message);
}

static void test_who_speaks(void)
{
    const storm_log_level levels[] = {STORM_LOG_ERROR, STORM_LOG_WARN,
                                      STORM_LOG_INFO, STORM_LOG_DEBUG};
    for (int rank = 0; rank < 3; rank++) {
        for (int limit = 0; limit < 4; limit++) {
            for (int level = 0; level < 4; level++) {
                struct heard heard = {.n = 0};
                struct storm_log log = {hear, &heard, levels[limit], rank};
                storm_log_write(&log, levels[level], "peer %d lost", 4);
                int wanted = level <= limit && (rank == 0 || level == 0);
                CHECK_EQ(heard.n, wanted);
                if (wanted) {
                    CHECK_EQ(heard.rank, rank);
                    CHECK(heard.level == levels[level]);
                    CHECK_TEXT(heard.line, "peer 4 lost");
                }
            }
        }
    }
}

static void test_long_lines(void)
{
    struct heard heard = {.n = 0};
    struct storm_log log = {hear, &heard, STORM_LOG_INFO, 0};
    char lengthy[3000];
    memset(lengthy, 'a', sizeof lengthy);
    lengthy[2999] = '\0';
    storm_log_write(&log, STORM_LOG_INFO, "%s", lengthy);
    CHECK_EQ(strlen(heard.line), 1023);
    CHECK_TEXT(heard.line + 1018, "aa...");
    lengthy[1023] = '\0';
    storm_log_write(&log, STORM_LOG_INFO, "%s", lengthy);
    CHECK_TEXT(heard.line, lengthy);
}

static void test_nobody_listens(void)
{
    struct storm_log log = {NULL, NULL, STORM_LOG_DEBUG, 0};
    storm_log_write(&log, STORM_LOG_ERROR, "unheard");
    storm_log_write(NULL, STORM_LOG_ERROR, "unheard");
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
    test_who_speaks();
    test_long_lines();
    test_nobody_listens();
    test_stderr();
    return 0;
}
