/* SPDX-License-Identifier: BSD-3-Clause */
/* Tags: those that a caller gives, and those of new cells (MESH-1). All calls
 * are collective, with the same kind of status on every rank. */
#ifndef STORM_MESH_TAGS_H
#define STORM_MESH_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mesh/mesh_ops.h"

enum { STORM_TAG_BITS = 48 };

/* Does a caller give tags with its n cells? STORM_ERR_ARG, logged: some ranks
 * that have cells do, others do not. */
storm_status storm_tags_are_given(const struct storm_mesh *mesh,
                                  const storm_cell_id *tags, size_t n,
                                  bool *are_given_out);

/* STORM_ERR_ARG, logged: a tag is too large, or two of them, on any ranks, are
 * equal. */
storm_status storm_tags_check(const struct storm_mesh *mesh,
                              const storm_cell_id *tags, size_t n);

/* Raises the next tag, the same on every rank, above all that are given, which
 * are checked. STORM_ERR_ARG, logged: it was too large before. */
storm_status storm_tags_raise(const struct storm_mesh *mesh,
                              const storm_cell_id *tags, size_t n,
                              storm_cell_id *next_tag_inout);

/*
 * Chooses tags for n_new cells of this rank, from *next_tag_inout on in order
 * of ranks. first_out is this rank's first. STORM_ERR_ARG, logged: there are
 * not so many left.
 */
storm_status storm_tags_choose(const struct storm_mesh *mesh, uint64_t n_new,
                               storm_cell_id *next_tag_inout,
                               storm_cell_id *first_out);

/* Where n tags are, on all ranks, of which each has those of `own`, in order
 * of its indices; rank -1: nowhere. Makes a directory for the call. */
storm_status storm_tags_find(const struct storm_context *context,
                             const storm_cell_id *own, size_t n_own,
                             const storm_cell_id *tags, size_t n,
                             struct storm_cell_ref *where_out);

#endif /* STORM_MESH_TAGS_H */
