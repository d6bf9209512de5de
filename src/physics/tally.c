/* SPDX-License-Identifier: BSD-3-Clause */
/* Bins of tallies and their sums. */
#include "physics/tally.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/math.h"
#include "base/memory.h"

static const char tally_label[] = "tallies";

/* Terms between two carries: each limb takes 2^32 per term. */
static const uint64_t tally_carry_after = UINT64_C(1) << 29;

/* ---- faults ------------------------------------------------------------- */

enum { TALLY_MAX_BINS = 100000000 }; /* of a tally */

static bool fault_name(const struct tally_set *set, const char *name,
                       char *text_out, size_t bytes)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    if (name == NULL || name[0] == '\0' ||
        name[strspn(name, allowed)] != '\0') {
        snprintf(text_out, bytes,
                 "expected a name of letters, digits, - and _, got '%s'",
                 name != NULL ? name : "");
        return true;
    }
    for (size_t i = 0; i < set->n; i++)
        if (strcmp(set->tallies[i].name, name) == 0) {
            snprintf(text_out, bytes, "there is a tally '%s' already", name);
            return true;
        }
    return false;
}

static bool fault_edges(const double *edges, size_t n, const double range[2],
                        const char *what, char *text_out, size_t bytes)
{
    if (n == 0) {
        snprintf(text_out, bytes, "expected at least one bin of %s", what);
        return true;
    }
    for (size_t i = 0; edges != NULL && i <= n; i++) {
        if (!(edges[i] >= range[0] && edges[i] <= range[1])) {
            snprintf(text_out, bytes,
                     "expected edges of %s from %g to %g, got %g", what,
                     range[0], range[1], edges[i]);
            return true;
        }
        if (i > 0 && !(edges[i] > edges[i - 1])) {
            snprintf(text_out, bytes,
                     "expected edges of %s that grow, got %g after %g", what,
                     edges[i], edges[i - 1]);
            return true;
        }
    }
    return false;
}

static bool has(const struct storm_tally *tally, storm_tally_by by)
{
    return (tally->by >> by & 1u) != 0;
}

static bool fault_vectors(const struct storm_tally *t, char *text_out,
                          size_t bytes)
{
    for (int d = 0; d < 3; d++) {
        if (!(fabs(t->axis[d]) <= 1e100)) {
            snprintf(text_out, bytes,
                     "expected a finite axis (up to 1e100), got %g",
                     t->axis[d]);
            return true;
        }
        if (!(fabs(t->origin_cm[d]) <= 1e150)) {
            snprintf(text_out, bytes,
                     "expected a finite origin (up to 1e150), got %g",
                     t->origin_cm[d]);
            return true;
        }
    }
    return false;
}

static bool fault_by(const struct storm_tally *t, char *text_out, size_t bytes)
{
    if ((int)t->where != STORM_TALLY_ESCAPE &&
        (int)t->where != STORM_TALLY_SURFACE)
        snprintf(text_out, bytes, "there is no place %d", (int)t->where);
    else if (t->by >> STORM_TALLY_N_BY != 0)
        snprintf(text_out, bytes, "there is no axis beyond bit %d of %#x",
                 STORM_TALLY_N_BY - 1, t->by);
    else if (t->where == STORM_TALLY_SURFACE && has(t, STORM_TALLY_WALL))
        snprintf(text_out, bytes, "a surface has no walls");
    else if (t->where == STORM_TALLY_SURFACE &&
             ((int)t->shape.kind < STORM_SHAPE_ALL ||
              (int)t->shape.kind > STORM_SHAPE_SPHERE))
        snprintf(text_out, bytes, "expected a kind of shape, got %d",
                 (int)t->shape.kind);
    else if (t->where == STORM_TALLY_SURFACE && !t->one_material &&
             t->shape.kind == STORM_SHAPE_ALL)
        snprintf(text_out, bytes,
                 "expected a shape or a material: a surface is where it ends");
    else if (t->where == STORM_TALLY_ESCAPE && has(t, STORM_TALLY_SIDE))
        snprintf(text_out, bytes, "what escapes goes outwards: no sides");
    else
        return false;
    return true;
}

bool tally_fault(const struct tally_set *set, const struct storm_tally *tally,
                 char *text_out, size_t bytes)
{
    static const double times[2] = {-STORM_UNLIMITED, STORM_UNLIMITED};
    static const double cosines[2] = {-1.0, 1.0};
    if (fault_name(set, tally->name, text_out, bytes) ||
        fault_by(tally, text_out, bytes) ||
        fault_vectors(tally, text_out, bytes))
        return true;
    if (has(tally, STORM_TALLY_TIME) && tally->time_edges_s == NULL) {
        snprintf(text_out, bytes, "expected edges of time, got none");
        return true;
    }
    if (has(tally, STORM_TALLY_TIME) &&
        fault_edges(tally->time_edges_s, tally->n_times, times, "time",
                    text_out, bytes))
        return true;
    if (has(tally, STORM_TALLY_MU) &&
        fault_edges(tally->mu_edges, tally->n_mu, cosines, "mu", text_out,
                    bytes))
        return true;
    return has(tally, STORM_TALLY_AZIMUTH) &&
           fault_edges(NULL, tally->n_azimuth, cosines, "azimuth", text_out,
                       bytes);
}

/* ---- axes --------------------------------------------------------------- */

/* Grows with the angle of (x, y) as the angle does, from 0 to 4. */
static double diamond(double x, double y)
{
    double size = fabs(x) + fabs(y);
    if (!(size > 0.0))
        return 0.0;
    double part = y / size;
    return x >= 0.0 ? (y >= 0.0 ? part : 4.0 + part) : 2.0 - part;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Unit vectors: the axis, and across it the coordinate most square to it. */
static void make_frame(const double axis[3], double frame_out[3][3])
{
    double scale = fmax(fabs(axis[0]), fmax(fabs(axis[1]), fabs(axis[2])));
    double z[3] = {0.0, 0.0, 1.0};
    for (int d = 0; d < 3 && scale > 0.0; d++)
        z[d] = axis[d] / scale;
    double length = sqrt(dot(z, z));
    int k = 0;
    for (int d = 0; d < 3; d++) {
        frame_out[2][d] = z[d] / length;
        if (fabs(z[d]) < fabs(z[k]))
            k = d;
    }
    const double *n = frame_out[2];
    double x[3];
    for (int d = 0; d < 3; d++)
        x[d] = (d == k) - n[k] * n[d];
    length = sqrt(dot(x, x));
    for (int d = 0; d < 3; d++)
        frame_out[0][d] = x[d] / length;
    for (int d = 0; d < 3; d++)
        frame_out[1][d] = n[(d + 1) % 3] * frame_out[0][(d + 2) % 3] -
                          n[(d + 2) % 3] * frame_out[0][(d + 1) % 3];
}

static double *copy_edges(const struct tally_set *set, const double *edges,
                          size_t n)
{
    double *copy = storm_alloc(set->memory, tally_label, n * sizeof *copy);
    if (copy != NULL && edges != NULL)
        memcpy(copy, edges, n * sizeof *copy);
    return copy;
}

static storm_status axis_intervals(const struct tally_set *set,
                                   struct tally_axis *axis, const double *edges,
                                   size_t n_bins)
{
    axis->n_edges = n_bins + 1;
    axis->edges = copy_edges(set, edges, n_bins + 1);
    axis->n_bins = n_bins + (axis->has_ends ? 2 : 0);
    return axis->edges != NULL ? STORM_OK : STORM_ERR_NOMEM;
}

static storm_status axis_mu(const struct tally_set *set,
                            const struct storm_tally *t,
                            struct tally_axis *axis)
{
    axis->has_ends = t->mu_edges != NULL;
    storm_status status = axis_intervals(set, axis, t->mu_edges, t->n_mu);
    for (size_t i = 0; i <= t->n_mu && !axis->has_ends && status == STORM_OK;
         i++)
        axis->edges[i] = 2.0 * (double)i / (double)t->n_mu - 1.0;
    return status;
}

static storm_status axis_azimuth(const struct tally_set *set,
                                 const struct storm_tally *t,
                                 struct tally_axis *axis)
{
    storm_status status = axis_intervals(set, axis, NULL, t->n_azimuth);
    axis->turns = copy_edges(set, NULL, t->n_azimuth + 1);
    if (status < 0 || axis->turns == NULL)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i <= t->n_azimuth; i++) {
        double x, y;
        axis->turns[i] = (double)i / (double)t->n_azimuth;
        storm_cos_sin_turns(axis->turns[i], &x, &y);
        axis->edges[i] = diamond(x, y);
    }
    axis->edges[0] = 0.0;
    axis->edges[t->n_azimuth] = 4.0;
    return STORM_OK;
}

/* Bins that are things. */
static storm_status axis_things(struct tally_axis *axis, size_t n)
{
    axis->n_bins = n;
    return STORM_OK;
}

static storm_status axis_make(const struct tally_set *set,
                              const struct storm_tally *t,
                              const struct tally_world *world,
                              struct tally_axis *axis)
{
    switch (axis->by) {
    case STORM_TALLY_TIME:
        axis->has_ends = true;
        return axis_intervals(set, axis, t->time_edges_s, t->n_times);
    case STORM_TALLY_GROUP:
        return world->group_edge_kev == NULL
                   ? axis_things(axis, world->n_groups)
                   : axis_intervals(set, axis, world->group_edge_kev,
                                    world->n_groups);
    case STORM_TALLY_MU:
        return axis_mu(set, t, axis);
    case STORM_TALLY_AZIMUTH:
        return axis_azimuth(set, t, axis);
    case STORM_TALLY_WALL:
        return axis_things(axis, world->n_walls + 1);
    case STORM_TALLY_SIDE:
    case STORM_TALLY_N_BY:
        break;
    }
    return axis_things(axis, 2);
}

/* ---- the set ------------------------------------------------------------ */

static void tally_free(const struct tally_set *set, struct tally *tally)
{
    for (size_t i = 0; i < tally->n_axes; i++) {
        storm_free(set->memory, tally->axes[i].edges);
        storm_free(set->memory, tally->axes[i].turns);
    }
    storm_free(set->memory, tally->name);
    storm_free(set->memory, tally->limbs);
    storm_free(set->memory, tally->packets);
}

void tally_clear(struct tally_set *set)
{
    for (size_t i = 0; i < set->n; i++)
        tally_free(set, &set->tallies[i]);
    storm_free(set->memory, set->tallies);
    set->tallies = NULL;
    set->n = set->capacity = 0;
}

void tally_pop(struct tally_set *set)
{
    tally_free(set, &set->tallies[--set->n]);
}

static storm_status tally_make(struct tally_set *set,
                               const struct storm_tally *from,
                               const struct tally_world *world,
                               struct tally *tally)
{
    storm_status status = STORM_OK;
    size_t bytes = strlen(from->name) + 1;
    tally->own = *from;
    tally->own.time_edges_s = tally->own.mu_edges = NULL;
    make_frame(from->axis, tally->frame);
    tally->name = storm_alloc(set->memory, tally_label, bytes);
    if (tally->name == NULL)
        return STORM_ERR_NOMEM;
    memcpy(tally->name, from->name, bytes);
    tally->own.name = tally->name;
    tally->n_bins = 1;
    for (int by = 0; by < STORM_TALLY_N_BY && status == STORM_OK; by++) {
        if (!has(from, (storm_tally_by)by))
            continue;
        struct tally_axis *axis = &tally->axes[tally->n_axes++];
        axis->by = (storm_tally_by)by;
        status = axis_make(set, from, world, axis);
        if (status == STORM_OK && axis->n_edges > 1)
            axis->per_unit = (double)(axis->n_edges - 1) /
                             (axis->edges[axis->n_edges - 1] - axis->edges[0]);
        if (status == STORM_OK && axis->n_bins > TALLY_MAX_BINS / tally->n_bins)
            status = STORM_ERR_NOMEM;
        tally->n_bins *= axis->n_bins;
    }
    if (status < 0)
        return status;
    tally->packets = storm_alloc(set->memory, tally_label,
                                 tally->n_bins * sizeof *tally->packets);
    if (set->n_limbs > 0)
        tally->limbs = storm_alloc(set->memory, tally_label,
                                   tally->n_bins * (size_t)set->n_limbs *
                                       sizeof *tally->limbs);
    return tally->packets != NULL && (set->n_limbs == 0 || tally->limbs != NULL)
               ? STORM_OK
               : STORM_ERR_NOMEM;
}

storm_status tally_append(struct tally_set *set,
                          const struct storm_tally *tally,
                          const struct tally_world *world)
{
    struct tally next = {.n_axes = 0};
    storm_status status =
        storm_reserve(set->memory, tally_label, sizeof *set->tallies,
                      set->n + 1, (void **)&set->tallies, &set->capacity);
    if (status == STORM_OK)
        status = tally_make(set, tally, world, &next);
    if (status < 0) {
        tally_free(set, &next);
        return status;
    }
    set->tallies[set->n++] = next;
    return STORM_OK;
}

/* ---- the window --------------------------------------------------------- */

storm_status tally_widen(struct tally_set *set, int first, int end)
{
    if (set->n_limbs > 0) {
        int old_end = set->first + set->n_limbs;
        first = first < set->first ? first : set->first;
        end = end > old_end ? end : old_end;
    }
    int n = end - first, ahead = set->first - first;
    if (n == set->n_limbs)
        return STORM_OK;
    int64_t **wider =
        storm_alloc(set->memory, tally_label, (set->n + 1) * sizeof *wider);
    bool ok = wider != NULL;
    for (size_t i = 0; i < set->n && ok; i++) {
        wider[i] =
            storm_alloc(set->memory, tally_label,
                        set->tallies[i].n_bins * (size_t)n * sizeof **wider);
        ok = wider[i] != NULL;
    }
    for (size_t i = 0; i < set->n && ok && set->n_limbs > 0; i++)
        for (size_t bin = 0; bin < set->tallies[i].n_bins; bin++)
            memcpy(&wider[i][bin * (size_t)n + (size_t)ahead],
                   &set->tallies[i].limbs[bin * (size_t)set->n_limbs],
                   (size_t)set->n_limbs * sizeof **wider);
    for (size_t i = 0; i < set->n && wider != NULL; i++) {
        storm_free(set->memory, ok ? set->tallies[i].limbs : wider[i]);
        if (ok)
            set->tallies[i].limbs = wider[i];
    }
    storm_free(set->memory, wider);
    if (!ok)
        return STORM_ERR_NOMEM;
    set->first = first;
    set->n_limbs = n;
    tally_carry(set); /* what was the last limb may have more than 32 bits */
    return STORM_OK;
}

storm_status tally_begin(struct tally_set *set, struct storm_exact_unit unit)
{
    int first = storm_ledger_limb(unit);
    set->unit = unit;
    if (set->is_lost)
        return STORM_ERR_NOMEM;
    return tally_widen(set, first, first + STORM_LEDGER_SPREAD);
}

void tally_carry(struct tally_set *set)
{
    for (size_t i = 0; i < set->n && set->n_limbs > 0; i++)
        for (size_t bin = 0; bin < set->tallies[i].n_bins; bin++)
            storm_ledger_carry_limbs(&set->tallies[i]
                                          .limbs[bin * (size_t)set->n_limbs],
                                     set->n_limbs);
    set->n_since_carry = 0;
}

/* ---- adding ------------------------------------------------------------- */

/* Number of edges up to x. Of equal bins the first guess is right but for
 * roundings. */
static size_t count_edges(const struct tally_axis *axis, double x)
{
    size_t low = 0, high = axis->n_edges;
    double guess = (x - axis->edges[0]) * axis->per_unit;
    if (guess >= 0.0 && guess < (double)(axis->n_edges - 1)) {
        size_t i = (size_t)guess;
        if (axis->edges[i] <= x && x < axis->edges[i + 1])
            return i + 1;
    }
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (axis->edges[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The bin of x: intervals contain their lower edge. */
static size_t find_interval(const struct tally_axis *axis, double x)
{
    size_t low = count_edges(axis, x);
    if (axis->by == STORM_TALLY_MU && low == axis->n_edges &&
        x == axis->edges[low - 1] && x >= 1.0)
        low--; /* no cosine is above 1: the last bin has it */
    if (axis->has_ends)
        return low;
    return low == 0 ? 0 : low >= axis->n_edges ? axis->n_bins - 1 : low - 1;
}

static size_t axis_find(const struct tally_set *set, const struct tally *tally,
                        const struct tally_axis *axis,
                        const struct tally_event *event)
{
    double time = event->time_s;
    switch (axis->by) {
    case STORM_TALLY_TIME:
        for (int d = 0; d < 3 && tally->own.observer; d++)
            time -= event->direction[d] *
                    (event->position_cm[d] - tally->own.origin_cm[d]) /
                    set->light_cm_s;
        return find_interval(axis, time);
    case STORM_TALLY_GROUP:
        return (size_t)event->group;
    case STORM_TALLY_MU:
        return find_interval(axis, dot(event->direction, tally->frame[2]));
    case STORM_TALLY_AZIMUTH:
        return find_interval(axis,
                             diamond(dot(event->direction, tally->frame[0]),
                                     dot(event->direction, tally->frame[1])));
    case STORM_TALLY_WALL:
        return event->wall >= 0 ? (size_t)event->wall : axis->n_bins - 1;
    case STORM_TALLY_SIDE:
    case STORM_TALLY_N_BY:
        break;
    }
    return (size_t)event->side;
}

size_t tally_bin(const struct tally_set *set, const struct tally *tally,
                 const struct tally_event *event)
{
    size_t bin = 0;
    for (size_t i = 0; i < tally->n_axes; i++)
        bin = bin * tally->axes[i].n_bins +
              axis_find(set, tally, &tally->axes[i], event);
    return bin;
}

void tally_add(struct tally_set *set, struct tally *tally,
               const struct tally_event *event,
               const struct storm_ledger_parts *parts)
{
    size_t bin = tally_bin(set, tally, event);
    int64_t *limbs = &tally->limbs[bin * (size_t)set->n_limbs];
    STORM_ASSERT(bin < tally->n_bins);
    storm_ledger_add_parts(&limbs[storm_ledger_limb(set->unit) - set->first],
                           parts);
    tally->packets[bin]++;
    if (STORM_UNLIKELY(++set->n_since_carry >= tally_carry_after))
        tally_carry(set);
}

/* ---- sums --------------------------------------------------------------- */

struct storm_ledger tally_ledger(const struct tally_set *set,
                                 const int64_t *limbs)
{
    struct storm_ledger ledger = {.n_since_carry = 0};
    for (int i = 0; i < set->n_limbs; i++)
        ledger.limb[set->first + i] = limbs[i];
    return ledger;
}

struct storm_ledger tally_integral(const struct tally_set *set,
                                   const struct tally *tally,
                                   const int64_t *limbs)
{
    struct storm_ledger sum = {.n_since_carry = 0};
    for (size_t bin = 0; bin < tally->n_bins && set->n_limbs > 0; bin++) {
        for (int i = 0; i < set->n_limbs; i++)
            sum.limb[set->first + i] +=
                limbs[bin * (size_t)set->n_limbs + (size_t)i];
        if (bin % 1024 == 1023)
            storm_ledger_carry(&sum);
    }
    storm_ledger_carry(&sum);
    return sum;
}

/* ---- hash --------------------------------------------------------------- */

static uint64_t fold_reals(uint64_t hash, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = storm_hash_fold_real(hash, values[i] + 0.0); /* no -0 */
    return hash;
}

static uint64_t fold_shape(uint64_t hash, const struct storm_shape *s)
{
    hash = storm_hash_fold(hash, (uint64_t)s->kind);
    if (s->kind == STORM_SHAPE_BOX) {
        hash = fold_reals(hash, s->lo_cm, 3);
        return fold_reals(hash, s->hi_cm, 3);
    }
    if (s->kind == STORM_SHAPE_CYLINDER)
        hash = fold_reals(storm_hash_fold(hash, (uint64_t)s->axis), s->range_cm,
                          2);
    if (s->kind != STORM_SHAPE_ALL) {
        hash = fold_reals(hash, s->radius_cm, 2);
        hash = fold_reals(hash, s->centre_cm,
                          s->kind == STORM_SHAPE_SPHERE ? 3 : 2);
    }
    return hash;
}

static uint64_t fold_tally(uint64_t hash, const struct tally *tally)
{
    const struct storm_tally *t = &tally->own;
    for (const char *c = tally->name; *c != '\0'; c++)
        hash = storm_hash_fold(hash, (unsigned char)*c);
    hash = storm_hash_fold(hash, (uint64_t)t->where);
    hash = storm_hash_fold(hash, t->by);
    for (size_t i = 0; i < tally->n_axes; i++) {
        const struct tally_axis *axis = &tally->axes[i];
        hash = storm_hash_fold(hash, axis->n_bins);
        hash = fold_reals(hash, axis->edges, axis->n_edges);
    }
    if (has(t, STORM_TALLY_TIME) && t->observer)
        hash = fold_reals(hash, t->origin_cm, 3);
    if (has(t, STORM_TALLY_MU) || has(t, STORM_TALLY_AZIMUTH))
        hash = fold_reals(hash, tally->frame[2], 3);
    if (t->where == STORM_TALLY_SURFACE) {
        hash = fold_shape(hash, &t->shape);
        hash = storm_hash_fold(hash,
                               t->one_material ? (uint64_t)t->material + 1 : 0);
    }
    return hash;
}

uint64_t tally_hash(const struct tally_set *set)
{
    uint64_t hash = storm_hash_fold(0, set->n);
    for (size_t i = 0; i < set->n; i++)
        hash = fold_tally(hash, &set->tallies[i]);
    return hash;
}
