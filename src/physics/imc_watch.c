/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/imc_watch.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/engine_report.h"
#include "physics/imc.h"

static const char watch_label[] = "imc";

/* Of processor time in one step before its rank reports: one that waits for a
 * core of a busy machine is not slow. */
static const double watch_patience_s = 5.0;
static const double watch_min_share = 0.5;
static const double watch_min_collisions = 1e4; /* of a packet in a step */
enum { WATCH_MIN_SAMPLES = 1000 };

static size_t watch_places(const struct storm_imc *imc)
{
    return (imc->problem->n_materials + 1) * (size_t)imc->problem->n_groups;
}

storm_status imc_watch_open(struct imc_watch *watch,
                            const struct storm_imc *imc)
{
    watch->imc = imc;
    watch->places = storm_alloc(imc->env->memory, watch_label,
                                watch_places(imc) * sizeof *watch->places);
    return watch->places != NULL ? STORM_OK : STORM_ERR_NOMEM;
}

void imc_watch_close(struct imc_watch *watch)
{
    if (watch->imc != NULL)
        storm_free(watch->imc->env->memory, watch->places);
}

void imc_watch_begin(struct imc_watch *watch, struct storm_step *step)
{
    const struct storm_imc *imc = watch->imc;
    memset(watch->places, 0, watch_places(imc) * sizeof *watch->places);
    watch->n = 0;
    watch->step = step;
    watch->sending = false; /* from here on the engine polls */
    watch->begin_s = storm_clock_cpu_seconds();
}

void imc_watch_add(struct imc_watch *watch, storm_cell_idx cell, int group)
{
    const struct storm_imc *imc = watch->imc;
    int m = imc->material[cell];
    if (m < 0)
        return;
    struct imc_watch_place *place =
        &watch->places[(size_t)m * (size_t)imc->problem->n_groups +
                       (size_t)group];
    place->n++;
    place->cell = cell;
    watch->n++;
}

/* Between two collisions in that cell, in this step. */
static double watch_free_path(const struct storm_imc *imc, storm_cell_idx cell,
                              size_t group)
{
    size_t n = (size_t)imc->problem->n_groups;
    const struct imc_cell *c = &imc->track.cells[cell];
    if (n == 1)
        return 1.0 / (c->absorb + c->scatter);
    const struct imc_opacity *o = &imc->opacity[(size_t)cell * n + group];
    return 1.0 / (o->absorb + o->scatter);
}

static void watch_write(struct imc_watch *watch, size_t top, double seconds,
                        double free_path_cm)
{
    const struct storm_imc *imc = watch->imc;
    size_t n_groups = (size_t)imc->problem->n_groups;
    size_t m = top / n_groups, group = top % n_groups;
    const char *name =
        m < imc->problem->n_materials ? imc->problem->materials[m].name : NULL;
    char unnamed[32];
    snprintf(unnamed, sizeof unnamed, "%zu", m);
    snprintf(
        watch->line, sizeof watch->line,
        "step %llu is slow: after %.0f s on rank %d, %.0f %% of events are in "
        "material %s, group %zu, where packets collide every %.1e cm; what "
        "helps: a lower max of its opacity%s, or shorter steps (time.dt)",
        (unsigned long long)storm_step_number(watch->step), seconds,
        imc->env->rank, 100.0 * (double)watch->places[top].n / (double)watch->n,
        name != NULL ? name : unnamed, group, free_path_cm,
        imc->problem->diffusion ? "" : ", acceleration.method: auto");
}

static void watch_send(struct imc_watch *watch)
{
    watch->sending = storm_step_report(watch->step, watch->line) == STORM_AGAIN;
}

void imc_watch_look(struct imc_watch *watch)
{
    if (watch->sending)
        watch_send(watch);
    if (watch->reported || watch->n < WATCH_MIN_SAMPLES)
        return;
    double seconds = storm_clock_cpu_seconds() - watch->begin_s;
    if (seconds < watch_patience_s)
        return;
    size_t top = 0;
    for (size_t i = 1; i < watch_places(watch->imc); i++)
        if (watch->places[i].n > watch->places[top].n)
            top = i;
    if ((double)watch->places[top].n < watch_min_share * (double)watch->n)
        return;
    const struct storm_imc *imc = watch->imc;
    double path = watch_free_path(imc, watch->places[top].cell,
                                  top % (size_t)imc->problem->n_groups);
    double length = imc->track.light_cm_s * imc->dt_s;
    if (!(length >= watch_min_collisions * path))
        return;
    watch->reported = true;
    watch_write(watch, top, seconds, path);
    watch_send(watch);
}
