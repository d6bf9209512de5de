/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_summary.h"

const char *const output_time_names[OUTPUT_N_TIMES] = {
    "physics", "progress", "send_recv", "termination", "growth", "idle"};
