/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/*
 * The list of kinds of meshes: the deck knows each word, a kind has kernels if
 * it is in this build, and tables of meshes carry the word of their row.
 */
#include <stdio.h>
#include <string.h>

#include <storm/mesh.h>

#include <storm_meshes.h>

#include "mesh/mesh_ops.h"
#include "physics/track.h"
#include "support/check.h"

/* Decks give meshes as files, hosts as arrays. */
static const char *word_of(const char *name)
{
    return strcmp(name, "given") == 0 ? "file" : name;
}

static bool has_kernels(const char *name)
{
    for (size_t i = 0; storm_track_list[i] != NULL; i++)
        if (strcmp(word_of(storm_track_list[i]->mesh->name), name) == 0)
            return true;
    return false;
}

int main(void)
{
    const char *name;
    size_t n = 0, n_kernels = 0, n_built = 0;
    char words[256] = "";
    for (; (name = storm_mesh_kind_name(n)) != NULL; n++) {
        check_where("kind %s", name);
        CHECK_EQ(has_kernels(name), storm_mesh_kind_built(n));
        n_built += storm_mesh_kind_built(n);
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s",
                 n > 0 ? "|" : "", name);
    }
    CHECK_EQ(n, STORM_N_MESH_KINDS);
    CHECK(strcmp(words, STORM_MESH_WORDS) == 0);
    CHECK(!storm_mesh_kind_built(n));
    while (storm_track_list[n_kernels] != NULL)
        n_kernels++;
    CHECK_EQ(n_kernels, n_built);
    CHECK(strcmp(storm_mesh_kind_name(STORM_MESH_VORONOI), "voronoi") == 0);
    return CHECK_PASS;
}
