/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A physics for tests: packets that hop from rank to rank at random and now
 * and then spawn a child. Where a packet goes and what it spawns is a function
 * of its id and hop alone, so the sum of all visits is known beforehand.
 */
#ifndef TESTS_ENGINE_WALK_H
#define TESTS_ENGINE_WALK_H

#include <stdint.h>

#include <storm/engine.h>

#include "base/hash.h"

struct walker {
    uint64_t id;
    uint64_t hop;
    uint64_t depth;
    uint64_t pad[3];
};

struct walk {
    int size;
    uint64_t hops;      /* of every walker */
    uint64_t max_depth; /* generations of children */
    uint64_t sum;       /* over all visits here, order-free */
    uint64_t n_ended;
};

static inline uint64_t walk_visit(const struct walker *w)
{
    return storm_hash_fold(storm_hash_word(w->id), w->hop);
}

static inline void walk_child(const struct walker *w, struct walker *child)
{
    *child = (struct walker){.id = storm_hash_fold(w->id, 77 + w->hop),
                             .depth = w->depth + 1};
}

static inline int walk_spawns(const struct walk *walk, const struct walker *w)
{
    return w->depth < walk->max_depth && walk_visit(w) % 5 == 0;
}

static inline void walk_step(void *self, struct storm_step *step, void *packet,
                             struct storm_outcome *outcome)
{
    struct walk *walk = self;
    struct walker *w = packet;
    if (w->hop >= walk->hops) { /* has waited at census for a step */
        outcome->fate = STORM_FATE_ABSORBED;
        return;
    }
    uint64_t visit = walk_visit(w);
    walk->sum += visit;
    if (walk_spawns(walk, w)) {
        struct walker child;
        walk_child(w, &child);
        (void)storm_step_spawn(step, &child);
    }
    outcome->events = 1;
    if (++w->hop >= walk->hops) {
        walk->n_ended++;
        outcome->fate = visit % 3 ? STORM_FATE_ABSORBED : STORM_FATE_CENSUS;
        return;
    }
    outcome->fate = STORM_FATE_SEND;
    outcome->rank = (int)((visit >> 8) % (uint64_t)walk->size);
}

/* What one walker and its children add up to. */
static inline void walk_expect(struct walk *walk, struct walker w)
{
    for (; w.hop < walk->hops; w.hop++) {
        walk->sum += walk_visit(&w);
        if (walk_spawns(walk, &w)) {
            struct walker child;
            walk_child(&w, &child);
            walk_expect(walk, child);
        }
    }
    walk->n_ended++;
}

#endif /* TESTS_ENGINE_WALK_H */
