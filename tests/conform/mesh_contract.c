/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 90 */
/* TEST ranks: 3; timeout: 90; label: slow-asan */
/* TEST ranks: 5; timeout: 90; label: long */
/*
 * The contract of meshes (mesh/mesh_ops.h), through the public calls.
 * A new mesh adds its rows to mesh_cases.h.
 *
 * Each mesh is made twice: over all ranks, and by every rank for itself. The
 * second knows everything, and the answers of the first must agree with it, in
 * several partitions.
 */
#include "mesh_cases.h"

#include "base/env.h"
#include "base/hash.h"
#include "mesh/mesh_ops.h"
#include "support/cuts.h"

struct pair {
    const struct mesh_case *mesh_case;
    struct storm_mesh *mesh;      /* over all ranks */
    struct storm_mesh *whole;     /* of this rank alone */
    struct storm_cell_ref *where; /* of the cells of `whole`, in `mesh` */
    struct storm_cell_ref *twin;  /* of the cells of `mesh`, in `whole` */
    int rank, size;
};

static bool same_bits(const void *a, const void *b, size_t n)
{
    return memcmp(a, b, n) == 0;
}

/* MESH-1, MESH-2. A cell of one mesh is that of the same tag in the other, and
 * there is only one. */
static void check_ids(const struct pair *p)
{
    bool is_ours = !p->mesh_case->is_hosts;
    bool never_changed = storm_mesh_is_in_order(p->mesh);
    uint64_t total = storm_mesh_n_cells_total(p->whole);
    CHECK_EQ(storm_mesh_n_cells_total(p->mesh), total);
    CHECK_EQ(storm_mesh_n_cells(p->whole), total);
    uint64_t n = (uint64_t)storm_mesh_n_cells(p->mesh), sum;
    MPI_Allreduce(&n, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, total);
    uint64_t first = storm_mesh_first_place(p->mesh, p->rank);
    CHECK_EQ(storm_mesh_first_place(p->mesh, p->rank + 1), first + n);
    for (uint64_t i = 0; i < n; i++) {
        storm_cell_id tag = storm_mesh_cell_id(p->mesh, (storm_cell_idx)i);
        struct storm_cell_ref twin = p->twin[i];
        CHECK(tag < UINT64_C(1) << 48 && tag < storm_mesh_next_tag(p->mesh));
        CHECK_EQ(twin.rank, 0);
        CHECK_EQ(storm_mesh_cell_id(p->whole, twin.idx), tag);
        CHECK_EQ(p->where[twin.idx].rank, p->rank);
        CHECK_EQ(p->where[twin.idx].idx, i);
        CHECK(!is_ours || first + i == (uint64_t)twin.idx); /* places */
        CHECK(!is_ours || !never_changed || tag == first + i);
    }
    for (uint64_t i = 0; i < total; i++)
        CHECK(p->where[i].rank >= 0 && p->where[i].rank < p->size);
}

/* Where the cells of one mesh are in another. */
static struct storm_cell_ref *find_in(const struct storm_mesh *mesh,
                                      const struct storm_mesh *other)
{
    size_t n = (size_t)storm_mesh_n_cells(mesh);
    storm_cell_id *tags = malloc((n + 1) * sizeof *tags);
    struct storm_cell_ref *where = malloc((n + 1) * sizeof *where);
    CHECK(tags != NULL && where != NULL);
    for (size_t i = 0; i < n; i++)
        tags[i] = storm_mesh_cell_id(mesh, (storm_cell_idx)i);
    CHECK_OK(storm_mesh_find(other, n, tags, where));
    free(tags);
    return where;
}

static void find_all(struct pair *p)
{
    free(p->where);
    free(p->twin);
    p->where = find_in(p->whole, p->mesh);
    p->twin = find_in(p->mesh, p->whole);
}

/* MESH-3 and, for the faces, the neighbours */
static void check_geometry(const struct pair *p)
{
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(p->mesh); i++) {
        storm_cell_idx w = p->twin[i].idx;
        double a = storm_mesh_volume_cm3(p->mesh, i);
        double b = storm_mesh_volume_cm3(p->whole, w);
        CHECK(same_bits(&a, &b, sizeof a));
        double x[3], y[3];
        storm_mesh_centre(p->mesh, i, x);
        storm_mesh_centre(p->whole, w, y);
        CHECK(same_bits(x, y, sizeof x));
        double lo[2][3], hi[2][3];
        storm_mesh_bounds(p->mesh, i, lo[0], hi[0]);
        storm_mesh_bounds(p->whole, w, lo[1], hi[1]);
        CHECK(same_bits(lo[0], lo[1], sizeof lo[0]));
        CHECK(same_bits(hi[0], hi[1], sizeof hi[0]));
        const double u[3] = {0.1, 0.5, 0.7};
        storm_mesh_sample(p->mesh, i, u, x);
        storm_mesh_sample(p->whole, w, u, y);
        CHECK(same_bits(x, y, sizeof x));
        int n_faces = storm_mesh_n_faces(p->mesh, i);
        CHECK_EQ(n_faces, storm_mesh_n_faces(p->whole, w));
        for (int f = 0; f < n_faces; f++) {
            struct storm_face s = STORM_FACE_INIT, t = STORM_FACE_INIT;
            storm_mesh_face(p->mesh, i, f, &s);
            storm_mesh_face(p->whole, w, f, &t);
            CHECK(same_bits(&s.area_cm2, &t.area_cm2, sizeof s.area_cm2));
            CHECK(same_bits(s.normal, t.normal, sizeof s.normal));
            CHECK_EQ(s.wall, t.wall);
            if (t.rank < 0) {
                CHECK(s.rank < 0);
                continue;
            }
            CHECK_EQ(s.rank, p->where[t.neighbour].rank);
            CHECK_EQ(s.neighbour, p->where[t.neighbour].idx);
        }
    }
}

/* Does cell b have a face like f, from the other side, that leads to a? */
static bool leads_back(const struct storm_mesh *whole, storm_cell_idx a,
                       const struct storm_face *f)
{
    for (int k = 0; k < storm_mesh_n_faces(whole, f->neighbour); k++) {
        struct storm_face g = STORM_FACE_INIT;
        storm_mesh_face(whole, f->neighbour, k, &g);
        if (g.rank >= 0 && g.neighbour == a &&
            same_bits(&g.area_cm2, &f->area_cm2, sizeof g.area_cm2) &&
            g.normal[0] == -f->normal[0] && g.normal[1] == -f->normal[1] &&
            g.normal[2] == -f->normal[2])
            return true;
    }
    return false;
}

/* MESH-4, MESH-5 */
static void check_cells(const struct pair *p)
{
    const struct mesh_case *c = p->mesh_case;
    double box = 1.0, sum = 0.0;
    for (int d = 0; d < 3; d++)
        box *= c->hi_cm[d] - c->lo_cm[d];
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(p->whole); i++) {
        double volume = storm_mesh_volume_cm3(p->whole, i);
        CHECK(volume > 0.0);
        sum += volume;
        double closure[3] = {0.0}, area = 0.0;
        for (int f = 0; f < storm_mesh_n_faces(p->whole, i); f++) {
            struct storm_face face = STORM_FACE_INIT;
            storm_mesh_face(p->whole, i, f, &face);
            CHECK(face.area_cm2 > 0.0);
            CHECK((face.rank >= 0) == (face.wall < 0));
            CHECK(face.wall < STORM_N_WALLS);
            if (face.rank >= 0)
                CHECK(leads_back(p->whole, i, &face));
            for (int d = 0; d < 3; d++)
                closure[d] += face.area_cm2 * face.normal[d];
            area += face.area_cm2;
        }
        for (int d = 0; d < 3; d++)
            CHECK(fabs(closure[d]) <= 1e-13 * area);
    }
    CHECK(fabs(sum - box) <= 1e-12 * box);
}

/* MESH-11: so many samples fill most of the bounds, and do not leave them. */
static void check_bounds(const struct pair *p, storm_cell_idx cell,
                         const double lowest[3], const double highest[3])
{
    double lo[3], hi[3];
    storm_mesh_bounds(p->mesh, cell, lo, hi);
    for (int d = 0; d < 3; d++) {
        double low = p->mesh_case->lo_cm[d], high = p->mesh_case->hi_cm[d];
        if (p->mesh_case->wraps[d])
            CHECK(hi[d] - lo[d] <= (1.0 + 1e-9) * (high - low));
        else
            CHECK(lo[d] >= low && hi[d] <= high);
        CHECK(lo[d] <= lowest[d] && highest[d] <= hi[d]);
        CHECK(highest[d] - lowest[d] >= 0.6 * (hi[d] - lo[d]));
    }
}

/* MESH-6: points and centres are in the box; then to where the bounds are. */
static void to_bounds(const struct pair *p, const double lo[3],
                      const double hi[3], double x[3])
{
    for (int d = 0; d < 3; d++) {
        double low = p->mesh_case->lo_cm[d], high = p->mesh_case->hi_cm[d];
        CHECK(x[d] >= low);
        CHECK(p->mesh_case->wraps[d] ? x[d] < high : x[d] <= high);
        if (x[d] < lo[d] && p->mesh_case->wraps[d])
            x[d] += high - low;
        else if (x[d] > hi[d] && p->mesh_case->wraps[d])
            x[d] -= high - low;
    }
}

/* MESH-6: back to the cell, even from next to its faces; uniform: the mean of
 * many samples is the centre (convex cells of a Cartesian mesh; other meshes
 * define centre as the centroid too), within k = 6 standard errors of a sample
 * that spreads at most over the cell's own extent. */
static void check_samples(const struct pair *p, struct dice *dice)
{
    static const double corners[] = {0x1p-54, 0.5, 1.0 - 0x1p-53};
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(p->mesh); i++) {
        for (int k = 0; k < 27 + 8; k++) {
            double u[3] = {corners[k % 3], corners[k / 3 % 3],
                           corners[k / 9 % 3]};
            for (int d = 0; k >= 27 && d < 3; d++)
                u[d] = uniform(dice);
            double x[3];
            storm_mesh_sample(p->mesh, i, u, x);
            struct storm_cell_ref found;
            CHECK_OK(storm_mesh_locate(p->mesh, x, &found));
            CHECK(found.rank == p->rank && found.idx == i);
        }
    }
    enum { N = 2000 };
    if (storm_mesh_n_cells(p->mesh) == 0)
        return;
    storm_cell_idx i =
        (storm_cell_idx)dice_roll(dice, (uint64_t)storm_mesh_n_cells(p->mesh));
    double sum[3] = {0.0}, square[3] = {0.0}, centre[3];
    double lowest[3], highest[3], lo[3], hi[3];
    storm_mesh_centre(p->mesh, i, centre);
    storm_mesh_bounds(p->mesh, i, lo, hi);
    to_bounds(p, lo, hi, centre);
    memcpy(lowest, centre, sizeof lowest);
    memcpy(highest, centre, sizeof highest);
    for (int k = 0; k < N; k++) {
        double u[3], x[3];
        for (int d = 0; d < 3; d++)
            u[d] = uniform(dice);
        storm_mesh_sample(p->mesh, i, u, x);
        to_bounds(p, lo, hi, x);
        for (int d = 0; d < 3; d++) {
            sum[d] += x[d] - centre[d];
            square[d] += (x[d] - centre[d]) * (x[d] - centre[d]);
            lowest[d] = fmin(lowest[d], x[d]);
            highest[d] = fmax(highest[d], x[d]);
        }
    }
    check_bounds(p, i, lowest, highest);
    for (int d = 0; d < 3; d++)
        CHECK(fabs(sum[d]) <= 6.0 * sqrt(square[d]));
}

/* ---- points of faces ----------------------------------------------------- */

/* Sums over the faces of a cell, by area times normal. */
struct face_sums {
    double volume;         /* of x n / 3 at a point of each face */
    double mean[3][3];     /* [i][j]: of the mean of x_j on it, by n_i */
    double variance[3][3]; /* of that mean */
};

/* The frame of a cell, in which its bounds are: samples that are between them,
 * to rounding, and on the plane of the face; on a wall of the box all have the
 * same coordinate. */
static void check_face_point(const struct pair *p, storm_cell_idx cell,
                             const struct storm_face *face, const double x[3],
                             const double first[3])
{
    double lo[3], hi[3], size = 0.0, off = 0.0;
    storm_mesh_bounds(p->mesh, cell, lo, hi);
    for (int d = 0; d < 3; d++) {
        size += fabs(hi[d]) + fabs(lo[d]);
        off += (x[d] - first[d]) * face->normal[d];
    }
    for (int d = 0; d < 3; d++)
        CHECK(x[d] >= lo[d] - 1e-12 * size && x[d] <= hi[d] + 1e-12 * size);
    CHECK(fabs(off) <= 1e-12 * size);
    if (face->rank < 0 && !p->mesh_case->is_hosts) {
        int d = face->wall / 2;
        storm_mesh_box(p->mesh, lo, hi);
        CHECK(fabs(x[d] - (face->wall % 2 == 0 ? lo : hi)[d]) <= 1e-15 * size);
        CHECK(x[d] == first[d]);
    }
}

/* A little inside of the face is the cell. */
static void check_face_behind(const struct pair *p, storm_cell_idx cell,
                              const struct storm_face *face, const double x[3])
{
    struct storm_cell_ref found;
    double lo[3], hi[3], inside[3];
    storm_mesh_bounds(p->mesh, cell, lo, hi);
    for (int d = 0; d < 3; d++) {
        double low = p->mesh_case->lo_cm[d], high = p->mesh_case->hi_cm[d];
        double shift =
            1e-7 * fmin(hi[0] - lo[0], fmin(hi[1] - lo[1], hi[2] - lo[2]));
        inside[d] = x[d] - shift * face->normal[d];
        inside[d] = p->mesh_case->wraps[d]
                        ? storm_mesh_wrap(inside[d], low, high)
                        : fmin(fmax(inside[d], low), high);
    }
    CHECK_OK(storm_mesh_locate(p->mesh, inside, &found));
    CHECK(found.rank == p->rank && found.idx == cell);
}

static void add_face(const struct pair *p, storm_cell_idx cell, int k,
                     struct dice *dice, struct face_sums *sums)
{
    enum { N = 100 };
    struct storm_face face = STORM_FACE_INIT;
    double first[3] = {0.0}, sum[3] = {0.0}, square[3] = {0.0};
    storm_mesh_face(p->mesh, cell, k, &face);
    for (int i = 0; i < N; i++) {
        const double u[2] = {uniform(dice), uniform(dice)};
        double x[3], twin[3];
        p->mesh->ops->sample_face(p->mesh, cell, k, u, x);
        p->whole->ops->sample_face(p->whole, p->twin[cell].idx, k, u, twin);
        CHECK(same_bits(x, twin, sizeof x));
        if (i == 0)
            memcpy(first, x, sizeof first);
        check_face_point(p, cell, &face, x, first);
        if (i < 5)
            check_face_behind(p, cell, &face, x);
        for (int d = 0; d < 3; d++) {
            sum[d] += (x[d] - first[d]) / N;
            square[d] += (x[d] - first[d]) * (x[d] - first[d]) / N;
        }
    }
    for (int i = 0; i < 3; i++) {
        double area = face.area_cm2 * face.normal[i];
        sums->volume += area * first[i] / 3.0;
        for (int j = 0; j < 3; j++) {
            sums->mean[i][j] += area * (first[j] + sum[j]);
            sums->variance[i][j] +=
                area * area * fmax(square[j] - sum[j] * sum[j], 0.0) / N;
        }
    }
}

/* MESH-15: for a uniform x on each face, of a cell of volume V, area times n_i
 * x_j adds up to V if i is j and else to 0, within k = 6 standard errors; its
 * trace, exactly. */
static void check_face_samples(const struct pair *p, struct dice *dice)
{
    if (storm_mesh_n_cells(p->mesh) == 0)
        return;
    for (int n = 0; n < 5; n++) {
        uint64_t n_cells = (uint64_t)storm_mesh_n_cells(p->mesh);
        storm_cell_idx cell = (storm_cell_idx)dice_roll(dice, n_cells);
        struct face_sums sums = {.volume = 0.0};
        double volume = storm_mesh_volume_cm3(p->mesh, cell);
        double lo[3], hi[3], round = 1e-12;
        storm_mesh_bounds(p->mesh, cell, lo, hi);
        for (int d = 0; d < 3; d++)
            round *= fmax(fabs(lo[d]), fabs(hi[d]));
        round += 1e-12 * volume;
        for (int k = 0; k < storm_mesh_n_faces(p->mesh, cell); k++)
            add_face(p, cell, k, dice, &sums);
        CHECK(fabs(sums.volume - volume) <= round);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                CHECK(fabs(sums.mean[i][j] - (i == j ? volume : 0.0)) <=
                      6.0 * sqrt(sums.variance[i][j]) + round);
    }
}

/* ---- location ------------------------------------------------------------ */

/* Anywhere, on walls, outside; is it in the box? */
static bool make_point(const struct mesh_case *c, struct dice *dice,
                       double x[3])
{
    bool inside = true;
    for (int d = 0; d < 3; d++) {
        double width = c->hi_cm[d] - c->lo_cm[d];
        switch (dice_roll(dice, 12)) {
        case 0:
            x[d] = c->lo_cm[d];
            break;
        case 1:
            x[d] = c->hi_cm[d];
            break;
        case 2:
            x[d] = nextafter(c->lo_cm[d], -INFINITY);
            break;
        case 3:
            x[d] = c->hi_cm[d] + width * uniform(dice);
            break;
        default:
            x[d] = c->lo_cm[d] + width * uniform(dice);
        }
        inside = inside && x[d] >= c->lo_cm[d] && x[d] <= c->hi_cm[d];
    }
    return inside;
}

/* MESH-7: any point, on every rank the same, but for ranks that do not know. */
static void check_locate(const struct pair *p)
{
    const struct mesh_case *c = p->mesh_case;
    struct dice dice = dice_make(2, 0); /* the same on every rank */
    uint64_t answers = 0;
    for (int k = 0; k < 2000; k++) {
        double x[3];
        bool inside = make_point(c, &dice, x);
        struct storm_cell_ref a = {-1, -1}, b = {-1, -1};
        storm_status s = storm_mesh_locate(p->mesh, x, &a);
        storm_status t = storm_mesh_locate(p->whole, x, &b);
        CHECK_EQ(t, inside ? STORM_OK : STORM_ERR_ARG);
        if (s == STORM_AGAIN) { /* then it is another rank's */
            CHECK(inside);
            CHECK(p->where[b.idx].rank != p->rank);
        } else {
            CHECK_EQ(s, t);
            CHECK_EQ(a.rank, inside ? p->where[b.idx].rank : -1);
            CHECK_EQ(a.idx, inside ? p->where[b.idx].idx : -1);
        }
        answers = dice_mix(answers ^ (uint64_t)b.idx);
    }
    uint64_t highest;
    MPI_Allreduce(&answers, &highest, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    CHECK_EQ(answers, highest);
    double nowhere[3] = {NAN, c->lo_cm[1], c->lo_cm[2]};
    struct storm_cell_ref cell;
    CHECK_EQ(storm_mesh_locate(p->mesh, nowhere, &cell), STORM_ERR_ARG);
}

/* A position on its way, on all ranks. */
struct walker {
    int32_t rank;
    storm_cell_idx idx; /* -1: from where it is best to begin */
    int64_t is_home;
    double x[3];
};

/* seek_many answers as seek does, each time. */
static void check_many(const struct storm_mesh *mesh,
                       const struct walker *before, storm_status status,
                       const struct walker *after,
                       const struct storm_cell_ref *next)
{
    double x[3][3];
    struct storm_mesh_hop hops[3];
    for (int i = 0; i < 3; i++) {
        memcpy(x[i], before->x, sizeof x[i]);
        hops[i] = (struct storm_mesh_hop){
            .x_cm = x[i],
            .cell = before->idx,
            .next = {.rank = before->rank, .idx = before->idx}};
    }
    mesh->ops->changes->seek_many(mesh, hops, 3);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(hops[i].status, status);
        CHECK_EQ(memcmp(x[i], after->x, sizeof x[i]), 0);
        if (status == STORM_AGAIN || before->idx < 0) {
            CHECK_EQ(hops[i].next.rank, next->rank);
            CHECK_EQ(hops[i].next.idx, next->idx);
        }
    }
}

/* From a cell on, as far as it goes on this rank. */
static void walk_here(const struct storm_mesh *mesh, int rank,
                      struct walker *walker)
{
    for (int hop = 0; walker->rank == rank && !walker->is_home; hop++) {
        const struct walker before = *walker;
        struct storm_cell_ref next = {walker->rank, walker->idx};
        storm_status status =
            mesh->ops->changes->seek(mesh, walker->idx, walker->x, &next);
        check_many(mesh, &before, status, walker, &next);
        CHECK(status == STORM_OK || status == STORM_AGAIN);
        CHECK(hop < 100000);
        walker->is_home = status == STORM_OK;
        if (status == STORM_AGAIN || walker->idx < 0) {
            walker->rank = next.rank;
            walker->idx = next.idx;
        }
    }
}

/* MESH-13. Each round, every rank moves the walkers that it has; the others
 * have zeros instead. */
static void check_seek(const struct pair *p)
{
    enum { N = 200, WORDS = N * sizeof(struct walker) / 8 };
    static struct walker walkers[N];
    struct dice dice = dice_make(3, 0); /* the same on every rank */
    uint64_t total = storm_mesh_n_cells_total(p->mesh);
    for (int k = 0; k < N; k++) {
        struct walker *w = &walkers[k];
        struct storm_cell_ref from = p->where[dice_roll(&dice, total)];
        while (!make_point(p->mesh_case, &dice, w->x))
            continue;
        w->is_home = 0;
        w->rank = from.rank;
        w->idx = from.idx;
        if (k % 4 == 0) { /* from where this rank would send it */
            w->rank = p->mesh->ops->changes->jump(p->mesh, w->x);
            w->idx = -1;
            MPI_Bcast(&w->rank, 1, MPI_INT32_T, k % p->size, MPI_COMM_WORLD);
        }
    }
    for (int n_left = N, round = 0; n_left > 0; round++) {
        CHECK(round < 1000);
        for (int k = 0; k < N; k++)
            if (walkers[k].rank == p->rank)
                walk_here(p->mesh, p->rank, &walkers[k]);
            else
                memset(&walkers[k], 0, sizeof walkers[k]);
        MPI_Allreduce(MPI_IN_PLACE, walkers, WORDS, MPI_UINT64_T, MPI_BOR,
                      MPI_COMM_WORLD);
        n_left = 0;
        for (int k = 0; k < N; k++)
            n_left += !walkers[k].is_home;
    }
    dice = dice_make(3, 0);
    for (int k = 0; k < N; k++) {
        struct storm_cell_ref home = {-1, -1};
        struct walker alone = {.idx = -1};
        (void)dice_roll(&dice, total);
        while (!make_point(p->mesh_case, &dice, alone.x))
            continue;
        walk_here(p->whole, 0, &alone);
        CHECK(same_bits(alone.x, walkers[k].x, sizeof alone.x));
        CHECK_OK(storm_mesh_locate(p->whole, walkers[k].x, &home));
        CHECK_EQ(alone.idx, home.idx);
        CHECK_EQ(walkers[k].rank, p->where[home.idx].rank);
        CHECK_EQ(walkers[k].idx, p->where[home.idx].idx);
    }
}

/* A hash of what a rank has of a mesh. */
static uint64_t fold_mesh(const struct storm_mesh *mesh)
{
    uint64_t hash =
        storm_hash_fold(storm_mesh_generation(mesh), storm_mesh_next_tag(mesh));
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        double x[3];
        storm_mesh_centre(mesh, i, x);
        hash = storm_hash_fold(hash, storm_mesh_cell_id(mesh, i));
        hash = storm_hash_fold_real(hash, storm_mesh_volume_cm3(mesh, i));
        for (int d = 0; d < 3; d++)
            hash = storm_hash_fold_real(hash, x[d]);
        for (int k = 0; k < storm_mesh_n_faces(mesh, i); k++) {
            struct storm_face face = STORM_FACE_INIT;
            storm_mesh_face(mesh, i, k, &face);
            hash = storm_hash_fold_real(hash, face.area_cm2);
            hash = storm_hash_fold(hash, (uint64_t)face.rank);
            hash = storm_hash_fold(hash, (uint64_t)face.neighbour);
        }
    }
    return hash;
}

/* MESH-14: what a mesh cannot do, and what one rank does wrong, is an error on
 * all, and changes nothing. */
static void check_refused(const struct pair *p)
{
    size_t n = (size_t)storm_mesh_n_cells(p->mesh);
    double *x = malloc((3 * n + 1) * sizeof *x);
    struct storm_change *change = NULL;
    struct storm_adapt_params adapt = STORM_ADAPT_PARAMS_INIT;
    const storm_cell_idx none = (storm_cell_idx)n; /* no such cell */
    bool moves = p->mesh->ops->changes->move != storm_no_move;
    bool adapts = p->mesh->ops->changes->adapt != storm_no_adapt;
    uint64_t hash = fold_mesh(p->mesh);
    CHECK(x != NULL);
    bool is_wrong = p->where[0].rank == p->rank;
    for (size_t i = 0; i < n && moves; i++)
        CHECK_OK(storm_mesh_generator(p->mesh, (storm_cell_idx)i, x + 3 * i));
    if (is_wrong)
        x[1] = NAN;
    CHECK_EQ(storm_mesh_move(p->mesh, x, NULL, &change),
             !moves     ? STORM_ERR_NOSUP
             : is_wrong ? STORM_ERR_ARG
                        : STORM_ERR_PEER);
    adapt.remove = &none;
    adapt.n_remove = is_wrong;
    CHECK_EQ(storm_mesh_adapt(p->mesh, &adapt, &change),
             !adapts    ? STORM_ERR_NOSUP
             : is_wrong ? STORM_ERR_ARG
                        : STORM_ERR_PEER);
    CHECK(change == NULL);
    CHECK_EQ(fold_mesh(p->mesh), hash);
    free(x);
}

/* Another partition, with weights that are a function of the id. */
static void recut(const struct pair *p, uint64_t seed)
{
    enum { MAX_CELLS = 20000 };
    static uint64_t weight[MAX_CELLS];
    CHECK(storm_mesh_n_cells(p->mesh) <= MAX_CELLS);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(p->mesh); i++) {
        uint64_t id = storm_mesh_cell_id(p->mesh, i);
        weight[i] = seed == 0 ? 0 : dice_mix(id * seed) >> (id % 64);
    }
    cut_mesh(p->mesh, weight);
}

/* MESH-8: queries make none. */
static uint64_t allocations(const struct storm_context *context)
{
    return storm_memory_calls(storm_context_env(context)->memory);
}

static void check_mesh(const struct mesh_case *mesh_case,
                       struct storm_context *all, struct storm_context *alone)
{
    struct pair p = {.mesh_case = mesh_case,
                     .rank = storm_context_rank(all),
                     .size = storm_context_size(all)};
    struct dice dice = dice_make(1, (uint64_t)p.rank);
    CHECK_OK(mesh_case->make(all, mesh_case->how, &p.mesh));
    CHECK_OK(mesh_case->make(alone, mesh_case->how, &p.whole));
    for (uint64_t cut = 0; cut < 4; cut++) {
        check_where("mesh %s, rank %d, cut %d", mesh_case->name, p.rank,
                    (int)cut);
        find_all(&p);
        uint64_t calls = allocations(all);
        check_ids(&p);
        check_geometry(&p);
        if (cut % 3 == 0) /* takes longest */
            check_samples(&p, &dice);
        if (cut == 0)
            check_face_samples(&p, &dice);
        check_locate(&p);
        check_seek(&p);
        CHECK_EQ(allocations(all), calls);
        check_refused(&p);
        if (mesh_case->is_hosts) {
            storm_mesh_destroy(p.mesh);
            CHECK_OK(mesh_case->make(all, mesh_case->how, &p.mesh));
        } else {
            recut(&p, cut % 3);
        }
    }
    check_cells(&p);
    free(p.where);
    free(p.twin);
    storm_mesh_destroy(p.mesh);
    storm_mesh_destroy(p.whole);
}

/* ---- all cases ---------------------------------------------------------- */

static void check_given(struct storm_context *all, struct storm_context *alone)
{
    for (int i = 0; i < 3; i++) {
        char name[32];
        struct host host = given_host(i, alone);
        snprintf(name, sizeof name, "given %d", i);
        struct mesh_case mesh_case = {
            .name = name, .make = make_given, .how = &host, .is_hosts = true};
        struct storm_mesh *mesh; /* for the box, rounded as it has it */
        CHECK_OK(make_given(alone, &host, &mesh));
        storm_mesh_box(mesh, mesh_case.lo_cm, mesh_case.hi_cm);
        for (int d = 0; d < 3; d++)
            CHECK(fabs(mesh_case.lo_cm[d] + 5.0) < 1e-12 &&
                  fabs(mesh_case.hi_cm[d] - 5.0) < 1e-12);
        storm_mesh_destroy(mesh);
        check_mesh(&mesh_case, all, alone);
        host_free(&host);
    }
}

/* Of what is refused. */
static void ignore(void *self, storm_log_level level, int rank,
                   const char *message)
{
    (void)self, (void)level, (void)rank, (void)message;
}

int main(int argc, char **argv)
{
    struct storm_context *all, *alone;
    struct storm_context_params params = {.size = sizeof params, .log = ignore};
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &params, &all));
    CHECK_OK(storm_context_create(MPI_COMM_SELF, &params, &alone));
    for (size_t i = 0; i < sizeof cart_list / sizeof cart_list[0]; i++) {
        char name[32];
        snprintf(name, sizeof name, "cartesian %d", (int)i);
        struct mesh_case mesh_case = {
            .name = name, .make = make_cart, .how = &cart_list[i]};
        memcpy(mesh_case.lo_cm, cart_list[i].lo_cm, sizeof mesh_case.lo_cm);
        memcpy(mesh_case.hi_cm, cart_list[i].hi_cm, sizeof mesh_case.hi_cm);
        check_mesh(&mesh_case, all, alone);
    }
    for (size_t i = 0; i < sizeof voronoi_list / sizeof voronoi_list[0]; i++) {
        char name[32];
        snprintf(name, sizeof name, "voronoi %d", (int)i);
        struct mesh_case mesh_case = {
            .name = name, .make = make_voronoi, .how = &voronoi_list[i]};
        memcpy(mesh_case.lo_cm, voronoi_list[i].lo_cm, sizeof mesh_case.lo_cm);
        memcpy(mesh_case.hi_cm, voronoi_list[i].hi_cm, sizeof mesh_case.hi_cm);
        memcpy(mesh_case.wraps, voronoi_list[i].periodic,
               sizeof mesh_case.wraps);
        check_mesh(&mesh_case, all, alone);
        if (i % 4 != 0)
            continue;
        snprintf(name, sizeof name, "moving voronoi %d", (int)i);
        mesh_case.make = make_moving;
        check_mesh(&mesh_case, all, alone);
    }
    for (size_t i = 0; i < sizeof octree_list / sizeof octree_list[0]; i++) {
        char name[32];
        snprintf(name, sizeof name, "octree %d", (int)i);
        struct mesh_case mesh_case = {
            .name = name, .make = make_octree, .how = &octree_list[i]};
        memcpy(mesh_case.lo_cm, octree_list[i].lo_cm, sizeof mesh_case.lo_cm);
        memcpy(mesh_case.hi_cm, octree_list[i].hi_cm, sizeof mesh_case.hi_cm);
        check_mesh(&mesh_case, all, alone);
        if (i == 1 || i == 2)
            continue;
        snprintf(name, sizeof name, "adapted octree %d", (int)i);
        mesh_case.make = make_adapted;
        check_mesh(&mesh_case, all, alone);
    }
    check_given(all, alone);
    struct storm_memory_entry entry =
        STORM_MEMORY_ENTRY_INIT; /* "total" comes first */
    CHECK_OK(storm_context_memory(alone, 0, &entry));
    CHECK_EQ(entry.bytes, 0);
    storm_context_destroy(alone);
    storm_context_destroy(all);
    MPI_Finalize();
    return CHECK_PASS;
}
