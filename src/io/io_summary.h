/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of summary.json that those who write it and those who read it share. */
#ifndef STORM_IO_SUMMARY_H
#define STORM_IO_SUMMARY_H

/* Where the time went: of `breakdown`, in order. */
enum { IO_N_TIMES = 6 };
extern const char *const io_time_names[IO_N_TIMES];

#endif /* STORM_IO_SUMMARY_H */
