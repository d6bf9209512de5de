/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* Messages: which are handed on, and what long ones become. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"

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

static void test_who_speaks(void **state)
{
    (void)state;
    const storm_log_level levels[] = {STORM_LOG_ERROR, STORM_LOG_WARN,
                                      STORM_LOG_INFO, STORM_LOG_DEBUG};
    for (int rank = 0; rank < 3; rank++) {
        for (int limit = 0; limit < 4; limit++) {
            for (int level = 0; level < 4; level++) {
                struct heard heard = {.n = 0};
                struct storm_log log = {hear, &heard, levels[limit], rank};
                storm_log_write(&log, levels[level], "peer %d lost", 4);
                int wanted = level <= limit && (rank == 0 || level == 0);
                assert_int_equal(heard.n, wanted);
                if (wanted) {
                    assert_int_equal(heard.rank, rank);
                    assert_true(heard.level == levels[level]);
                    assert_string_equal(heard.line, "peer 4 lost");
                }
            }
        }
    }
}

static void test_long_lines(void **state)
{
    (void)state;
    struct heard heard = {.n = 0};
    struct storm_log log = {hear, &heard, STORM_LOG_INFO, 0};
    char lengthy[3000];
    memset(lengthy, 'a', sizeof lengthy);
    lengthy[2999] = '\0';
    storm_log_write(&log, STORM_LOG_INFO, "%s", lengthy);
    assert_int_equal(strlen(heard.line), 1023);
    assert_string_equal(heard.line + 1018, "aa...");
    lengthy[1023] = '\0';
    storm_log_write(&log, STORM_LOG_INFO, "%s", lengthy);
    assert_string_equal(heard.line, lengthy);
}

static void test_nobody_listens(void **state)
{
    (void)state;
    struct storm_log log = {NULL, NULL, STORM_LOG_DEBUG, 0};
    storm_log_write(&log, STORM_LOG_ERROR, "unheard");
    storm_log_write(NULL, STORM_LOG_ERROR, "unheard");
}

static void test_stderr(void **state)
{
    (void)state;
    fflush(stderr);
    FILE *real = stderr, *file = tmpfile();
    assert_non_null(file);
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
    assert_string_equal(text, "storm: error: rank 3: peer 4 lost\n"
                              "storm: warning: slow network\n"
                              "storm: backend shm\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_speaks),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_stderr),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
