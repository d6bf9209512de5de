/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; backend: shm; timeout: 60 */
/* TEST ranks: 3; backend: p2p; timeout: 60 */
/* TEST ranks: 1 5 8; timeout: 60; label: long */
/*
 * SCATTER-1 to SCATTER-4. Thomson and Compton scattering and that of a host, by
 * cell, beside matter that absorbs and emits, at rest and moving, grey and in
 * groups, on boxes and Voronoi cells: energy closes in every step, where matter
 * moves momentum as well, and the state is the same on all ranks as on one. In
 * a box that only scatters by Compton each photon stays one: weight over
 * energy. At rest and at half the speed of light photons of one energy come to
 * the energy and flux of Wien's spectrum in the frame of matter: within k
 * standard errors. A host that keeps half of a photon's energy gives matter the
 * other half, to the last bit, and one that scatters nothing changes nothing.
 * What a host must not answer is an error. A packet that gains more than sums
 * have room for is split.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/imc_user.h>

#include "support/check.h"
#include "support/imc_box.h"

enum { STEPS = 3, CELLS = 3 };
static const double k = 4.5, light = 2.99792458e10;

static const struct storm_wall_part periodic = {.kind = STORM_WALL_PERIODIC};

/* Half of the box each, and a ball of the host's. */
static const struct storm_region regions[] = {
    {.material = 0},
    {.material = 1,
     .shape = {.kind = STORM_SHAPE_BOX,
               .lo_cm = {0.5, 0, 0},
               .hi_cm = {1, 1, 1}}},
    {.material = 2,
     .shape = {.kind = STORM_SHAPE_SPHERE,
               .centre_cm = {0.5, 0.5, 0.5},
               .radius_cm = {0, 0.25}}},
};
enum { MATERIALS = 3 };

static struct storm_problem make_problem(const struct storm_material *matter,
                                         size_t n)
{
    struct storm_problem p = {
        STORM_PROBLEM_SIZES,
        .light_cm_s = light,
        .radiation_erg_cm3_kev4 = 1.3720172e14,
        .hi_cm = {1, 1, 1},
        .materials = matter,
        .n_materials = n,
        .regions = regions,
        .n_regions = n,
        .n_groups = 1,
        .emit_per_cell = 20,
        .min_per_cell = 20,
        .max_per_cell = 60,
        .comb = true,
        .seed = 1,
    };
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        p.walls[wall] = (struct storm_wall){&periodic, 1};
    return p;
}

/* ---- hosts -------------------------------------------------------------- */

/* Half of them not at all, others elastic and isotropic. */
static int apply_half(void *self, struct storm_scattering *s)
{
    double u[4];
    (void)self;
    CHECK(s->size == sizeof *s && s->weight_ratio == 1.0);
    CHECK(s->energy_kev > 0.0 && s->temperature_kev > 0.0);
    storm_scattering_random(s, u);
    if (u[0] < 0.5)
        return 0;
    storm_isotropic(u[1], u[2], s->direction);
    return 1;
}

/* Keeps half of the energy, and the direction. */
static int apply_loss(void *self, struct storm_scattering *s)
{
    (void)self;
    s->energy_kev *= 0.5;
    s->weight_ratio = 0.5;
    return 1;
}

static int apply_nothing(void *self, struct storm_scattering *s)
{
    (void)self;
    memset(s->direction, 0, sizeof s->direction);
    return 0;
}

/* What cannot be, by number. */
static int apply_bad(void *self, struct storm_scattering *s)
{
    switch (*(int *)self) {
    case 0:
        s->direction[0] += 0.5;
        break;
    case 1:
        s->energy_kev = NAN;
        break;
    case 2:
        s->energy_kev = 0.0;
        break;
    case 3:
        s->weight_ratio = -1.0;
        break;
    default:
        s->weight_ratio = 1e9;
    }
    return 1;
}

static void set_scatter(struct imc_box *box,
                        int (*apply)(void *, struct storm_scattering *),
                        void *self)
{
    const struct storm_imc_scatter scatter = {
        .size = sizeof scatter, .self = self, .apply = apply};
    CHECK_OK(storm_imc_set_scatter(box->imc, &scatter));
}

/* ---- all laws ----------------------------------------------------------- */

struct setting {
    double beta;
    uint64_t n_groups;
    bool voronoi;
};

static void check_closed(struct imc_box *box)
{
    double energy[4];
    for (int step = 0; step < STEPS; step++) {
        CHECK(imc_box_step(box, 1e-11 * step, 1e-11, energy) <= 1e-15);
        if (!box->problem.motion)
            continue;
        struct storm_imc_momenta momenta = STORM_IMC_MOMENTA_INIT;
        CHECK_OK(storm_imc_momentum(box->imc, box->engine, &momenta));
        CHECK(momenta.error <= 1e-15);
    }
    struct storm_imc_energies e = STORM_IMC_ENERGIES_INIT;
    CHECK_OK(storm_imc_energy(box->imc, box->engine, &e));
    CHECK(e.error <= 1e-13);
    CHECK(fabs(e.matter_erg + e.radiation_erg + e.work_erg - e.start_erg) <=
          1e-12 * e.start_erg);
}

static void check_laws(const struct setting *set)
{
    struct storm_material matter[MATERIALS] = {
        {.scattering_law = STORM_SCATTER_COMPTON, .electrons_per_g = 6e24},
        {.scattering_law = STORM_SCATTER_THOMSON, .electrons_per_g = 3e24},
        {.scattering_law = STORM_SCATTER_USER,
         .scattering = {.coef = 6.0, .max = 1e12}},
    };
    struct imc_box boxes[2];
    const MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    for (int m = 0; m < MATERIALS; m++) {
        matter[m].absorption =
            (struct storm_power_law){.coef = 1.0, .max = 1e12};
        matter[m].heat_capacity =
            (struct storm_power_law){.coef = 1e16, .max = 1e300};
        matter[m].temperature_kev = 5.0 - m;
        matter[m].velocity_cm_s[0] = set->beta * light;
        matter[m].velocity_cm_s[2] = -0.5 * set->beta * light;
    }
    for (int i = 0; i < 2; i++) {
        boxes[i] = (struct imc_box){.problem = make_problem(matter, MATERIALS)};
        boxes[i].problem.motion = set->beta > 0.0;
        boxes[i].problem.n_groups = set->n_groups;
        if (set->n_groups > 1) {
            boxes[i].problem.group_min_kev = 0.3;
            boxes[i].problem.group_max_kev = 60.0;
        }
        imc_box_open_periodic(&boxes[i], comms[i], CELLS, set->voronoi);
        CHECK_EQ(storm_imc_record_bytes(boxes[i].imc),
                 sizeof(struct storm_photon));
        set_scatter(&boxes[i], apply_half, NULL);
        CHECK_OK(storm_imc_start(boxes[i].imc, boxes[i].engine));
        check_closed(&boxes[i]);
    }
    CHECK_EQ(imc_box_hash(&boxes[0]), imc_box_hash(&boxes[1]));
    for (int i = 0; i < 2; i++)
        imc_box_close(&boxes[i]);
}

/* Thick matter that scatters by Thomson's law: packets walk and diffuse in it,
 * with records without energies. */
static void check_thick(double beta)
{
    const struct storm_material matter = {
        .scattering_law = STORM_SCATTER_THOMSON,
        .electrons_per_g = 1e27,
        .absorption = {.coef = 2.0, .max = 1e12},
        .heat_capacity = {.coef = 1e16, .max = 1e300},
        .temperature_kev = 1.0,
        .radiation_temperature_kev = 1.5,
        .velocity_cm_s = {0.0, beta * light, 0.0}};
    struct imc_box boxes[2];
    const MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    for (int i = 0; i < 2; i++) {
        struct storm_imc_share shares[STORM_IMC_METHODS];
        boxes[i] = (struct imc_box){.problem = make_problem(&matter, 1)};
        boxes[i].problem.motion = beta > 0.0;
        boxes[i].problem.random_walk = true;
        boxes[i].problem.diffusion = true;
        imc_box_open_periodic(&boxes[i], comms[i], CELLS, true);
        CHECK_EQ(storm_imc_record_bytes(boxes[i].imc),
                 sizeof(struct storm_packet));
        CHECK_OK(storm_imc_start(boxes[i].imc, boxes[i].engine));
        check_closed(&boxes[i]);
        CHECK_OK(storm_imc_shares(boxes[i].imc, boxes[i].engine, shares));
        CHECK(shares[STORM_IMC_DIFFUSED].energy > 0.5);
    }
    CHECK_EQ(imc_box_hash(&boxes[0]), imc_box_hash(&boxes[1]));
    for (int i = 0; i < 2; i++)
        imc_box_close(&boxes[i]);
}

/* ---- photons by number -------------------------------------------------- */

static const double wien_kev = 60.0;

/* Packets of equal numbers of photons of 3 T. */
static void add_photons(struct imc_box *box, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double u[4], v[4];
        struct storm_photon photon = {.packet = {.id = {.lo = i + 1}},
                                      .energy_kev = 3.0 * wien_kev};
        storm_random(11, STORM_STREAM_USER, photon.packet.id, 0, u);
        storm_random(11, STORM_STREAM_USER, photon.packet.id, 1, v);
        memcpy(photon.packet.position_cm, u, sizeof(double[3]));
        storm_isotropic(v[0], v[1], photon.packet.direction);
        photon.packet.weight_erg = photon.energy_kev;
        photon.packet.birth_weight_erg = photon.energy_kev;
        imc_box_add_photon(box, photon);
    }
}

struct means {
    double n, energy, square, along, along_square;
};

static struct means look(struct imc_box *box, const double beta[3])
{
    struct means sum = {.n = 0.0};
    size_t n;
    void *const *packets = storm_engine_packets(box->engine, &n);
    for (size_t i = 0; i < n; i++) {
        const struct storm_photon *p = packets[i];
        double e = p->energy_kev, along = 0.0;
        CHECK(fabs(p->packet.weight_erg / e - 1.0) < 1e-12);
        for (int d = 0; d < 3; d++)
            along += e * p->packet.direction[d] * beta[d];
        sum.n += 1.0;
        sum.energy += e;
        sum.square += e * e;
        sum.along += along;
        sum.along_square += along * along;
    }
    CHECK_OK(storm_context_reduce(box->context, &sum, 5, MPI_DOUBLE, MPI_SUM));
    return sum;
}

static void within(const char *what, double n, double sum, double square,
                   double right)
{
    double mean = sum / n, error = sqrt((square / n - mean * mean) / n);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("%s: %.4f +- %.4f, right %.4f\n", what, mean, error, right);
    CHECK(fabs(mean - right) <= k * error);
}

static void check_wien(double speed)
{
    enum { PHOTONS = 20000 / CHECK_SLOWDOWN };
    const struct storm_material matter = {
        .scattering_law = STORM_SCATTER_COMPTON,
        .electrons_per_g = 6e24,
        .temperature_kev = wien_kev,
        .radiation_temperature_kev = 0.0,
        .velocity_cm_s = {0.6 * speed * light, 0.0, -0.8 * speed * light}};
    const double beta[3] = {0.6 * speed, 0.0, -0.8 * speed};
    double gamma = 1.0 / sqrt(1.0 - speed * speed), energy[4];
    struct imc_box box = {.problem = make_problem(&matter, 1)};
    box.problem.motion = speed > 0.0;
    box.problem.emit_per_cell = 0;
    box.problem.comb = false;
    imc_box_open_periodic(&box, MPI_COMM_WORLD, CELLS, false);
    add_photons(&box, PHOTONS);
    /* 25 mean free paths: 4 theta times that is above ten. */
    for (int step = 0; step < 5; step++)
        (void)imc_box_step(&box, 4e-11 * step, 4e-11, energy);
    struct means m = look(&box, beta);
    CHECK(m.n == PHOTONS);
    within("mean energy over T", m.n, m.energy / wien_kev,
           m.square / (wien_kev * wien_kev),
           3.0 * gamma * (1.0 + speed * speed / 3.0));
    within("momentum along the velocity", m.n, m.along / wien_kev,
           m.along_square / (wien_kev * wien_kev), 4.0 * gamma * speed * speed);
    imc_box_close(&box);
}

/* Photons of 1 meV among electrons of 200 keV gain more than FRAME-4 has room
 * for: packets are split, at rest, too. */
static void check_growth(void)
{
    const struct storm_material matter = {
        .scattering_law = STORM_SCATTER_COMPTON,
        .electrons_per_g = 6e24,
        .heat_capacity = {.coef = 1e20, .max = 1e300},
        .temperature_kev = 200.0};
    const double kev = 1e-6, weight = 5.0;
    struct imc_box box = {.problem = make_problem(&matter, 1)};
    box.problem.emit_per_cell = 0;
    box.problem.comb = false;
    imc_box_open_periodic(&box, MPI_COMM_WORLD, CELLS, false);
    imc_box_add_photon(&box, (struct storm_photon){
                                 .packet = {.id = {.lo = 1},
                                            .position_cm = {0.1, 0.2, 0.3},
                                            .direction = {0.0, 1.0, 0.0},
                                            .weight_erg = weight,
                                            .birth_weight_erg = weight},
                                 .energy_kev = kev});
    double energy[4], number = 0.0, heaviest = 0.0;
    (void)imc_box_step(&box, 0.0, 4e-10, energy);
    size_t n;
    void *const *packets = storm_engine_packets(box.engine, &n);
    for (size_t i = 0; i < n; i++) {
        const struct storm_photon *p = packets[i];
        number += p->packet.weight_erg / p->energy_kev;
        heaviest = fmax(heaviest, p->packet.weight_erg);
    }
    double sums[2] = {number, (double)n};
    CHECK_OK(storm_context_reduce(box.context, sums, 2, MPI_DOUBLE, MPI_SUM));
    CHECK(sums[1] > 1.0 && heaviest <= weight * 0x1p20);
    CHECK(fabs(sums[0] * kev / weight - 1.0) < 1e-12);
    CHECK(fabs(energy[1] + energy[3] - weight) <= 1e-15 * energy[3]);
    imc_box_close(&box);
}

/* ---- answers of a host -------------------------------------------------- */

static void open_host(struct imc_box *box, struct storm_material *matter,
                      double optical_depth)
{
    *matter =
        (struct storm_material){.scattering_law = STORM_SCATTER_USER,
                                .scattering = {.coef = 1.0, .max = 1e12},
                                .heat_capacity = {.coef = 1.0, .max = 1e300},
                                .temperature_kev = 1.0,
                                .radiation_temperature_kev = 0.0};
    *box = (struct imc_box){.problem = make_problem(matter, 1)};
    box->problem.emit_per_cell = 0;
    box->problem.comb = false;
    imc_box_open_periodic(box, MPI_COMM_WORLD, CELLS, false);
    const struct storm_photon photon = {
        .packet = {.id = {.lo = 1},
                   .position_cm = {0.1, 0.2, 0.3},
                   .direction = {0.0, 1.0, 0.0},
                   .weight_erg = 3.0,
                   .birth_weight_erg = 3.0,
                   .optical_depth = optical_depth},
        .energy_kev = 2.0};
    imc_box_add_photon(box, photon);
}

static void check_host(void)
{
    struct storm_material matter;
    struct imc_box box;
    double energy[4];
    int bad;
    /* Its first collision after half a centimetre; the next may come. */
    open_host(&box, &matter, 0.5);
    set_scatter(&box, apply_loss, NULL);
    (void)imc_box_step(&box, 0.0, 0.50001 / light, energy);
    CHECK(energy[1] == 1.5 && energy[3] == 1.5);
    imc_box_close(&box);
    open_host(&box, &matter, 0.5);
    set_scatter(&box, apply_nothing, NULL);
    (void)imc_box_step(&box, 0.0, 0.6 / light, energy);
    size_t n;
    void *const *packets = storm_engine_packets(box.engine, &n);
    for (size_t i = 0; i < n; i++) {
        const struct storm_photon *p = packets[i];
        CHECK(p->packet.direction[1] == 1.0 && p->energy_kev == 2.0);
        CHECK(p->packet.draws > 0 && p->packet.weight_erg == 3.0);
        CHECK(fabs(p->packet.position_cm[1] - 0.8) < 1e-14);
    }
    imc_box_close(&box);
    for (bad = 0; bad < 5; bad++) {
        open_host(&box, &matter, 0.1);
        set_scatter(&box, apply_bad, &bad);
        CHECK_OK(storm_imc_set_step(box.imc, 0.0, 0.5 / light));
        storm_status status = storm_engine_step(box.engine);
        CHECK(status == STORM_ERR_ARG || status == STORM_ERR_PEER);
        imc_box_close(&box);
    }
    open_host(&box, &matter, 0.1);
    CHECK_OK(storm_imc_set_step(box.imc, 0.0, 0.5 / light));
    CHECK(storm_engine_step(box.engine) == STORM_ERR_STATE);
    struct storm_imc_scatter none = STORM_IMC_SCATTER_INIT;
    CHECK(storm_imc_set_scatter(box.imc, &none) == STORM_ERR_ARG);
    imc_box_close(&box);
}

int main(int argc, char **argv)
{
    const struct setting settings[] = {
        {0.0, 1, false},
        {0.0, 6, true},
        {0.3, 1, true},
        {0.3, 6, false},
    };
    CHECK(MPI_Init(&argc, &argv) == MPI_SUCCESS);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        check_where("beta %g, %d groups, Voronoi %d", settings[i].beta,
                    (int)settings[i].n_groups, settings[i].voronoi);
        check_laws(&settings[i]);
    }
    check_where("thick");
    check_thick(0.0);
    check_thick(0.01);
    check_where("Wien");
    check_wien(0.0);
    check_wien(0.5);
    check_where("growth");
    check_growth();
    check_where("host");
    check_host();
    MPI_Finalize();
    return CHECK_PASS;
}
