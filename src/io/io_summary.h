/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of summary.json for its writer and its readers. */
#ifndef STORM_IO_SUMMARY_H
#define STORM_IO_SUMMARY_H

/* Keys of `breakdown`: how the time was spent, in order. */
enum { IO_N_TIMES = 6 };
extern const char *const io_time_names[IO_N_TIMES];

#endif /* STORM_IO_SUMMARY_H */
