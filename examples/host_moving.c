/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; timeout: 60 */
/*
 * A host that moves its mesh: gas on moving Voronoi cells, and packets that
 * stream through them.
 *
 *   cc host_moving.c $(pkg-config --cflags --libs storm) -lm
 *   mpiexec -n 3 ./a.out
 *
 * A hot spot explodes in a box. The gas (HLLC fluxes through the faces) and the
 * packets (free streaming) have a partition each: cells are moved to the one
 * for the packets, then to that for the gas, in every step. The sums that must
 * not change are printed; the hash at the end is the same on any number of
 * ranks.
 *
 * What to see: cuts, and what follows a change - arrays of the host
 * (storm_mesh_carry), values of neighbours (storm_mesh_ghosts), packets
 * (storm_remap).
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include <storm/storm.h>

enum { N_CELLS = 2000, N_STEPS = 20 };
static const double gamma_gas = 5.0 / 3.0;
static const double dt_s = 1e-3, light_cm_s = 20.0;

/* What a cell has: conserved, in the whole cell. */
struct gas {
    double mass, momentum[3], energy;
};

/* What its neighbours need of it; v is also how its generator moves. */
struct state {
    double rho, v[3], pressure;
    storm_cell_id tag;
};

struct host {
    struct storm_context *context;
    struct storm_mesh *mesh;
    struct storm_cut *gas_cut, *packet_cut;
    struct storm_streaming *streaming;
    struct storm_engine *engine;
    struct gas *gas;              /* by local cell */
    struct state *state, *ghosts; /* by local cell, by ghost */
    struct storm_remap_stats remap;
};

/* Every call below can fail, on all ranks together; the reason is logged. */
static void must(storm_status status)
{
    if (status < 0) {
        fprintf(stderr, "host_moving: %s\n", storm_status_name(status));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void *array(storm_cell_idx n, size_t bytes)
{
    void *memory = calloc((size_t)n + 1, bytes);
    if (memory == NULL)
        must(STORM_ERR_NOMEM);
    return memory;
}

/* ---- the mesh changes --------------------------------------------------- */

/* The gas and the packets go where their cells went. */
static void follow(struct host *host, struct storm_change *change)
{
    struct storm_remap_stats stats = STORM_REMAP_STATS_INIT;
    struct gas *gas = array(storm_mesh_n_cells(host->mesh), sizeof *gas);
    must(storm_mesh_carry(host->mesh, change, sizeof *gas, host->gas, gas));
    free(host->gas);
    host->gas = gas;
    must(storm_remap(host->engine, host->mesh, change, NULL, &stats));
    host->remap.fixed += stats.fixed;
    host->remap.walked += stats.walked;
    host->remap.moved += stats.moved;
    storm_change_destroy(change);
}

static void use(struct host *host, struct storm_cut *cut)
{
    struct storm_change *change;
    must(storm_mesh_use(host->mesh, cut, &change));
    follow(host, change);
}

/* Generators move with the gas, and stay away from the walls. */
static void move(struct host *host)
{
    storm_cell_idx n = storm_mesh_n_cells(host->mesh);
    double(*x)[3] = array(n, sizeof *x);
    struct storm_change *change;
    for (storm_cell_idx i = 0; i < n; i++) {
        must(storm_mesh_generator(host->mesh, i, x[i]));
        for (int d = 0; d < 3; d++) {
            x[i][d] += host->state[i].v[d] * dt_s;
            x[i][d] = fmin(fmax(x[i][d], 0.001), 0.999);
        }
    }
    must(storm_mesh_move(host->mesh, &x[0][0], NULL, &change));
    free(x);
    follow(host, change);
}

/* ---- gas ---------------------------------------------------------------- */

static void find_states(struct host *host)
{
    storm_cell_idx n = storm_mesh_n_cells(host->mesh), n_ghosts;
    must(storm_mesh_n_ghosts(host->mesh, &n_ghosts));
    free(host->state);
    free(host->ghosts);
    host->state = array(n, sizeof *host->state);
    host->ghosts = array(n_ghosts, sizeof *host->ghosts);
    for (storm_cell_idx i = 0; i < n; i++) {
        const struct gas *gas = &host->gas[i];
        struct state *s = &host->state[i];
        double volume = storm_mesh_volume_cm3(host->mesh, i), kinetic = 0.0;
        s->tag = storm_mesh_cell_id(host->mesh, i);
        s->rho = gas->mass / volume;
        for (int d = 0; d < 3; d++) {
            s->v[d] = gas->momentum[d] / gas->mass;
            kinetic += 0.5 * gas->momentum[d] * s->v[d];
        }
        s->pressure =
            fmax((gamma_gas - 1.0) * (gas->energy - kinetic) / volume, 1e-12);
    }
    must(storm_mesh_ghosts(host->mesh, sizeof *host->state, host->state,
                           host->ghosts));
}

static double along(const double v[3], const double normal[3])
{
    return v[0] * normal[0] + v[1] * normal[1] + v[2] * normal[2];
}

/* Conserved densities of one side, and what they carry through a face. */
struct side {
    double u[5], flux[5], speed, sound;
};

/* Velocities are relative to the face, which moves with `w`. */
static struct side make_side(const struct state *s, const double normal[3],
                             const double w[3])
{
    struct side side;
    double v[3], square = 0.0;
    for (int d = 0; d < 3; d++) {
        v[d] = s->v[d] - w[d];
        square += v[d] * v[d];
    }
    side.speed = along(v, normal);
    side.sound = sqrt(gamma_gas * s->pressure / s->rho);
    side.u[0] = s->rho;
    for (int d = 0; d < 3; d++)
        side.u[1 + d] = s->rho * v[d];
    side.u[4] = s->pressure / (gamma_gas - 1.0) + 0.5 * s->rho * square;
    for (int k = 0; k < 5; k++)
        side.flux[k] = side.u[k] * side.speed;
    for (int d = 0; d < 3; d++)
        side.flux[1 + d] += s->pressure * normal[d];
    side.flux[4] += s->pressure * side.speed;
    return side;
}

/* The flux in the region behind the contact, of the side with signal s_k. */
static void star_flux(const struct side *k, double s_k, double s_star,
                      double pressure, const double normal[3], double out[5])
{
    double rho = k->u[0] * (s_k - k->speed) / (s_k - s_star), star[5];
    star[0] = rho;
    for (int d = 0; d < 3; d++)
        star[1 + d] =
            rho * (k->u[1 + d] / k->u[0] + (s_star - k->speed) * normal[d]);
    star[4] = rho * (k->u[4] / k->u[0] +
                     (s_star - k->speed) *
                         (s_star + pressure / (k->u[0] * (s_k - k->speed))));
    for (int i = 0; i < 5; i++)
        out[i] = k->flux[i] + s_k * (star[i] - k->u[i]);
}

/* HLLC (Toro, Spruce and Speares 1994), per area and time, from a to b, for a
 * face that moves with w; then back to the frame at rest. */
static void hllc(const struct state *a, const struct state *b,
                 const double normal[3], const double w[3], double out[5])
{
    struct side l = make_side(a, normal, w), r = make_side(b, normal, w);
    double s_l = fmin(l.speed - l.sound, r.speed - r.sound);
    double s_r = fmax(l.speed + l.sound, r.speed + r.sound);
    double s_star =
        (b->pressure - a->pressure + a->rho * l.speed * (s_l - l.speed) -
         b->rho * r.speed * (s_r - r.speed)) /
        (a->rho * (s_l - l.speed) - b->rho * (s_r - r.speed));
    if (s_l >= 0.0)
        memcpy(out, l.flux, sizeof l.flux);
    else if (s_r <= 0.0)
        memcpy(out, r.flux, sizeof r.flux);
    else if (s_star >= 0.0)
        star_flux(&l, s_l, s_star, a->pressure, normal, out);
    else
        star_flux(&r, s_r, s_star, b->pressure, normal, out);
    out[4] += along(w, &out[1]) + 0.5 * along(w, w) * out[0];
    for (int d = 0; d < 3; d++)
        out[1 + d] += w[d] * out[0];
}

/* What leaves cell i through a face. Both cells compute it from the cell of
 * lower tag, so that both get the same bits. */
static void face_flux(const struct host *host, storm_cell_idx i,
                      const struct storm_face *face, double out[5])
{
    const struct state *mine = &host->state[i], *other;
    double normal[3], w[3], sign = 1.0;
    if (face->rank < 0) { /* a wall: pressure alone */
        memset(out, 0, 5 * sizeof *out);
        for (int d = 0; d < 3; d++)
            out[1 + d] = mine->pressure * face->normal[d];
        return;
    }
    other = face->ghost >= 0 ? &host->ghosts[face->ghost]
                             : &host->state[face->neighbour];
    if (other->tag < mine->tag)
        sign = -1.0;
    for (int d = 0; d < 3; d++) {
        normal[d] = sign * face->normal[d];
        w[d] = 0.5 * (mine->v[d] + other->v[d]);
    }
    hllc(sign > 0.0 ? mine : other, sign > 0.0 ? other : mine, normal, w, out);
    for (int k = 0; k < 5; k++)
        out[k] *= sign;
}

/* Godunov's scheme on the mesh as it is; the faces move with the gas. */
static void advance_gas(struct host *host)
{
    storm_cell_idx n = storm_mesh_n_cells(host->mesh);
    find_states(host);
    for (storm_cell_idx i = 0; i < n; i++)
        for (int k = 0; k < storm_mesh_n_faces(host->mesh, i); k++) {
            struct storm_face face = STORM_FACE_INIT;
            double flux[5];
            must(storm_mesh_face(host->mesh, i, k, &face));
            face_flux(host, i, &face, flux);
            double factor = face.area_cm2 * dt_s;
            host->gas[i].mass -= factor * flux[0];
            for (int d = 0; d < 3; d++)
                host->gas[i].momentum[d] -= factor * flux[1 + d];
            host->gas[i].energy -= factor * flux[4];
        }
}

/* ---- report ------------------------------------------------------------- */

static void report(struct host *host, int step)
{
    double sum[3] = {0.0};
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(host->mesh); i++) {
        sum[0] += host->gas[i].mass;
        sum[1] += host->gas[i].energy;
    }
    size_t n;
    void *const *packets = storm_engine_packets(host->engine, &n);
    for (size_t i = 0; i < n; i++)
        sum[2] += ((const struct storm_packet *)packets[i])->weight_erg;
    uint64_t n_packets = n;
    MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &n_packets, 1, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    if (storm_context_rank(host->context) == 0)
        printf("%4d  mass %.12f  gas %.12f  packets %" PRIu64
               " with %.12f erg\n",
               step, sum[0], sum[1], n_packets, sum[2]);
}

/* Bits of all cells, by their tags, and of all packets. */
static uint64_t hash_host(const struct host *host)
{
    uint64_t sum = 0;
    size_t n;
    void *const *packets = storm_engine_packets(host->engine, &n);
    for (size_t i = 0; i < n; i++)
        sum += storm_packet_hash(packets[i]);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(host->mesh); i++) {
        uint64_t words[5], hash = storm_mesh_cell_id(host->mesh, i);
        memcpy(words, &host->gas[i], sizeof words);
        for (int k = 0; k < 5; k++)
            hash = (hash ^ words[k]) * UINT64_C(0x9e3779b97f4a7c15);
        sum += hash ^ hash >> 32;
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* ---- life --------------------------------------------------------------- */

/* Gas at rest, hot in the middle. */
static void begin(struct host *host)
{
    storm_cell_idx n = storm_mesh_n_cells(host->mesh);
    host->gas = array(n, sizeof *host->gas);
    for (storm_cell_idx i = 0; i < n; i++) {
        double x[3], r2 = 0.0, v = storm_mesh_volume_cm3(host->mesh, i);
        storm_mesh_centre(host->mesh, i, x);
        for (int d = 0; d < 3; d++)
            r2 += (x[d] - 0.5) * (x[d] - 0.5);
        host->gas[i].mass = v;
        host->gas[i].energy = v * (r2 < 0.01 ? 20.0 : 1.0) / (gamma_gas - 1.0);
    }
}

static void open_host(struct host *host)
{
    int rank = storm_context_rank(host->context);
    int size = storm_context_size(host->context);
    uint64_t first = (uint64_t)N_CELLS * (uint64_t)rank / (uint64_t)size;
    uint64_t end = (uint64_t)N_CELLS * (uint64_t)(rank + 1) / (uint64_t)size;
    struct storm_points_params points = STORM_POINTS_PARAMS_INIT;
    struct storm_voronoi_params voronoi = STORM_VORONOI_PARAMS_INIT;
    struct storm_streaming_params streaming = STORM_STREAMING_PARAMS_INIT;
    struct storm_engine_params engine = STORM_ENGINE_PARAMS_INIT;
    double *x = array((storm_cell_idx)(3 * (end - first)), sizeof *x);
    points.seed = 1;
    points.n_total = N_CELLS;
    for (int d = 0; d < 3; d++)
        points.hi_cm[d] = voronoi.hi_cm[d] = 1.0;
    must(storm_points_make(&points, first, end - first, x));
    voronoi.points_cm = x;
    voronoi.n_points = end - first;
    voronoi.lloyd = 5;
    must(storm_mesh_create_voronoi(host->context, &voronoi, &host->mesh));
    free(x);
    must(storm_cut_create(host->mesh, &host->gas_cut));
    must(storm_cut_create(host->mesh, &host->packet_cut));
    streaming.speed_cm_s = light_cm_s;
    streaming.dt_s = dt_s;
    streaming.emit_per_cell = 2;
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        streaming.walls[wall] = STORM_WALL_REFLECT;
    must(storm_streaming_create(host->context, host->mesh, &streaming,
                                &host->streaming));
    engine.record_bytes = sizeof(struct storm_packet);
    must(storm_engine_create(host->context, &engine, &host->engine));
    must(storm_streaming_attach(host->streaming, host->engine));
    begin(host);
}

static void close_host(struct host *host)
{
    storm_engine_destroy(host->engine);
    storm_streaming_destroy(host->streaming);
    storm_mesh_destroy(host->mesh); /* and its cuts */
    free(host->gas);
    free(host->state);
    free(host->ghosts);
}

/* Packets in the middle cost more: more of them stay there. */
static uint64_t packet_weight(void *self, storm_cell_idx cell)
{
    const struct host *host = self;
    double x[3];
    storm_mesh_centre(host->mesh, cell, x);
    return fabs(x[0] - 0.5) < 0.2 ? 3 : 1;
}

int main(int argc, char **argv)
{
    struct host host = {.remap = STORM_REMAP_STATS_INIT};
    MPI_Init(&argc, &argv);
    must(storm_context_create(MPI_COMM_WORLD, NULL, &host.context));
    open_host(&host);
    for (int step = 1; step <= N_STEPS; step++) {
        storm_cut_fill(host.packet_cut, packet_weight, &host);
        use(&host, host.packet_cut);
        must(storm_engine_step(host.engine));
        use(&host, host.gas_cut);
        advance_gas(&host);
        move(&host);
        report(&host, step);
    }
    uint64_t hash = hash_host(&host);
    if (storm_context_rank(host.context) == 0)
        printf("packets fixed by index %" PRIu64 ", by walking %" PRIu64
               ", sent to another rank %" PRIu64 "\nhash %016" PRIx64 "\n",
               host.remap.fixed, host.remap.walked, host.remap.moved, hash);
    close_host(&host);
    storm_context_destroy(host.context);
    MPI_Finalize();
    return 0;
}
