/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; timeout: 60; label: slow-asan */
/* TEST ranks: 1 2 5; timeout: 60; label: long */
/*
 * Walls and sources of a host (USER-1 to USER-4), on boxes and Voronoi cells.
 *
 * Reflecting walls, whole and in parts, and a blackbody, rebuilt from a
 * function for the wall and one for the source: the state of the bundled ones,
 * bit for bit. Periodic walls rebuilt by moving packets to the other side: the
 * same on boxes. Walls that take a part of the weight, give more, change group
 * and direction at random, move packets to any place: on these ranks the same
 * bits as on one, and energy closes to 1e-14. What a host may not do ends the
 * step on all ranks, with one message that names the values.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <storm/imc_user.h>

#include "base/math.h"
#include "physics/split.h"
#include "run/run_points.h"
#include "support/check.h"
#include "support/imc_box.h"

enum { STEPS = 4, WALL_PACKETS = 512, N_GROUPS = 3 };
static const double dt_s = 0.2;

static const struct storm_material materials[] = {
    {.name = "thin",
     .absorption = {.coef = 1, .max = STORM_UNLIMITED},
     .scattering = {.coef = 2, .max = STORM_UNLIMITED},
     .heat_capacity = {.coef = 1, .max = STORM_UNLIMITED},
     .temperature_kev = 0.5,
     .radiation_temperature_kev = -1},
    {.name = "thick",
     .absorption = {.coef = 5, .max = STORM_UNLIMITED},
     .heat_capacity = {.coef = 2, .max = STORM_UNLIMITED},
     .temperature_kev = 0.3,
     .radiation_temperature_kev = -1},
};
static const double one_kev[2] = {0.0, 1.0};
static const struct storm_wall_part mirror = {.kind = STORM_WALL_REFLECT},
                                    user = {.kind = STORM_WALL_USER},
                                    periodic = {.kind = STORM_WALL_PERIODIC},
                                    black = {.kind = STORM_WALL_BLACKBODY,
                                             .temperature = {one_kev, 1},
                                             .stop_s = STORM_UNLIMITED,
                                             .packets = WALL_PACKETS};
static const struct storm_shape half = {
    .kind = STORM_SHAPE_BOX, .lo_cm = {-1, -1, -1}, .hi_cm = {2, 0.4, 2}};

static struct storm_problem problem_of(void)
{
    return (struct storm_problem){STORM_PROBLEM_SIZES,
                                  .light_cm_s = 1,
                                  .radiation_erg_cm3_kev4 = 1,
                                  .hi_cm = {1, 1, 1},
                                  .materials = materials,
                                  .n_materials = 2,
                                  .regions = imc_box_regions,
                                  .n_regions = IMC_BOX_REGIONS,
                                  .n_groups = N_GROUPS,
                                  .group_min_kev = 0.1,
                                  .group_max_kev = 10,
                                  .emit_per_cell = 3,
                                  .min_per_cell = 2,
                                  .max_per_cell = 8,
                                  .comb = true,
                                  .seed = 4};
}

enum mesh_kind { CART, VORONOI };

static struct storm_mesh *mesh_of(struct storm_context *context,
                                  enum mesh_kind kind, bool is_periodic)
{
    struct storm_mesh *mesh;
    struct storm_cart_params cart = {.size = sizeof cart,
                                     .hi_cm = {1, 1, 1},
                                     .n = {6, 5, 4},
                                     .periodic = {is_periodic}};
    struct storm_points_params set = {
        .size = sizeof set, .seed = 3, .n_total = 120, .hi_cm = {1, 1, 1}};
    struct storm_voronoi_params voronoi = {.size = sizeof voronoi,
                                           .hi_cm = {1, 1, 1}};
    if (kind == CART)
        CHECK_OK(storm_mesh_create_cart(context, &cart, &mesh));
    else
        CHECK_OK(run_points_mesh(context, &set, &voronoi, &mesh));
    return mesh;
}

/* What a host has set. */
struct host {
    const struct storm_imc_walls *walls;
    const struct storm_imc_source *source;
};

static uint64_t run_on(MPI_Comm comm, enum mesh_kind kind,
                       const struct storm_problem *problem,
                       const struct host *host)
{
    struct imc_box box = {.problem = *problem};
    double energy[4];
    const struct storm_wall *x_lo = &problem->walls[0];
    bool is_periodic =
        x_lo->n == 1 && x_lo->parts[0].kind == STORM_WALL_PERIODIC;
    CHECK_OK(storm_context_create(comm, NULL, &box.context));
    box.mesh = mesh_of(box.context, kind, is_periodic);
    imc_box_open(&box);
    if (host != NULL && host->walls != NULL)
        CHECK_OK(storm_imc_set_walls(box.imc, host->walls));
    if (host != NULL && host->source != NULL)
        CHECK_OK(storm_imc_set_source(box.imc, host->source));
    CHECK_OK(storm_imc_start(box.imc, box.engine));
    for (int i = 0; i < STEPS; i++)
        CHECK(imc_box_step(&box, i * dt_s, dt_s, energy) <= 1e-14);
    uint64_t hash = imc_box_hash(&box);
    imc_box_close(&box);
    return hash;
}

/* The bundled problem on one rank, the host's on all. */
static void check_same(enum mesh_kind kind, const struct storm_problem *bundled,
                       const struct storm_problem *rebuilt,
                       const struct host *host)
{
    CHECK_EQ(run_on(MPI_COMM_WORLD, kind, rebuilt, host),
             run_on(MPI_COMM_SELF, kind, bundled, NULL));
}

/* ---- reflecting walls --------------------------------------------------- */

static storm_wall_answer say_mirror(void *self,
                                    const struct storm_wall_hit *hit,
                                    struct storm_packet *packet)
{
    (void)self;
    (void)hit;
    (void)packet;
    return STORM_WALL_MIRROR;
}

static storm_wall_answer turn_back(void *self, const struct storm_wall_hit *hit,
                                   struct storm_packet *packet)
{
    int axis = hit->wall / 2;
    (void)self;
    CHECK(hit->normal[axis] == (hit->wall % 2 ? 1.0 : -1.0));
    CHECK(hit->normal[axis] * packet->direction[axis] > 0.0);
    CHECK(packet->position_cm[axis] == (hit->wall % 2 ? 1.0 : 0.0));
    packet->direction[axis] = -packet->direction[axis];
    return STORM_WALL_TURN;
}

static void check_mirrors(enum mesh_kind kind)
{
    struct storm_problem bundled = problem_of(), rebuilt = problem_of();
    struct storm_wall_part parts[2] = {mirror, user};
    parts[0].shape = parts[1].shape = half;
    bundled.walls[0] = (struct storm_wall){&mirror, 1};
    bundled.walls[3] = (struct storm_wall){&mirror, 1};
    bundled.walls[4] = (struct storm_wall){&parts[0], 1};
    rebuilt.walls[0] = (struct storm_wall){&user, 1};
    rebuilt.walls[3] = (struct storm_wall){&user, 1};
    rebuilt.walls[4] = (struct storm_wall){&parts[1], 1};
    struct storm_imc_walls walls = {.size = sizeof walls, .apply = say_mirror};
    check_same(kind, &bundled, &rebuilt, &(struct host){.walls = &walls});
    walls.apply = turn_back;
    check_same(kind, &bundled, &rebuilt, &(struct host){.walls = &walls});
}

/* ---- a blackbody -------------------------------------------------------- */

static storm_wall_answer take(void *self, const struct storm_wall_hit *hit,
                              struct storm_packet *packet)
{
    (void)self;
    (void)hit;
    (void)packet;
    return STORM_WALL_TAKE;
}

/* The spectrum at 1 keV of three groups with edges at 0.1, 0.464, 2.15, 10
 * keV: the bundled one bisects; so does this, with its own integral. */
static double planck_below(double x)
{
    double sum = 0.0; /* geometric series */
    for (int n = 1; n <= 2000; n++)
        sum += exp(-n * x) *
               (((x / n + 3.0 / ((double)n * n)) * x + 6.0 / pow(n, 3)) * x +
                6.0 / pow(n, 4));
    return 1.0 - sum * 15.0 / pow(3.14159265358979323846, 4);
}

static int32_t planck_group(double u)
{
    double ratio = log(100.0) / N_GROUPS;
    int32_t g = 0;
    while (g + 1 < N_GROUPS && planck_below(0.1 * exp(ratio * (g + 1))) < u)
        g++;
    return g;
}

/* Packet k of the wall x_lo: as docs/physics.md has it, by a comb over tiles of
 * equal area, evenly in each, with the cosine law. */
static struct storm_packet wall_packet(uint64_t seed, uint64_t step, uint64_t k,
                                       double offset)
{
    enum { TILES = 64 };
    double u[4], v[4], w[4], circle[3];
    double place =
        ((double)k + offset) * (TILES * TILES / (double)WALL_PACKETS);
    size_t tile = (size_t)place;
    struct storm_packet p = {
        .id = storm_packet_id_make(STORM_ORIGIN_BOUNDARY, step, 0, k),
        .cell_idx = -1};
    storm_random(seed, STORM_STREAM_BIRTH, p.id, 0, u);
    storm_random(seed, STORM_STREAM_BIRTH, p.id, 1, v);
    storm_random(seed, STORM_STREAM_BIRTH, p.id, 2, w);
    p.position_cm[1] = ((double)(tile % TILES) + u[0]) / TILES;
    p.position_cm[2] = ((double)(tile / TILES) + u[1]) / TILES;
    storm_isotropic(0.5, v[1], circle);
    double across = sqrt(1.0 - v[0]);
    p.direction[0] = sqrt(v[0]);
    p.direction[1] = across * circle[0];
    p.direction[2] = across * circle[1];
    p.optical_depth = -storm_log(v[2]);
    p.group = planck_group(w[0]);
    return p;
}

static double wall_erg(double from_s, double to_s)
{
    return 0.25 * (to_s - from_s); /* a = c = T = area = 1 */
}

static storm_status emit_wall(void *self, struct storm_imc_births *births)
{
    uint64_t step, seed = *(const uint64_t *)self;
    double time_s, length_s, u[4];
    storm_imc_births_step(births, &step, &time_s, &length_s);
    double end_s = time_s + length_s;
    struct storm_split split =
        storm_split(wall_erg(time_s, end_s), WALL_PACKETS);
    struct storm_packet_id key = {.hi = step, .lo = UINT64_MAX / 2};
    storm_random(seed, STORM_STREAM_POPULATION, key, 0, u);
    double offset = u[0];
    for (uint64_t k = 0; k < WALL_PACKETS; k++) {
        struct storm_packet p = wall_packet(seed, step, k, offset);
        storm_random(seed, STORM_STREAM_BIRTH, p.id, 0, u);
        p.time_left_s = end_s - (time_s + u[3] * (end_s - time_s));
        p.weight_erg = k + 1 < WALL_PACKETS ? split.each : split.last;
        storm_status status = storm_imc_emit(births, &p);
        if (status < 0)
            return status;
    }
    return STORM_OK;
}

static void check_blackbody(enum mesh_kind kind)
{
    struct storm_problem bundled = problem_of(), rebuilt = problem_of();
    bundled.walls[0] = (struct storm_wall){&black, 1};
    rebuilt.walls[0] = (struct storm_wall){&user, 1};
    struct storm_imc_walls walls = {.size = sizeof walls, .apply = take};
    struct storm_imc_source source = {.size = sizeof source,
                                      .self = &rebuilt.seed,
                                      .max_weight_erg = 1.0,
                                      .emit = emit_wall};
    check_same(kind, &bundled, &rebuilt,
               &(struct host){.walls = &walls, .source = &source});
}

/* ---- to other places ---------------------------------------------------- */

static storm_wall_answer go_round(void *self, const struct storm_wall_hit *hit,
                                  struct storm_packet *packet)
{
    (void)self;
    packet->position_cm[0] = hit->wall == 0 ? 1.0 : 0.0;
    return STORM_WALL_MOVE;
}

/* Without emission, whose slopes see neighbours through periodic walls. */
static void check_periodic(void)
{
    struct storm_problem bundled = problem_of();
    bundled.emit_per_cell = 0;
    struct storm_problem rebuilt = bundled;
    for (int w = 0; w < 2; w++) {
        bundled.walls[w] = (struct storm_wall){&periodic, 1};
        rebuilt.walls[w] = (struct storm_wall){&user, 1};
    }
    struct storm_imc_walls walls = {.size = sizeof walls, .apply = go_round};
    check_same(CART, &bundled, &rebuilt, &(struct host){.walls = &walls});
}

/* All that a wall may do, at random. */
static storm_wall_answer do_anything(void *self,
                                     const struct storm_wall_hit *hit,
                                     struct storm_packet *packet)
{
    double u[4], v[4];
    (void)self;
    storm_packet_random(packet, hit->seed, u);
    storm_packet_random(packet, hit->seed, v);
    if (u[0] < 0.1)
        return STORM_WALL_TAKE;
    packet->weight_erg *= u[0] < 0.3 ? 3.0 : u[1];
    packet->birth_weight_erg = packet->weight_erg;
    packet->group = (int32_t)(u[2] * N_GROUPS);
    if (u[0] < 0.5)
        return STORM_WALL_MIRROR;
    storm_isotropic(v[0], v[1], packet->direction);
    if (u[0] > 0.75) {
        for (int d = 0; d < 3; d++)
            packet->position_cm[d] = d == 0 ? u[3] : v[d + 1];
        return STORM_WALL_MOVE;
    }
    int axis = hit->wall / 2;
    double across = fabs(packet->direction[axis]);
    packet->direction[axis] = hit->wall % 2 ? -across : across;
    return STORM_WALL_TURN;
}

static void check_anything(enum mesh_kind kind)
{
    struct storm_problem problem = problem_of();
    for (int w = 0; w < STORM_N_WALLS; w++)
        problem.walls[w] = (struct storm_wall){&user, 1};
    struct storm_imc_walls walls = {
        .size = sizeof walls, .apply = do_anything, .max_weight_erg = 1.0};
    const struct host host = {.walls = &walls};
    CHECK_EQ(run_on(MPI_COMM_WORLD, kind, &problem, &host),
             run_on(MPI_COMM_SELF, kind, &problem, &host));
}

/* ---- what a host may not do --------------------------------------------- */

enum fault {
    NO_FUNCTION,
    HEAVY,
    WIDE_BOUND,
    OUTWARDS,
    NO_UNIT,
    NO_GROUP,
    NO_PLACE,
    HEAVY_SOURCE,
    NO_CELL,
    ONE_RANK_ALONE,
    N_FAULTS
};
static const char *const fault_texts[N_FAULTS] = {
    [NO_FUNCTION] = "call storm_imc_set_walls",
    [HEAVY] = "above both its own and the declared bound",
    [WIDE_BOUND] = "max_weight_erg of the walls of the host is 1e+30, more",
    [OUTWARDS] = "a direction that leads out",
    [NO_UNIT] = "a direction that is no unit vector",
    [NO_GROUP] = "a group that does not exist",
    [NO_PLACE] = "a position that is in no cell",
    [HEAVY_SOURCE] = "the declared bound, 1, got 2",
    [NO_CELL] = "is in no cell of the mesh",
    [ONE_RANK_ALONE] = "offered 1 packets on one rank and 0 on another",
};

struct messages {
    int n;
    char text[2048];
};

static void collect(void *self, storm_log_level level, int rank,
                    const char *message)
{
    struct messages *m = self;
    (void)rank;
    if (level != STORM_LOG_ERROR)
        return;
    m->n++;
    size_t used = strlen(m->text);
    snprintf(m->text + used, sizeof m->text - used, "%s\n", message);
}

static storm_wall_answer be_wrong(void *self, const struct storm_wall_hit *hit,
                                  struct storm_packet *packet)
{
    switch (*(const enum fault *)self) {
    case HEAVY:
        packet->weight_erg *= 1.5;
        return STORM_WALL_MIRROR;
    case OUTWARDS:
        return STORM_WALL_TURN;
    case NO_UNIT:
        packet->direction[hit->wall / 2] *= -1.001;
        return STORM_WALL_TURN;
    case NO_GROUP:
        packet->group = N_GROUPS;
        return STORM_WALL_MIRROR;
    case NO_PLACE:
        packet->position_cm[1] = 1.5;
        return STORM_WALL_MOVE;
    default:
        return STORM_WALL_TAKE;
    }
}

static storm_status emit_wrong(void *self, struct storm_imc_births *births)
{
    struct storm_packet p = {
        .id = storm_packet_id_make(STORM_ORIGIN_USER, 0, 0, 0),
        .position_cm = {0.5, 0.5, 0.5},
        .direction = {1.0},
        .weight_erg = 1.0,
        .cell_idx = -1};
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    switch (*(const enum fault *)self) {
    case HEAVY_SOURCE:
        p.weight_erg = 2.0;
        break;
    case NO_CELL:
        p.position_cm[2] = -0.5;
        break;
    case ONE_RANK_ALONE:
        if (rank > 0)
            return STORM_OK;
        break;
    default:
        return STORM_OK;
    }
    (void)storm_imc_emit(births, &p); /* noted all the same */
    return STORM_OK;
}

static void check_fault(enum fault fault)
{
    struct messages messages = {.n = 0};
    struct storm_context_params quiet = {
        .size = sizeof quiet, .log = collect, .log_self = &messages};
    struct imc_box box = {.problem = problem_of()};
    struct storm_imc_walls walls = {
        .size = sizeof walls, .self = &fault, .apply = be_wrong};
    struct storm_imc_source source = {.size = sizeof source,
                                      .self = &fault,
                                      .max_weight_erg = 1.0,
                                      .emit = emit_wrong};
    for (int w = 0; w < STORM_N_WALLS; w++)
        box.problem.walls[w] = (struct storm_wall){&user, 1};
    if (fault == WIDE_BOUND)
        walls.max_weight_erg = 1e30;
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &quiet, &box.context));
    box.mesh = mesh_of(box.context, CART, false);
    imc_box_open(&box);
    if (fault != NO_FUNCTION)
        CHECK_OK(storm_imc_set_walls(box.imc, &walls));
    CHECK_OK(storm_imc_set_source(box.imc, &source));
    CHECK_OK(storm_imc_start(box.imc, box.engine));
    CHECK_OK(storm_imc_set_step(box.imc, 0.0, dt_s));
    CHECK(storm_engine_step(box.engine) < 0);
    int found = strstr(messages.text, fault_texts[fault]) != NULL;
    MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!found)
        printf("%d: %s\n", (int)fault, messages.text);
    CHECK(found);
    imc_box_close(&box);
}

static void check_calls(void)
{
    struct messages messages = {.n = 0};
    struct storm_context_params quiet = {
        .size = sizeof quiet, .log = collect, .log_self = &messages};
    struct imc_box box = {.problem = problem_of()};
    struct storm_imc_walls walls = {.size = sizeof walls};
    struct storm_imc_source source = {.size = sizeof source,
                                      .emit = emit_wrong};
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &quiet, &box.context));
    box.mesh = mesh_of(box.context, CART, false);
    imc_box_open(&box);
    CHECK(storm_imc_set_walls(box.imc, &walls) == STORM_ERR_ARG);
    walls.apply = take;
    walls.max_weight_erg = (double)NAN;
    CHECK(storm_imc_set_walls(box.imc, &walls) == STORM_ERR_ARG);
    walls.size = 0;
    CHECK(storm_imc_set_walls(box.imc, &walls) == STORM_ERR_ARG);
    CHECK(storm_imc_set_source(box.imc, &source) == STORM_ERR_ARG);
    CHECK_OK(storm_imc_set_source(box.imc, NULL));
    imc_box_close(&box);
}

int main(int argc, char **argv)
{
    int n_ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int kind = CART; kind <= VORONOI; kind++) {
        check_mirrors((enum mesh_kind)kind);
        check_blackbody((enum mesh_kind)kind);
        check_anything((enum mesh_kind)kind);
    }
    check_periodic();
    check_calls();
    for (int fault = 0; fault < N_FAULTS; fault++)
        if (fault != ONE_RANK_ALONE || n_ranks > 1)
            check_fault((enum fault)fault);
    MPI_Finalize();
    return CHECK_PASS;
}
