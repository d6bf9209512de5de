/* SPDX-License-Identifier: BSD-3-Clause */
/* Events by kind (output.moments: events): of each step and of the run. */
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
