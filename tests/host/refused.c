/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; timeout: 60 */
/*
 * storm/host.h: wrong arguments and calls at the wrong stage return a status
 * with a text, on all ranks where the call is collective, and change nothing:
 * the run goes on and has the hash of one without them.
 */
#include <math.h>
#include <string.h>

#include <storm/host.h>
#include <storm/options.h>

#include "support/check.h"

enum { NX = 4, NY = 3 };

/* A status, and a text that has the word. */
static void expect(struct storm_host *h, storm_status got, storm_status wanted,
                   const char *word)
{
    check_where("expecting \"%s\", problem \"%s\"", word,
                storm_host_problem(h));
    CHECK_EQ(got, wanted);
    CHECK(strstr(storm_host_problem(h), word) != NULL);
    check_where("after \"%s\"", word);
}
#define ARG(_call, _word) expect(h, _call, STORM_ERR_ARG, _word)
#define STATE(_call, _word) expect(h, _call, STORM_ERR_STATE, _word)

static void check_null(void)
{
    double x[32] = {0.0};
    struct storm_host *h = NULL;
    const int64_t n[3] = {0, 0, 0};
    CHECK_EQ(storm_host_create(MPI_COMM_NULL, NULL, &h), STORM_ERR_ARG);
    CHECK_EQ(storm_host_create(MPI_COMM_WORLD, NULL, NULL), STORM_ERR_ARG);
    CHECK(h == NULL);
    storm_host_destroy(NULL);
    storm_host_set_quiet(NULL, 1);
    CHECK_TEXT(storm_host_problem(NULL), "");
    CHECK(storm_host_rank(NULL) == -1 && storm_host_size(NULL) == -1);
    CHECK(storm_host_mesh(NULL) == NULL && storm_host_imc(NULL) == NULL);
    CHECK(storm_host_engine(NULL) == NULL && storm_host_context(NULL) == NULL);
    CHECK_EQ(storm_host_n_cells(NULL) + storm_host_n_values(NULL, 0), 0);
    CHECK_EQ(storm_host_set_int(NULL, "seed", 1), STORM_ERR_ARG);
    CHECK_EQ(storm_host_set_double(NULL, "seed", 1), STORM_ERR_ARG);
    CHECK_EQ(storm_host_set_groups(NULL, x, 2), STORM_ERR_ARG);
    CHECK_EQ(storm_host_add_material(NULL, "a", NULL), STORM_ERR_ARG);
    CHECK_EQ(storm_host_set_law(NULL, 0, 0, x, 1), STORM_ERR_ARG);
    CHECK_EQ(storm_host_set_by_cell(NULL, 0, 0, 1), STORM_ERR_ARG);
    CHECK_EQ(storm_host_set_start(NULL, 0, 1, 1), STORM_ERR_ARG);
    CHECK_EQ(storm_host_set_wall(NULL, 0, 0), STORM_ERR_ARG);
    CHECK_EQ(storm_host_set_blackbody(NULL, 0, x, x, 1, 1), STORM_ERR_ARG);
    CHECK_EQ(storm_host_set_edges(NULL, 0, x, 2), STORM_ERR_ARG);
    CHECK_EQ(storm_host_mesh_cart(NULL, n, n), STORM_ERR_ARG);
    CHECK_EQ(storm_host_mesh_points(NULL, x, x, x, 1), STORM_ERR_ARG);
    CHECK_EQ(storm_host_give_cells(NULL, 0, NULL, x, x, x), STORM_ERR_ARG);
    CHECK_EQ(storm_host_give_faces(NULL, NULL, x, x, x, NULL), STORM_ERR_ARG);
    CHECK_EQ(storm_host_mesh_given(NULL, 1), STORM_ERR_ARG);
    CHECK_EQ(storm_host_begin(NULL), STORM_ERR_ARG);
    CHECK_EQ(storm_host_request(NULL, 0), STORM_ERR_ARG);
    CHECK_EQ(storm_host_set(NULL, 0, x, 1), STORM_ERR_ARG);
    CHECK_EQ(storm_host_get(NULL, 0, x, 1), STORM_ERR_ARG);
    CHECK_EQ(storm_host_add_heat(NULL, x, 1), STORM_ERR_ARG);
    CHECK_EQ(storm_host_declare_work(NULL, x, 1), STORM_ERR_ARG);
    CHECK_EQ(storm_host_step(NULL, 0, 1), STORM_ERR_ARG);
    CHECK_EQ(storm_host_energy(NULL, x, 1), STORM_ERR_ARG);
    CHECK_EQ(storm_host_momentum(NULL, x, 1), STORM_ERR_ARG);
    CHECK_EQ(storm_host_hash(NULL, NULL), STORM_ERR_ARG);
    CHECK_EQ(storm_host_move(NULL, x, 3), STORM_ERR_ARG);
    CHECK_EQ(storm_host_replace(NULL), STORM_ERR_ARG);
    CHECK_EQ(storm_host_repartition(NULL), STORM_ERR_ARG);
    size_t bytes;
    uint64_t tag = 1;
    CHECK_EQ(storm_host_state_bytes(NULL, &bytes), STORM_ERR_ARG);
    CHECK_EQ(storm_host_save(NULL, x, 8), STORM_ERR_ARG);
    CHECK_EQ(storm_host_load(NULL, x, 8), STORM_ERR_ARG);
    CHECK_EQ(storm_host_next_dt(NULL, 0, x), STORM_ERR_ARG);
    CHECK_EQ(storm_host_set_tags(NULL, &tag, 1), STORM_ERR_ARG);
    CHECK_EQ(storm_host_get_tags(NULL, &tag, 1), STORM_ERR_ARG);
    CHECK_EQ(storm_host_set_scattering(NULL, 0, 0), STORM_ERR_ARG);
    CHECK_EQ(storm_host_set_electrons(NULL, 0, 1), STORM_ERR_ARG);
    CHECK_EQ(storm_host_set_scatter(NULL, NULL, NULL), STORM_ERR_ARG);
}

static void check_options(void)
{
    struct storm_host *h = NULL;
    char text[2000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    CHECK_EQ(storm_host_create(MPI_COMM_WORLD, "no.such=1", &h), STORM_ERR_ARG);
    CHECK_EQ(storm_host_create(MPI_COMM_WORLD, "word", &h), STORM_ERR_ARG);
    CHECK_EQ(storm_host_create(MPI_COMM_WORLD, text, &h), STORM_ERR_ARG);
    CHECK(h == NULL);
    CHECK_OK(storm_host_create_f(MPI_Comm_c2f(MPI_COMM_WORLD),
                                 " transport.backend=p2p\ttransport.shm=no ",
                                 &h));
    const struct storm_options *options =
        storm_context_options(storm_host_context(h));
    CHECK_TEXT(storm_options_text(options, "transport.backend"), "p2p");
    CHECK(!storm_options_bool(options, "transport.shm"));
    storm_host_destroy(h);
}

/* Before there is a mesh. */
static void check_setup(struct storm_host *h, bool is_bad)
{
    const double edges[3] = {0.0, 1.0, 1.0}, nan_edges[2] = {0.0, NAN};
    const double good[2] = {0.1, 1.0}, bad[1] = {NAN}, negative[1] = {-1.0};
    const double lo[3] = {0.0, 0.0, 0.0}, hi[3] = {1.0, 1.0, 1.0};
    const double outside[3] = {0.5, 0.5, 1.5};
    const int64_t zero[3] = {0, 0, 0}, one[3] = {1, 1, 1};
    if (!is_bad)
        return;
    STATE(storm_host_begin(h), "before there is a mesh");
    STATE(storm_host_step(h, 0.0, 1.0), "storm_host_begin");
    STATE(storm_host_get(h, 0, NULL, 0), "storm_host_begin");
    ARG(storm_host_set_int(h, "sead", 1), "did you mean seed?");
    ARG(storm_host_set_int(h, "nothing like it", 1), "there is none");
    ARG(storm_host_set_int(h, NULL, 1), "no name");
    ARG(storm_host_set_int(h, "seed", -1), "from 0 to");
    ARG(storm_host_set_int(h, "comb", 2), "from 0 to 1");
    ARG(storm_host_set_double(h, "max_per_cell", 1.5), "whole number");
    ARG(storm_host_set_double(h, "light_cm_s", NAN), "got nan");
    ARG(storm_host_set_double(h, "light_cm_s", INFINITY), "got inf");
    ARG(storm_host_set_groups(h, edges, 3), "edge 2");
    ARG(storm_host_set_groups(h, NULL, 3), "no array");
    ARG(storm_host_set_groups(h, edges, 1), "2 edges or more");
    ARG(storm_host_set_law(h, 0, STORM_HOST_LAW_HEAT, good, 1), "there are 0");
    ARG(storm_host_add_material(h, NULL, NULL), "expected a name");
    ARG(storm_host_add_material(h, "", NULL), "expected a name");
    CHECK_OK(storm_host_add_material(h, "gas", NULL));
    ARG(storm_host_set_law(h, 1, STORM_HOST_LAW_HEAT, good, 1), "material 1");
    ARG(storm_host_set_law(h, -1, STORM_HOST_LAW_HEAT, good, 1), "material -1");
    ARG(storm_host_set_law(h, 0, STORM_HOST_N_LAWS, good, 1), "law 3");
    ARG(storm_host_set_law(h, 0, STORM_HOST_LAW_HEAT, NULL, 1), "no array");
    ARG(storm_host_set_law(h, 0, STORM_HOST_LAW_HEAT, good, 0), "1 to 6");
    ARG(storm_host_set_law(h, 0, STORM_HOST_LAW_HEAT, good, 7), "1 to 6");
    ARG(storm_host_set_law(h, 0, STORM_HOST_LAW_HEAT, bad, 1), "value 0");
    ARG(storm_host_set_by_cell(h, 0, STORM_HOST_LAW_HEAT, 0.0), "above");
    ARG(storm_host_set_by_cell(h, 0, STORM_HOST_LAW_HEAT, NAN), "got nan");
    ARG(storm_host_set_start(h, 0, 0.0, 1.0), "density");
    ARG(storm_host_set_start(h, 0, 1.0, NAN), "temperature");
    ARG(storm_host_set_wall(h, -1, STORM_WALL_REFLECT), "got -1");
    ARG(storm_host_set_wall(h, 1 << 20, STORM_WALL_REFLECT), "wall");
    ARG(storm_host_set_wall(h, 0, STORM_WALL_BLACKBODY), "blackbody");
    ARG(storm_host_set_wall(h, 0, (storm_wall_kind)99), "got 99");
    ARG(storm_host_set_blackbody(h, 0, NULL, negative, 1, 9), "entry 0");
    ARG(storm_host_set_blackbody(h, 0, NULL, good, 2, 9), "1 time or more");
    ARG(storm_host_set_blackbody(h, 0, edges, edges, 3, 9), "entry 2");
    ARG(storm_host_set_blackbody(h, 0, NULL, good, 1, 0), "packets");
    ARG(storm_host_set_edges(h, 3, good, 2), "direction");
    ARG(storm_host_set_edges(h, 0, edges, 3), "edge 2");
    ARG(storm_host_set_edges(h, 0, nan_edges, 2), "got nan");
    ARG(storm_host_mesh_cart(h, NULL, one), "no array");
    ARG(storm_host_mesh_cart(h, one, one), "within 0 to 1");
    CHECK(storm_host_mesh_cart(h, zero, zero) < 0); /* of no rank */
    ARG(storm_host_mesh_points(h, NULL, hi, lo, 1), "no array");
    ARG(storm_host_mesh_points(h, lo, hi, nan_edges, 1), "got nan");
    CHECK(storm_host_mesh_points(h, lo, hi, outside, 1) < 0);
    STATE(storm_host_mesh_given(h, 0), "storm_host_give_cells");
    ARG(storm_host_mesh_given(h, -1), "got -1");
    CHECK_OK(storm_host_set_wall(h, 0, STORM_WALL_PERIODIC));
    ARG(storm_host_mesh_cart(h, zero, one), "both periodic");
    CHECK_OK(storm_host_set_wall(h, 0, STORM_WALL_VACUUM));
    CHECK(storm_host_mesh(h) == NULL);
}

/* Given cells that do not fit. */
static void check_given(struct storm_host *h)
{
    const uint64_t tag[2] = {4, 4}, faces[2] = {0, 6},
                   down[2] = {0, UINT64_MAX};
    const double x[18] = {0.5}, area[6] = {1.0};
    const int64_t boundary[6] = {-1, -2, -9, -1, -1, -1}, cell[6] = {77};
    size_t n = storm_host_rank(h) == 0 ? 1 : 0;
    ARG(storm_host_give_cells(h, 1, NULL, x, x, x), "no array");
    ARG(storm_host_give_cells(h, SIZE_MAX, tag, x, x, x), "cells");
    CHECK_OK(storm_host_give_cells(h, n, tag, x, x, NULL));
    ARG(storm_host_give_faces(h, NULL, x, x, x, boundary), "got NULL");
    ARG(storm_host_give_faces(h, tag, x, x, x, boundary), "begin with 0");
    if (n > 0)
        ARG(storm_host_give_faces(h, down, x, x, x, boundary), "first_face 1");
    CHECK_OK(storm_host_give_faces(h, faces, x, x, area, boundary));
    CHECK_EQ(storm_host_mesh_given(h, 2),
             n > 0 ? STORM_ERR_ARG : STORM_ERR_PEER);
    CHECK_OK(storm_host_give_cells(h, n, tag, x, x, NULL));
    CHECK_OK(storm_host_give_faces(h, faces, x, x, area, cell));
    storm_status status = storm_host_mesh_given(h, 2);
    CHECK_EQ(status, n > 0 ? STORM_ERR_ARG : STORM_ERR_PEER);
    CHECK(n == 0 || strstr(storm_host_problem(h), "tag 77") != NULL);
}

/* With a run: values, sizes and moments that are wrong. On one rank alone in
 * turn: all have an error. */
static void check_fields(struct storm_host *h, int who)
{
    const size_t n = storm_host_n_cells(h);
    const bool me = storm_host_rank(h) == who % storm_host_size(h);
    const storm_status status = me ? STORM_ERR_ARG : STORM_ERR_PEER;
    double x[3 * NX * NY], e[STORM_HOST_N_MOMENTA];
    uint64_t hash;
    for (size_t i = 0; i < 3 * NX * NY; i++)
        x[i] = 1.0;
    x[n / 2] = me ? NAN : 1.0;
#define ONE(_call) CHECK_EQ(_call, status)
    ONE(storm_host_set(h, STORM_HOST_TEMPERATURE, x, n));
    ONE(storm_host_set(h, STORM_HOST_ABSORPTION, x, n));
    ONE(storm_host_set(h, STORM_HOST_HEAT_CAPACITY, x, n));
    ONE(storm_host_add_heat(h, x, n));
    ONE(storm_host_declare_work(h, x, n));
    x[n / 2] = me ? -1e30 : 0.0; /* more than there is: its owner knows */
    CHECK(storm_host_add_heat(h, x, n) < 0);
    x[n / 2] = me ? -1.0 : 1.0;
    ONE(storm_host_set(h, STORM_HOST_DENSITY, x, n));
    if (who == 0)
        ONE(storm_host_set(h, STORM_HOST_RADIATION_START, x, n));
    x[n / 2] = me ? 0.5 : 0.0;
    ONE(storm_host_set(h, STORM_HOST_MATERIAL, x, n));
    x[n / 2] = me ? 2.0 : 1.0;
    ONE(storm_host_set(h, STORM_HOST_MATERIAL, x, n));
    x[n / 2] = 1.0;
    ONE(storm_host_set(h, STORM_HOST_DENSITY, x, me ? n + 1 : n));
    ONE(storm_host_set(h, STORM_HOST_DENSITY, me ? NULL : x, n));
    ONE(storm_host_get(h, STORM_HOST_DENSITY, me ? NULL : x, n));
    ONE(storm_host_get(h, STORM_HOST_DENSITY, x, me ? 0 : n));
    ONE(storm_host_get(h, STORM_HOST_CENTRE, x, me ? n : 3 * n));
    ONE(storm_host_get(h, me ? 15 : STORM_HOST_CENTRE, x, me ? n : 3 * n));
    ONE(storm_host_energy(h, e, me ? 3 : STORM_HOST_N_ENERGIES));
    ONE(storm_host_hash(h, me ? NULL : &hash));
    ONE(storm_host_next_dt(h, me ? -1.0 : 0.1, x));
    ONE(storm_host_step(h, 0.0, me ? NAN : 1e-11));
    ONE(storm_host_step(h, me ? INFINITY : 0.0, 1e-11));
    ONE(storm_host_step(h, 0.0, me ? -1e-11 : 1e-11));
#undef ONE
    ARG(storm_host_set(h, -1, x, n), "no field -1");
    ARG(storm_host_set(h, 1 << 30, x, n), "no field");
    ARG(storm_host_set(h, STORM_HOST_RADIATION, x, n), "cannot be set");
    ARG(storm_host_set(h, STORM_HOST_VELOCITY, x, 3 * n), "motion");
    ARG(storm_host_set(h, STORM_HOST_SCATTERING, x, n), "by cell");
    ARG(storm_host_get(h, STORM_HOST_RADIATION_START, x, n), "only be set");
    ARG(storm_host_get(h, STORM_HOST_SCATTERING, x, n), "by cell");
    STATE(storm_host_get(h, STORM_HOST_FLUX, x, 3 * n), "storm_host_request");
    ARG(storm_host_request(h, STORM_HOST_DENSITY), "always there");
    ARG(storm_host_request(h, 77), "no field");
    ARG(storm_host_momentum(h, e, STORM_HOST_N_MOMENTA), "motion");
    STATE(storm_host_set_int(h, "seed", 1), "after storm_host_begin");
    STATE(storm_host_add_material(h, "late", NULL), "after storm_host_begin");
    STATE(storm_host_set_wall(h, 0, STORM_WALL_REFLECT), "after");
    STATE(storm_host_begin(h), "after storm_host_begin");
    STATE(storm_host_set_scatter(h, NULL, NULL), "after storm_host_begin");
    expect(h, storm_host_move(h, x, 3 * n), STORM_ERR_NOSUP, "points");
    expect(h, storm_host_replace(h), STORM_ERR_NOSUP, "given");
}

static void open_run(struct storm_host *h, bool is_bad)
{
    const double edges[NX + 1] = {0.0, 0.1, 0.2, 0.3, 0.4};
    int size = storm_host_size(h), rank = storm_host_rank(h);
    int lo = NY * rank / size, hi = NY * (rank + 1) / size;
    const int64_t first[3] = {0, lo, 0}, n[3] = {NX, hi - lo, 1};
    const int64_t none[3] = {0, 0, 0}, all[3] = {NX, NY, 1};
    if (!is_bad)
        CHECK_OK(storm_host_add_material(h, "gas", NULL));
    CHECK_OK(storm_host_set_by_cell(h, 0, STORM_HOST_LAW_ABSORPTION, 2.0));
    CHECK_OK(storm_host_set_by_cell(h, 0, STORM_HOST_LAW_HEAT, 1e15));
    CHECK_OK(storm_host_set_start(h, 0, 1.0, 0.2));
    CHECK_OK(storm_host_set_edges(h, 0, edges, NX + 1));
    CHECK_OK(storm_host_set_edges(h, 1, edges, NY + 1));
    if (is_bad) { /* cells of no rank, and of several */
        CHECK(storm_host_mesh_cart(h, none, none) < 0);
        CHECK(size == 1 || storm_host_mesh_cart(h, none, all) < 0);
    }
    CHECK_OK(storm_host_mesh_cart(h, first, n));
    if (is_bad) {
        STATE(storm_host_mesh_cart(h, first, n), "storm_host_begin");
        STATE(storm_host_set_wall(h, 0, STORM_WALL_REFLECT), "mesh");
        STATE(storm_host_step(h, 0.0, 1e-11), "storm_host_begin");
    }
    CHECK_OK(storm_host_begin(h));
}

static uint64_t run(bool is_bad)
{
    struct storm_host *h;
    uint64_t hash;
    CHECK_OK(storm_host_create(MPI_COMM_WORLD, NULL, &h));
    storm_host_set_quiet(h, is_bad);
    check_setup(h, is_bad);
    if (is_bad)
        check_given(h);
    open_run(h, is_bad);
    for (int who = 0; who < 3; who++) {
        if (is_bad)
            check_fields(h, who);
        CHECK_OK(storm_host_step(h, who * 1e-11, 1e-11));
        CHECK_TEXT(storm_host_problem(h), "");
    }
    if (is_bad)
        STATE(storm_host_set(h, STORM_HOST_RADIATION_START, NULL, 0),
              "before the first step");
    CHECK_OK(storm_host_hash(h, &hash));
    storm_host_destroy(h);
    return hash;
}

/* Matter as fast as light, or faster, or at no speed, in a cell of one rank:
 * all have an error, and the owner has its text. Then it moves. */
static void check_velocity(void)
{
    const double light_cm_s = 2.99792458e10;
    const double bad[4] = {light_cm_s, -2.0 * light_cm_s, NAN, INFINITY};
    struct storm_host *h;
    CHECK_OK(storm_host_create(MPI_COMM_WORLD, NULL, &h));
    storm_host_set_quiet(h, true);
    CHECK_OK(storm_host_set_int(h, "motion", 1));
    open_run(h, false);
    const size_t n = storm_host_n_cells(h);
    double x[3 * NX * NY] = {0.0};
    for (int i = 0; i < 4; i++) {
        bool me = storm_host_rank(h) == i % storm_host_size(h);
        x[n] = me ? bad[i] : 1e9;
        storm_status status = storm_host_set(h, STORM_HOST_VELOCITY, x, 3 * n);
        CHECK(status == STORM_ERR_ARG || status == STORM_ERR_PEER);
        CHECK(status == STORM_ERR_PEER || storm_host_problem(h)[0] != '\0');
    }
    x[n] = 1e9;
    CHECK_OK(storm_host_set(h, STORM_HOST_VELOCITY, x, 3 * n));
    CHECK_OK(storm_host_step(h, 0.0, 1e-11));
    storm_host_destroy(h);
}

static void check_lists(void)
{
    double initial;
    const char *help;
    size_t n = 0;
    while (storm_host_parameter(n, &initial, &help) != NULL) {
        CHECK(isfinite(initial) && help[0] != '\0');
        n++;
    }
    CHECK(n > 10 && storm_host_parameter(n + 1, NULL, NULL) == NULL);
    CHECK_TEXT(storm_host_field_name(STORM_HOST_CENTRE), "centre");
    CHECK(storm_host_field_name(-1) == NULL);
    CHECK(storm_host_field_name(15) == NULL);
    CHECK(storm_host_field_name(64) == NULL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_null();
    check_options();
    check_lists();
    check_velocity();
    CHECK_EQ(run(true), run(false));
    MPI_Finalize();
    return CHECK_PASS;
}
