/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 90; label: slow-asan slow-mpich */
/* TEST ranks: 1; args: long; timeout: 1800; label: long slow-asan */
/* TEST ranks: 1; args: octree; timeout: 90; label: slow-asan slow-mpich */
/* TEST ranks: 1; args: octree long; timeout: 1800; label: long slow-asan */
/* TEST ranks: 1; args: tetrahedra; timeout: 90; label: slow-asan slow-mpich */
/* TEST ranks: 1; args: tetrahedra long; timeout: 1800; label: long slow-asan */
/*
 * examples/decks/su-olson.yaml against Su and Olson's tables, at every point
 * above 0.05 that is not at the edge of the source.
 *
 * Also on an octree: cells of 0.04, and of 0.02 from 0.40 to 0.64, where the
 * material changes its name. Values are means over 0.04, and over 0.02 near the
 * edge of the source, twice that at the last time, when all is smooth. Packets
 * that cross into small cells bring the weight they have in large ones, so few
 * new packets and many at census are best; then 16 runs with other seeds had
 * standard deviations of up to 0.068, and 200 runs are to have standard errors
 * of 0.005 at most. bench/results/2026-11-18-su-olson-octree.txt has them, and
 * a Cartesian mesh of the small cells for comparison.
 *
 * Also on tetrahedra, six to each slice of a thin bar, from a file; to tau = 1,
 * as population control in six cells to a slice makes 2.4 times the noise of
 * one, and tau = 10 would take an hour. The short form was settled on after two
 * others, with 120 slices: one was off by 5 % where a tabulated point was
 * between two slices at the edge of the source.
 *
 * The energy of the packets at census is compared: it is that of the tabulated
 * time, while the average over a step is that of its middle.
 */
#include "su_olson.h"
#include "case.h"
#include "tetrahedra.h"
#include "tolerances.h"

enum { POINTS = sizeof su_olson / sizeof su_olson[0] };

static struct case_mean found[3][POINTS][2];

#define OCTREE_MESH                                             \
    "mesh={kind: octree, box: {lo: [0, 0, 0], hi: [6, 1, 1]}, " \
    "roots: [150, 1, 1], level: 0, refine_levels: 1}"
#define OTHER(_lo, _hi) \
    "{material: other, shape: box, lo: [" _lo ", 0, 0], hi: [" _hi ", 1, 1]}"
#define BAR_WALLS                                             \
    "boundaries={'1': {kind: reflect}, '2': {kind: vacuum}, " \
    "'3': {kind: reflect}}"
#define BAR_PACKETS \
    "packets={emit_per_cell: 13, min_per_cell: 2, max_per_cell: 250}"
#define BAR_SHORT_PACKETS \
    "packets={emit_per_cell: 3, min_per_cell: 2, max_per_cell: 30}"
#define BAR_SHORT_SOURCE                                               \
    "sources=[{shape: box, lo: [0, 0, 0], hi: [0.5, 1, 1], power: 1, " \
    "stop: 10, packets: 2000}]"
#define SLAB "absorption: {coef: 1}, heat_capacity: {coef: 4, T_exp: 3}"
#define PACKETS "packets={emit_per_cell: 8, min_per_cell: 2, max_per_cell: 400}"
#define SOURCE                                                         \
    "sources=[{shape: box, lo: [0, 0, 0], hi: [0.5, 1, 1], power: 1, " \
    "stop: 10, packets: 1000}]"

enum { CARTESIAN, OCTREE, TETRAHEDRA };

/* Files of the run are in it. */
static char scratch[CHECK_PATH];

/* The short form of the octree stops before the last, and tetrahedra do. */
static int n_times(int mesh, bool all)
{
    return mesh == CARTESIAN || (mesh == OCTREE && all) ? 3 : 2;
}

/* Merges n bins into one. */
static void merge(const struct case_profile *fine, size_t n,
                  struct case_profile *out)
{
    out->n = fine->n / n;
    for (size_t i = 0; i < out->n; i++)
        for (size_t c = 0; c < CASE_COLUMNS; c++) {
            double sum = 0.0;
            for (size_t k = 0; k < n; k++)
                sum += fine->row[n * i + k][c];
            out->row[i][c] = sum / (double)n;
        }
}

/* Bins for a point on the octree: of the cells that are there, or of two. */
static size_t n_bins(int t, double x)
{
    bool is_fine = x > 0.4 && x < 0.64;
    size_t n = is_fine ? 1 : 2;
    return t == 2 ? 2 * n : n;
}

static void add_profile(const struct case_profile *profile, int t, int mesh)
{
    static struct case_profile merged;
    for (int i = 0; i < POINTS; i++) {
        double x = su_olson[i].x;
        merge(profile, mesh == OCTREE ? n_bins(t, x) : 1, &merged);
        case_add(&found[t][i][0], case_value(&merged, x, CASE_RADIATION));
        case_add(&found[t][i][1], case_value(&merged, x, CASE_MATERIAL));
    }
}

static void add_run(uint64_t seed, int mesh, bool all)
{
    char file[CHECK_PATH + 64];
    snprintf(file, sizeof file, "mesh={kind: file, file: %s/bar.msh}", scratch);
    const char *const sets[3][8] = {
        [CARTESIAN] = {"output.radiation=census", NULL},
        [OCTREE] =
            {"output.radiation=census", OCTREE_MESH, PACKETS, SOURCE,
             "materials=[{name: slab, " SLAB "}, {name: other, " SLAB "}]",
             "regions=[{material: slab}, " OTHER("0.42", "0.46") ", " OTHER(
                 "0.5", "0.54") ", " OTHER("0.58", "0.62") "]",
             all ? NULL : "time.stop=1", NULL},
        [TETRAHEDRA] = {"output.radiation=census", file, BAR_WALLS,
                        all ? BAR_PACKETS : BAR_SHORT_PACKETS,
                        "output.profile.bins=180", "time.stop=1",
                        all ? NULL : BAR_SHORT_SOURCE, NULL}};
    static struct case_profile profile;
    struct case_run run = case_open("su-olson", seed, sets[mesh]);
    CHECK(fabs(case_json(&run, "energy_balance")) <= 1e-13);
    for (int t = 0; t < n_times(mesh, all); t++) {
        case_at(&run, su_olson_tau[t], &profile);
        add_profile(&profile, t, mesh);
    }
    case_close(&run);
}

/* Returns whether a point is as it should be. */
static bool judge(int t, int i, int what, bool all)
{
    double right =
        what == 0 ? su_olson[i].radiation[t] : su_olson[i].material[t];
    if (right <= 0.05 || su_olson[i].x == 0.5)
        return true;
    double off = case_average(&found[t][i][what]) / right - 1.0;
    double error = case_error(&found[t][i][what]) / right;
    printf("%-8g %-4g %-9s %.5f    %.5f   %+.4f  %.4f\n", su_olson[i].x,
           su_olson_tau[t], what == 0 ? "radiation" : "matter", right,
           case_average(&found[t][i][what]), off, error);
    if (all)
        return fabs(off) <= su_olson_relative && error <= su_olson_error;
    return fabs(off) <= 0.01 + su_olson_short_k * error && error <= 0.1;
}

/* Slices are those of the profile; the source ends between two, and the
 * tabulated point in front of its edge is in the middle of one. */
static void write_bar(void)
{
    const double hi[3] = {6, 0.2, 0.2};
    char path[CHECK_PATH + 16];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        check_scratch(scratch);
        snprintf(path, sizeof path, "%s/bar.msh", scratch);
        tetrahedra_write(path, 180, hi);
    }
    MPI_Bcast(scratch, sizeof scratch, MPI_CHAR, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    bool all = argc > 1 && strcmp(argv[argc - 1], "long") == 0;
    int mesh = argc > 1 && strcmp(argv[1], "octree") == 0       ? OCTREE
               : argc > 1 && strcmp(argv[1], "tetrahedra") == 0 ? TETRAHEDRA
                                                                : CARTESIAN;
    int bad = 0;
    static const uint64_t n_seeds[3][2] = {
        {SU_OLSON_SHORT_SEEDS, SU_OLSON_SEEDS},
        {SU_OLSON_OCTREE_SHORT_SEEDS, SU_OLSON_OCTREE_SEEDS},
        {SU_OLSON_TETRAHEDRA_SHORT_SEEDS, SU_OLSON_TETRAHEDRA_SEEDS}};
    uint64_t seeds = n_seeds[mesh][all];
    if (mesh == TETRAHEDRA)
        write_bar();
    for (uint64_t seed = 1; seed <= seeds; seed++)
        add_run(seed, mesh, all);
    printf("# %llu runs; errors relative to the published value\n"
           "# x      tau  energy    published  computed  error    standard "
           "error\n",
           (unsigned long long)seeds);
    for (int t = 0; t < n_times(mesh, all); t++)
        for (int i = 0; i < POINTS; i++)
            for (int what = 0; what < 2; what++)
                bad += !judge(t, i, what, all);
    CHECK_EQ(bad, 0);
    MPI_Finalize();
    return CHECK_PASS;
}
