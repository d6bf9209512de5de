/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of formulas of time, where they begin and end: a run evaluates them
 * there, too, but only when it has come so far. */
#include <math.h>
#include <stdio.h>

#include "base/formula.h"
#include "deck/deck.h"

/* Where faults go, as storm_problem_check has it. */
struct formulas {
    const struct storm_deck *deck;
    deck_fault *fault;
    void *self;
};

/* A formula, from when to when it is used, and what its values may be. */
struct formula_use {
    const char *text; /* NULL: none */
    const char *member;
    double from_s, to_s, max;
};

static void formulas_at(const struct formulas *f, const char *path,
                        const struct formula_use *use, double time_s)
{
    const double at[STORM_FORMULA_VARIABLES] = {[STORM_FORMULA_T] = time_s};
    char message[160];
    struct storm_formula *formula =
        storm_formula_make(f->deck->memory, use->text);
    if (formula == NULL)
        return; /* no memory: the run finds it */
    double value = storm_formula_value(formula, at);
    storm_free(f->deck->memory, formula);
    if (value >= 0.0 && value <= use->max)
        return;
    snprintf(message, sizeof message,
             "expected its formula to give a number from 0 to %g, got %g at "
             "time %g s",
             use->max, value, time_s);
    f->fault(f->self, path, use->member, NULL, message);
}

static void formulas_look(const struct formulas *f, const char *path,
                          const struct formula_use *use)
{
    char fault[STORM_FORMULA_FAULT_BYTES];
    double from = fmax(use->from_s, 0.0);
    double to = fmin(use->to_s, f->deck->values.time.stop);
    if (use->text == NULL || !(from < to) ||
        storm_formula_check(use->text, "t", fault) < 0)
        return;
    formulas_at(f, path, use, from);
    if (to < STORM_UNLIMITED)
        formulas_at(f, path, use, to);
}

static void formulas_of_wall(const struct formulas *f, const char *name,
                             size_t w, const struct storm_wall *wall)
{
    for (size_t i = 0; i < wall->n; i++) {
        const struct storm_wall_part *part = &wall->parts[i];
        const struct formula_use use = {part->temperature_formula,
                                        "temperature_formula", part->start_s,
                                        part->stop_s, 1e30};
        char path[64];
        snprintf(path, sizeof path, "%s[%zu].parts[%zu]", name, w, i);
        if (part->kind == STORM_WALL_BLACKBODY)
            formulas_look(f, path, &use);
    }
}

void deck_check_formulas(const struct storm_deck *deck,
                         const struct storm_problem *p, deck_fault *fault,
                         void *self)
{
    const struct formulas f = {deck, fault, self};
    char path[64];
    for (size_t i = 0; i < STORM_N_WALLS; i++)
        formulas_of_wall(&f, "walls", i, &p->walls[i]);
    for (size_t i = 0; i < p->n_boundaries; i++)
        formulas_of_wall(&f, "boundaries", i, &p->boundaries[i]);
    for (size_t i = 0; i < p->n_sources; i++) {
        const struct storm_source *s = &p->sources[i];
        const struct formula_use use = {s->power_formula, "power_formula",
                                        s->start_s, s->stop_s, STORM_UNLIMITED};
        snprintf(path, sizeof path, "sources[%zu]", i);
        formulas_look(&f, path, &use);
    }
    for (size_t i = 0; i < p->n_planes; i++) {
        const struct storm_black_plane *s = &p->planes[i];
        const struct formula_use use = {s->temperature_formula,
                                        "temperature_formula", s->start_s,
                                        s->stop_s, 1e30};
        snprintf(path, sizeof path, "planes[%zu]", i);
        formulas_look(&f, path, &use);
    }
}
