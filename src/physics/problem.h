/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A copy of the caller's problem with all it points to, elements of arrays read
 * by the size that the caller gave them (SIZED-1, SIZED-2).
 */
#ifndef STORM_PHYSICS_PROBLEM_H
#define STORM_PHYSICS_PROBLEM_H

#include <storm/packet.h>
#include <storm/problem.h>

#include "base/env.h"

/* Walls of the box, or boundaries by number. */
static inline size_t problem_n_walls(const struct storm_problem *p)
{
    return p->n_boundaries > 0 ? p->n_boundaries : STORM_N_WALLS;
}

/* One of them; NULL: there is none of this number, which is vacuum. */
static inline const struct storm_wall *
problem_wall(const struct storm_problem *p, size_t wall)
{
    if (wall >= problem_n_walls(p))
        return NULL;
    return p->n_boundaries > 0 ? &p->boundaries[wall] : &p->walls[wall];
}

/* May scattering change the energies of photons? Of a copy. */
static inline bool problem_is_inelastic(const struct storm_problem *p)
{
    bool found = false;
    for (size_t i = 0; i < p->n_materials; i++)
        found =
            found || p->materials[i].scattering_law >= STORM_SCATTER_COMPTON;
    return found;
}

/* Do packets have them? The same. */
static inline bool problem_has_photons(const struct storm_problem *p)
{
    return (p->motion && p->n_groups > 1) || problem_is_inelastic(p);
}

static inline size_t problem_record_bytes(const struct storm_problem *p)
{
    return problem_has_photons(p) ? sizeof(struct storm_photon)
                                  : sizeof(struct storm_packet);
}

/*
 * Copies. Local. Free it also after an error, if it was all zero before.
 *
 * STORM_ERR_ARG    a size was not set (logged by rank 0)
 * STORM_ERR_NOSUP  something is set that this library lacks (logged by rank 0)
 * STORM_ERR_NOMEM
 */
storm_status problem_copy(const struct storm_env *env,
                          const struct storm_problem *from,
                          struct storm_problem *to);
/* Parts of a problem that are compared between ranks. */
enum problem_part {
    PROBLEM_BOX, /* and constants */
    PROBLEM_MATERIALS,
    PROBLEM_REGIONS,
    PROBLEM_WALLS,
    PROBLEM_SOURCES,
    PROBLEM_PACKETS, /* groups, numbers of packets, seed */
    PROBLEM_N_PARTS
};

/* A hash of each part of a copy: of all that results depend on, not of what is
 * ignored, which may be anything. */
void problem_hash(const struct storm_problem *problem,
                  uint64_t hash_out[PROBLEM_N_PARTS]);

void problem_free(const struct storm_env *env, struct storm_problem *problem);

#endif /* STORM_PHYSICS_PROBLEM_H */
