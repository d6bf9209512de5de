/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* PACE-1, PACE-2: due by calls where they are quick, by time where not. */
#include "base/pace.h"
#include "support/check.h"

static void work(double seconds)
{
    double until = storm_clock_seconds() + seconds;
    while (storm_clock_seconds() < until)
        continue;
}

int main(void)
{
    struct storm_pace slow, quick;
    storm_pace_begin(&slow, 1000, 1e-3);
    storm_pace_begin(&quick, 10, 1000);
    CHECK(storm_pace_due(&slow) && storm_pace_counts(&quick));
    work(0.15); /* ticks are measured */
    CHECK(storm_pace_due(&slow) && !storm_pace_counts(&quick));
    storm_pace_hurry(&quick);
    CHECK(storm_pace_due(&quick) && quick.measured && slow.measured);

    uint64_t due = 0;
    for (int i = 0; i < 1000; i++)
        due += storm_pace_counts(&quick);
    CHECK_EQ(due, 100);
    for (int i = 0; i < 1000; i++)
        due += storm_pace_due(&quick);
    CHECK_EQ(due, 200);

    for (int i = 0; i < 20; i++) { /* 19 would take 1000 calls each */
        work(2e-3);
        CHECK(storm_pace_due(&slow));
    }
    return CHECK_PASS;
}
