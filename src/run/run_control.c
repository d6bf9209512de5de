/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lengths of steps by accuracy (time.control: accuracy), storm/imc_steps.h.
 *
 *   ACCURACY-1  The length of the next step is known when a step has ended, and
 *               is part of its checkpoint.
 *   ACCURACY-2  Steps that overshoot are counted, and logged when their number
 *               is 1, 10, 100, ...
 *   ACCURACY-3  Replicas have steps of their own. Their dumps, which means are
 *               made of, are at given times, and numbered by these.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <storm/context.h>

#include "base/json.h"
#include "base/page.h"
#include "run/run.h"

bool run_control_is_on(const struct run *run)
{
    return run->deck->values.time.control == DECK_CONTROL_ACCURACY;
}

const char *run_control_refuses(const struct run *run)
{
    const struct deck_values *v = &run->deck->values;
    if (!run_control_is_on(run))
        return NULL;
    if (v->output.every != 0 || v->time.steps != 0)
        return "with time.control: accuracy each has steps of its own; set "
               "output.every: 0, and time.stop without time.steps, so that all "
               "have dumps at the same times";
    return v->mesh.motion.kind != DECK_MOTION_NONE
               ? "with time.control: accuracy the mesh must not move"
               : NULL;
}

/* Steps whose length is still that of the deck. */
enum { CONTROL_FIRST = 3 };

/* ACCURACY-2. On rank 0. */
static void control_warn(struct run *run, const struct storm_imc_change *change)
{
    const struct deck_time *time = &run->deck->values.time;
    uint64_t n = run->control.n_overshoots;
    while (n % 10 == 0)
        n /= 10;
    if (n != 1)
        return;
    bool is_matter = change->matter >= change->radiation;
    char where[64];
    if (is_matter)
        snprintf(where, sizeof where, "the matter of cell %" PRIu64,
                 (uint64_t)change->cell);
    else
        snprintf(where, sizeof where, "the radiation");
    run_warn(run,
             "step %" PRIu64 " of %.3g s overshoots: it has changed "
             "the energy of %s by %.2g, more than %g times the target "
             "of %g (%" PRIu64 " so far); %s",
             run->step, run->time_s - run->start_s, where,
             fmax(change->matter, change->radiation), time->overshoot,
             time->target, run->control.n_overshoots,
             run->step <= CONTROL_FIRST
                 ? "begin with a shorter time.dt, or lower "
                   "time.growth"
                 : "lower time.target, time.growth or time.dt_max");
}

storm_status run_control_step(struct run *run, double dt_s)
{
    const struct deck_time *time = &run->deck->values.time;
    struct run_control *c = &run->control;
    if (!run_control_is_on(run))
        return STORM_OK;
    const struct storm_imc_control control = {
        .size = sizeof control,
        .target = time->target,
        .overshoot = time->overshoot,
        .floor = time->floor,
        .growth = time->growth,
        .shrink = time->shrink,
        .min_s = time->dt_min,
        .max_s = time->dt_max,
        .planned_s = run->nominal_s,
    };
    struct storm_imc_change change = STORM_IMC_CHANGE_INIT;
    storm_status status =
        storm_imc_next_step(run->imc, run->engine, &control, &change);
    if (status < 0)
        return status;
    double largest = fmax(change.matter, change.radiation);
    run->nominal_s = change.next_s; /* ACCURACY-1 */
    c->matter = change.matter;
    c->radiation = change.radiation;
    c->overshoots = change.overshoots;
    c->n_overshoots += change.overshoots;
    c->shortest_s = c->n_steps == 0 ? dt_s : fmin(c->shortest_s, dt_s);
    c->longest_s = fmax(c->longest_s, dt_s);
    c->n_steps++;
    if (largest > c->worst) {
        c->worst = largest;
        c->worst_step = run->step;
    }
    if (change.overshoots && storm_context_rank(run->context) == 0)
        control_warn(run, &change);
    return STORM_OK;
}

void run_control_json(const struct run *run, struct storm_json *json)
{
    const struct run_control *c = &run->control;
    if (c->n_steps == 0)
        return;
    storm_json_open(json, "time_control", '{');
    storm_json_real(json, "target", run->deck->values.time.target);
    storm_json_uint(json, "steps", c->n_steps);
    storm_json_uint(json, "overshoots", c->n_overshoots);
    storm_json_real(json, "largest_change", c->worst);
    storm_json_uint(json, "largest_change_step", c->worst_step);
    storm_json_real(json, "shortest_step", c->shortest_s);
    storm_json_real(json, "longest_step", c->longest_s);
    storm_json_close(json, '}');
}

void run_control_table(const struct run *run, struct storm_page *page)
{
    const struct run_control *c = &run->control;
    if (c->n_steps > 0)
        storm_page_add(page,
                       "  steps       %.3g to %.3g s by accuracy, %" PRIu64
                       " overshoot, largest change %.2g\n",
                       c->shortest_s, c->longest_s, c->n_overshoots, c->worst);
}
