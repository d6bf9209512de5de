/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3 5; timeout: 60 */
/*
 * CHANGE-1, CHANGE-3: rows of any size follow their cells through random cuts
 * of Cartesian meshes; `to` and `from` are inverse to each other over all
 * ranks; weights of other cuts follow, too; a change of another generation
 * or another mesh is refused. Also with ranks without cells, and a cut that
 * changes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>

#include "support/cuts.h"
#include "support/dice.h"

enum { N_CUTS = 12, MAX_BYTES = 41 };

struct world {
    struct storm_context *context;
    struct storm_mesh *mesh;
    int rank, size;
    int n_errors;
};

/* Byte k of the row of a cell: a function of its tag. */
static unsigned char row_byte(storm_cell_id tag, size_t k)
{
    return (unsigned char)(dice_mix(tag * MAX_BYTES + k) >> 7);
}

static unsigned char *rows_make(const struct storm_mesh *mesh, size_t bytes)
{
    size_t n = (size_t)storm_mesh_n_cells(mesh);
    unsigned char *rows = malloc(n * bytes + 1);
    CHECK(rows != NULL);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < bytes; k++)
            rows[i * bytes + k] =
                row_byte(storm_mesh_cell_id(mesh, (storm_cell_idx)i), k);
    return rows;
}

/* The rows, and a guard behind them. */
static void check_carry(const struct storm_mesh *mesh,
                        const struct storm_change *change, size_t bytes,
                        const unsigned char *in)
{
    size_t n = (size_t)storm_mesh_n_cells(mesh) * bytes;
    unsigned char *right = rows_make(mesh, bytes), *out = malloc(n + 1);
    CHECK(out != NULL);
    memset(out, 0x5a, n + 1);
    CHECK_OK(storm_mesh_carry(mesh, change, bytes, in, out));
    CHECK(memcmp(out, right, n) == 0);
    CHECK_EQ(out[n], 0x5a);
    free(out);
    free(right);
}

/* CHANGE-1: what `from` says is carried to where it was and compared there with
 * what `to` says, and the other way round. */
static void check_inverse(const struct world *w,
                          const struct storm_change *change)
{
    size_t n_old = (size_t)storm_change_n_old(change);
    size_t n_new = (size_t)storm_mesh_n_cells(w->mesh);
    struct storm_cell_ref *was = malloc((n_old + 1) * sizeof *was);
    struct storm_cell_ref *now = malloc((n_new + 1) * sizeof *now);
    struct storm_cell_ref *to = malloc((n_old + 1) * sizeof *to);
    CHECK(was != NULL && now != NULL && to != NULL);
    for (size_t i = 0; i < n_old; i++) {
        was[i] = (struct storm_cell_ref){w->rank, (storm_cell_idx)i};
        CHECK_EQ(storm_change_to(change, (storm_cell_idx)i, &to[i]),
                 STORM_CELL_KEPT);
        CHECK(to[i].rank >= 0 && to[i].rank < w->size && to[i].idx >= 0);
    }
    CHECK_OK(storm_mesh_carry(w->mesh, change, sizeof *was, was, now));
    for (size_t i = 0; i < n_new; i++) {
        struct storm_cell_ref from;
        CHECK(storm_change_from(change, (storm_cell_idx)i, &from));
        CHECK(memcmp(&from, &now[i], sizeof from) == 0);
    }
    CHECK_OK(storm_mesh_carry(w->mesh, change, sizeof *to, to, now));
    for (size_t i = 0; i < n_new; i++)
        CHECK(now[i].rank == w->rank && now[i].idx == (storm_cell_idx)i);
    free(to);
    free(now);
    free(was);
}

/* Weights by tag. Of some cuts most are zero: ranks get no cells. */
static void fill(struct storm_cut *cut, const struct storm_mesh *mesh,
                 uint64_t seed)
{
    size_t n = (size_t)storm_mesh_n_cells(mesh);
    uint64_t *weight = malloc((n + 1) * sizeof *weight);
    CHECK(weight != NULL);
    for (size_t i = 0; i < n; i++) {
        storm_cell_id tag = storm_mesh_cell_id(mesh, (storm_cell_idx)i);
        weight[i] = dice_mix(tag ^ seed << 32) % 100;
        if (seed % 3 == 2)
            weight[i] = tag == seed;
    }
    storm_cut_set(cut, weight);
    free(weight);
}

/* Weights of all cells in order of tags, by another cut of the mesh alone: what
 * it does must depend on them only. */
static double imbalance_then(struct storm_cut *cut)
{
    double now, then;
    CHECK_OK(storm_cut_imbalance(cut, &now, &then));
    CHECK(now >= 1.0 && then >= 1.0);
    return then;
}

static void check_cut(const struct world *w, struct storm_cut *cut,
                      struct storm_cut *other, uint64_t seed)
{
    static const size_t sizes[] = {1, 3, 7, 8, 9, 16, 24, MAX_BYTES};
    unsigned char *in[sizeof sizes / sizeof sizes[0]];
    struct storm_change *change;
    double before = imbalance_then(other);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        in[k] = rows_make(w->mesh, sizes[k]);
    fill(cut, w->mesh, seed);
    storm_cell_idx n_old = storm_mesh_n_cells(w->mesh);
    CHECK_OK(storm_mesh_use(w->mesh, cut, &change));
    CHECK_EQ(storm_change_n_old(change), n_old);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        check_carry(w->mesh, change, sizes[k], in[k]);
        free(in[k]);
    }
    check_inverse(w, change);
    CHECK(imbalance_then(other) == before);
    storm_change_destroy(change);
}

/* The same cut again: nothing changes, and the change says so. */
static void check_none(const struct world *w, struct storm_cut *cut)
{
    struct storm_change *change;
    uint64_t generation = storm_mesh_generation(w->mesh);
    unsigned char *in = rows_make(w->mesh, 5);
    CHECK_OK(storm_mesh_use(w->mesh, cut, &change));
    CHECK_EQ(storm_mesh_generation(w->mesh), generation);
    check_carry(w->mesh, change, 5, in);
    check_inverse(w, change);
    storm_change_destroy(change);
    free(in);
}

/* CHANGE-3: of another mesh, which looks the same. */
static void check_foreign(struct world *w,
                          const struct storm_cart_params *params)
{
    struct storm_mesh *other;
    struct storm_cut *cut;
    struct storm_change *change;
    uint64_t row[1000] = {0}, out[1000];
    CHECK_OK(storm_mesh_create_cart(w->context, params, &other));
    CHECK_OK(storm_cut_create(other, &cut));
    CHECK_OK(storm_mesh_use(other, cut, &change));
    CHECK_EQ(storm_mesh_carry(w->mesh, change, sizeof *row, row, out),
             STORM_ERR_ARG);
    CHECK_EQ(w->n_errors, 1);
    storm_change_destroy(change);
    storm_mesh_destroy(other);
}

/* What this kind of mesh has not, it refuses; one rank says so. */
static void check_refused(struct world *w)
{
    struct storm_change *change;
    double x[3] = {0};
    int n = w->n_errors = 0;
    CHECK_EQ(storm_mesh_move(w->mesh, x, NULL, &change), STORM_ERR_NOSUP);
    MPI_Allreduce(&w->n_errors, &n, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(n, 1);
}

/* CHANGE-3 */
static void check_stale(struct world *w, struct storm_cut *cut)
{
    struct storm_change *first, *second;
    uint64_t row[1000] = {0}, out[1000];
    fill(cut, w->mesh, 4);
    CHECK_OK(storm_mesh_use(w->mesh, cut, &first));
    fill(cut, w->mesh, 5);
    uint64_t before = storm_mesh_generation(w->mesh);
    CHECK_OK(storm_mesh_use(w->mesh, cut, &second));
    if (storm_mesh_generation(w->mesh) != before) {
        CHECK_EQ(storm_mesh_carry(w->mesh, first, sizeof *row, row, out),
                 STORM_ERR_STATE);
        CHECK_EQ(w->n_errors, 1);
    }
    CHECK_OK(storm_mesh_carry(w->mesh, second, sizeof *row, row, out));
    storm_change_destroy(second);
    storm_change_destroy(first);
}

static void count_errors(void *self, storm_log_level level, int rank,
                         const char *message)
{
    (void)rank, (void)message;
    ((struct world *)self)->n_errors += level == STORM_LOG_ERROR;
}

static void check_mesh(struct world *w, const struct storm_cart_params *params)
{
    struct storm_cut *cut, *other, *last;
    CHECK_OK(storm_mesh_create_cart(w->context, params, &w->mesh));
    CHECK_OK(storm_cut_create(w->mesh, &cut));
    CHECK_OK(storm_cut_create(w->mesh, &other));
    fill(other, w->mesh, 1);
    w->n_errors = 0;
    check_foreign(w, params);
    check_refused(w);
    for (uint64_t seed = 0; seed < N_CUTS; seed++) {
        check_where("%d cells, cut %d, rank %d",
                    (int)storm_mesh_n_cells_total(w->mesh), (int)seed, w->rank);
        check_cut(w, cut, other, seed);
        check_none(w, cut);
    }
    w->n_errors = 0;
    check_stale(w, cut);
    /* The one in use is destroyed, one is left to the mesh. */
    CHECK_OK(storm_cut_create(w->mesh, &last));
    storm_cut_destroy(cut);
    check_cut(w, last, other, 3);
    storm_cut_destroy(last);
    storm_mesh_destroy(w->mesh);
}

int main(int argc, char **argv)
{
    static const struct storm_cart_params list[] = {
        {.size = sizeof list[0], .hi_cm = {9, 7, 5}, .n = {9, 7, 5}},
        {.size = sizeof list[0],
         .hi_cm = {1, 1, 1},
         .n = {40, 1, 1},
         .periodic = {true, true, false}},
        {.size = sizeof list[0], .hi_cm = {1, 1, 1}, .n = {2, 1, 1}},
    };
    struct world w = {.n_errors = 0};
    struct storm_context_params params = {
        .size = sizeof params, .log = count_errors, .log_self = &w};
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &params, &w.context));
    w.rank = storm_context_rank(w.context);
    w.size = storm_context_size(w.context);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        check_mesh(&w, &list[i]);
    struct storm_memory_entry entry = STORM_MEMORY_ENTRY_INIT;
    CHECK_OK(storm_context_memory(w.context, 0, &entry));
    CHECK_EQ(entry.bytes, 0);
    storm_context_destroy(w.context);
    MPI_Finalize();
    return CHECK_PASS;
}
