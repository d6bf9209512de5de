/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends of steps, and of the time there is. */
#include "run/run.h"

#include <math.h>

#include <storm/context.h>

#include "base/clock.h"

/* A step that would end this close to a target, relative to its length, ends
 * at the target. */
static const double run_slack = 1e-9;

struct run_target run_next(struct run *run)
{
    const struct deck_time *time = &run->deck->values.time;
    double now = run->time_s;
    double dt = run->nominal_s < time->dt_max ? run->nominal_s : time->dt_max;
    run->nominal_s = dt; /* DECKRUN-1 */
    if (!run_control_is_on(run))
        run->nominal_s *= time->growth;

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

uint64_t run_dump_number(const struct run *run)
{
    const double stop = run->deck->values.time.stop;
    uint64_t n = 0;
    if (run->job.n == 0 || !run_control_is_on(run))
        return run->step;
    while (n < run->n_times && run->times[n] < stop &&
           !(run->times[n] > run->time_s))
        n++;
    return run->time_s < stop ? n : n + 1;
}

double run_fraction(const struct run *run)
{
    const struct deck_time *time = &run->deck->values.time;
    double done = (double)run->step / (double)run->last_step;
    if (run_control_is_on(run) && time->stop < STORM_UNLIMITED)
        done = fmax(done, run->time_s / time->stop);
    return fmin(done, 1.0);
}

uint64_t run_last_step(const struct run *run)
{
    enum { MAX_STEPS = 10000000 };
    const uint64_t steps = (uint64_t)run->deck->values.time.steps;
    struct run ahead = *run;
    if (run_control_is_on(run))
        return steps > 0 ? steps : UINT64_MAX;
    for (bool last = false; !last && ahead.step < run->step + MAX_STEPS;) {
        struct run_target target = run_next(&ahead);
        ahead.time_s = target.end_s;
        ahead.step++;
        last = target.last;
    }
    return ahead.step;
}

/* ---- stopping ------------------------------------------------------------ */

/* The next step may take longer than the last ones did, and the disk be slower;
 * what ends the job leaves no second chance. */
static const double run_cycle_margin = 1.5, run_checkpoint_margin = 2.0;
static const double run_margin_s = 1.0;

/* Old steps are forgotten slowly: output is not written in every one. */
static const double run_cycle_decay = 0.9;

/* Would another step, with a checkpoint after it, end too late? */
static bool run_time_is_up(struct run *run)
{
    double now = storm_clock_seconds();
    run->cycle_s =
        fmax(run->cycle_s * run_cycle_decay, now - run->cycle_from_s);
    run->cycle_from_s = now;
    double need = run_cycle_margin * run->cycle_s +
                  run_checkpoint_margin * run_checkpoint_s(run) + run_margin_s;
    return run->deadline_s > 0.0 && now + need > run->deadline_s;
}

enum run_stop run_wants_stop(struct run *run)
{
    bool is_up = storm_context_rank(run->context) == 0 && run_time_is_up(run);
    if (run->stop != NULL && run->stop(run->stop_self))
        return RUN_REQUEST;
    return is_up ? RUN_TIME_LIMIT : RUN_GOES_ON;
}
