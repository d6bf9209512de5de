/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_summary.h"

const char *const io_time_names[IO_N_TIMES] = {
    "physics", "progress", "send_recv", "termination", "growth", "idle"};
