/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends of steps. */
#include "run/run.h"

/* A step that would end this close to a target, relative to its length, ends
 * at the target. */
static const double run_slack = 1e-9;

struct run_target run_next(struct run *run)
{
    const struct deck_time *time = &run->deck->values.time;
    double now = run->time_s;
    double dt = run->nominal_s < time->dt_max ? run->nominal_s : time->dt_max;
    run->nominal_s = dt * time->growth; /* RUN-1 */

    while (run->i_time < run->n_times && !(run->times[run->i_time] > now))
        run->i_time++;
    struct run_target target = {.end_s = now + dt, .dt_s = dt};
    double goal = time->stop;
    bool is_dump = run->i_time < run->n_times && run->times[run->i_time] < goal;
    if (is_dump)
        goal = run->times[run->i_time];
    if (!(now + dt < goal - run_slack * dt)) {
        target.end_s = goal;
        target.dt_s = goal - now;
        target.dump = is_dump;
        target.last = !is_dump;
    }
    if (time->steps > 0 && run->step + 1 >= (uint64_t)time->steps)
        target.last = true;
    return target;
}

uint64_t run_last_step(const struct run *run)
{
    enum { MAX_STEPS = 10000000 };
    struct run ahead = *run;
    for (bool last = false; !last && ahead.step < run->step + MAX_STEPS;) {
        struct run_target target = run_next(&ahead);
        ahead.time_s = target.end_s;
        ahead.step++;
        last = target.last;
    }
    return ahead.step;
}
