/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What launcher and ranks print, on its way to our own outputs.
 *
 *   RELAY-1  Every byte is passed on at once, in the order of its stream.
 *   RELAY-2  A write to standard output that fails is remembered: launchers
 *            ignore it, and a summary would be lost in silence. A reader that
 *            has gone is no failure.
 *   RELAY-3  Text that follows a bar replaces it: a rank that is killed leaves
 *            its bar behind.
 *   RELAY-4  Processes that outlive the launcher are not waited for.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

enum { RELAY_PIECE = 4096 };

static const char relay_clear[] = "\r\033[K", relay_escape[] = "\033[K";
static const char relay_error[] = "storm: error:";

/* ---- passing on ---------------------------------------------------------- */

static void relay_write(struct tool_relay *relay, int stream, const char *bytes,
                        size_t n)
{
    while (n > 0) {
        ssize_t done = write(stream, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0 && errno == EAGAIN) { /* a parent made it non-blocking */
            struct pollfd ready = {.fd = stream, .events = POLLOUT};
            (void)poll(&ready, 1, -1);
            continue;
        }
        if (done <= 0) { /* RELAY-2 */
            if (stream == STDOUT_FILENO && errno != EPIPE)
                relay->error = errno;
            return;
        }
        bytes += done;
        n -= (size_t)done;
    }
}

/* Follows standard error: is there a bar in this line, was there an error? A
 * bar ends with the escape sequence, and something is before it in its line. */
static void relay_look(struct tool_relay *relay, char byte)
{
    bool line = byte == '\r' || byte == '\n';
    relay->n_escape = byte == relay_escape[relay->n_escape]
                          ? relay->n_escape + 1
                          : byte == relay_escape[0];
    relay->column = line ? 0 : relay->column + (relay->n_escape == 0);
    relay->has_bar = relay_escape[relay->n_escape] == '\0' && relay->column > 0;
    if (relay_escape[relay->n_escape] == '\0')
        relay->n_escape = 0;
    relay->n_error = byte == relay_error[relay->n_error]
                         ? relay->n_error + 1
                         : byte == relay_error[0];
    if (relay_error[relay->n_error] != '\0')
        return;
    relay->reported = true;
    relay->n_error = 0;
}

/* Standard error. RELAY-3 */
static void relay_messages(struct tool_relay *relay, const char *bytes,
                           size_t n)
{
    size_t from = 0;
    for (size_t i = 0; i < n; i++) {
        if (relay->has_bar && bytes[i] != '\r') {
            relay_write(relay, STDERR_FILENO, bytes + from, i - from);
            relay_write(relay, STDERR_FILENO, relay_clear,
                        sizeof relay_clear - 1);
            relay->column = 0;
            from = i;
        }
        relay_look(relay, bytes[i]);
    }
    relay_write(relay, STDERR_FILENO, bytes + from, n - from);
}

/* What has come on one pipe; false at its end. */
static bool relay_take(struct tool_relay *relay, int i_pipe)
{
    char piece[RELAY_PIECE];
    ssize_t n = read(relay->from[i_pipe], piece, sizeof piece);
    if (n < 0 && errno == EINTR)
        return true;
    if (n <= 0) {
        close(relay->from[i_pipe]);
        relay->from[i_pipe] = -1;
        return false;
    }
    if (i_pipe == 0)
        relay_write(relay, STDOUT_FILENO, piece, (size_t)n);
    else
        relay_messages(relay, piece, (size_t)n);
    return true;
}

bool tool_relay_pass(struct tool_relay *relay, int limit_ms)
{
    struct pollfd wait[2] = {{.fd = relay->from[0], .events = POLLIN},
                             {.fd = relay->from[1], .events = POLLIN}};
    bool any = false;
    if (poll(wait, 2, limit_ms) <= 0) /* both ended: it is a pause */
        return false;
    for (int i = 0; i < 2; i++)
        if (wait[i].revents != 0)
            any = relay_take(relay, i) || any;
    return any;
}

/* ---- from outside -------------------------------------------------------- */

bool tool_relay_open(struct tool_relay *relay)
{
    int pipes[2][2];
    *relay = (struct tool_relay){.error = 0};
    if (pipe2(pipes[0], O_CLOEXEC) != 0)
        return false;
    if (pipe2(pipes[1], O_CLOEXEC) != 0) {
        close(pipes[0][0]);
        close(pipes[0][1]);
        return false;
    }
    for (int i = 0; i < 2; i++) {
        relay->from[i] = pipes[i][0];
        relay->to[i] = pipes[i][1];
    }
    return true;
}

void tool_relay_child(const struct tool_relay *relay)
{
    (void)dup2(relay->to[0], STDOUT_FILENO);
    (void)dup2(relay->to[1], STDERR_FILENO);
}

void tool_relay_parent(const struct tool_relay *relay)
{
    for (int i = 0; i < 2; i++)
        close(relay->to[i]);
}

void tool_relay_close(struct tool_relay *relay)
{
    while (tool_relay_pass(relay, 0)) /* RELAY-4 */
        ;
    if (relay->has_bar)
        relay_write(relay, STDERR_FILENO, relay_clear, sizeof relay_clear - 1);
    for (int i = 0; i < 2; i++)
        if (relay->from[i] >= 0)
            close(relay->from[i]);
}
