/* SPDX-License-Identifier: BSD-3-Clause */
/* Events by kind (output.moments: events): of each step and of the run; and how
 * packets have crossed cells, if their transport is accelerated. */
#include <inttypes.h>

#include "base/json.h"
#include "run/run.h"

static bool events_are_wanted(const struct run *run)
{
    return (run_moments(run) & STORM_IMC_EVENTS) != 0;
}

storm_status run_events_add(struct run *run)
{
    if (!events_are_wanted(run))
        return STORM_OK;
    storm_status status = storm_imc_get_events(run->imc, run->events.step);
    for (int k = 0; k < STORM_IMC_N_EVENTS && status == STORM_OK; k++)
        run->events.run[k] += run->events.step[k];
    return status;
}

void run_events_header(const struct run *run, struct storm_page *page)
{
    for (int k = 0; k < STORM_IMC_N_EVENTS && events_are_wanted(run); k++)
        storm_page_add(page, ",events_%s",
                       storm_imc_event_name((storm_imc_event)k));
}

void run_events_row(const struct run *run, struct storm_page *page)
{
    for (int k = 0; k < STORM_IMC_N_EVENTS && events_are_wanted(run); k++)
        storm_page_add(page, "%" PRIu64 ",", run->events.step[k]);
}

void run_events_json(const struct run *run, struct storm_json *json)
{
    if (!events_are_wanted(run))
        return;
    storm_json_open(json, "events", '{');
    for (int k = 0; k < STORM_IMC_N_EVENTS; k++)
        storm_json_uint(json, storm_imc_event_name((storm_imc_event)k),
                        run->events.run[k]);
    storm_json_close(json, '}');
}

/* ---- methods ------------------------------------------------------------- */

static bool methods_are_several(const struct run *run)
{
    return run->problem.random_walk || run->problem.diffusion;
}

storm_status run_methods_gather(struct run *run)
{
    return methods_are_several(run)
               ? storm_imc_shares(run->imc, run->engine, run->shares)
               : STORM_OK;
}

void run_methods_json(const struct run *run, struct storm_json *json)
{
    static const char *const names[STORM_IMC_METHODS] = {
        [STORM_IMC_FLOWN] = "flown",
        [STORM_IMC_WALKED] = "walked",
        [STORM_IMC_DIFFUSED] = "diffused"};
    if (!methods_are_several(run))
        return;
    storm_json_open(json, "methods", '{');
    for (int k = 0; k < STORM_IMC_METHODS; k++) {
        storm_json_open(json, names[k], '{');
        storm_json_real(json, "energy", run->shares[k].energy);
        storm_json_uint(json, "events", run->shares[k].events);
        storm_json_uint(json, "packets", run->shares[k].packets);
        storm_json_close(json, '}');
    }
    storm_json_close(json, '}');
}

void run_methods_table(const struct run *run, struct storm_page *page)
{
    const struct storm_imc_share *s = run->shares;
    if (!methods_are_several(run))
        return;
    storm_page_add(page,
                   "  methods     energy: %.1f %% flown, %.1f %% walked, "
                   "%.1f %% diffused;\n"
                   "              packets at the end: %" PRIu64 " fly, %" PRIu64
                   " diffuse\n",
                   100.0 * s[STORM_IMC_FLOWN].energy,
                   100.0 * s[STORM_IMC_WALKED].energy,
                   100.0 * s[STORM_IMC_DIFFUSED].energy,
                   s[STORM_IMC_FLOWN].packets, s[STORM_IMC_DIFFUSED].packets);
}
