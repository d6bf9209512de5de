/* SPDX-License-Identifier: BSD-3-Clause */
/* Walls and sources of the host, within implicit Monte Carlo. */
#ifndef STORM_PHYSICS_IMC_USER_H
#define STORM_PHYSICS_IMC_USER_H

#include <stdbool.h>

#include <storm/imc_user.h>

struct storm_imc;

struct imc_user {
    struct storm_imc *imc;
    struct storm_imc_walls walls;   /* apply is NULL: not set */
    struct storm_imc_source source; /* emit is NULL: none */
    uint64_t step;                  /* number */
    double largest_erg;  /* weight of a packet that begins it, on this rank */
    storm_status status; /* of this step's answers; post_step returns it */
};

/* A packet that has been moved and looks for its cell: its tag. cell_idx is
 * where it continues to look, or this index. */
#define IMC_SEEKING UINT64_MAX
enum { IMC_SEEK_ANYWHERE = INT32_MAX };

/* Does the problem have a wall of the host? */
bool imc_user_has_walls(const struct storm_imc *imc);

/*
 * Asks the host about a packet in its own coordinates, on a wall, and books
 * what changes. What is wrong is logged, noted for imc_user_end, and taken.
 * MOVE: where its cell is, or where to look for it (idx -1).
 */
storm_wall_answer imc_user_ask(struct imc_user *user, int wall,
                               struct storm_packet *packet,
                               struct storm_cell_ref *to_out);

/* A batch in which packets may look for their cells. */
void imc_user_batch(struct imc_user *user, void *const *packets, size_t n,
                    struct storm_outcome *outcomes_out);

/* The packets of the source; *largest_inout is the largest weight so far, and
 * what walls may give. Collective if there is a source. */
storm_status imc_user_birth(struct imc_user *user, struct storm_step *step,
                            double *largest_inout);

/* In post_step: was there a wrong answer, or is the bound of walls too high?
 * Collective if there are walls. */
storm_status imc_user_end(struct imc_user *user);

#endif /* STORM_PHYSICS_IMC_USER_H */
