/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; timeout: 60; label: slow-asan */
/*
 * A blackbody on a part of a wall whose temperature is a table in time: it
 * radiates area times a c / 4 times the integral of T^4, T being linear between
 * the points and constant beyond them (a sum of fifth powers); and from its
 * part alone. A formula in its place radiates the same to what CURVE-1 promises
 * (1e-5 of the largest T), and on any number of ranks the same packets.
 * examples/decks/absorber.yaml without matter, c = a = 1.
 */
#include "case.h"

static const char *const table = "boundaries.x_lo.temperature="
                                 "[[0.1, 0.5], [0.3, 2], [0.4, 1]]";

/* Integral of T^4 while T goes from a to b. */
static double ramp(double a, double b, double seconds)
{
    return a == b ? seconds * a * a * a * a
                  : seconds * (pow(b, 5.0) - pow(a, 5.0)) / (5.0 * (b - a));
}

static double created(const char *part, const char *start, const char *stop)
{
    const char *const sets[] = {"materials.0.absorption.coef=0",
                                "time={dt: 0.07, stop: 0.6}",
                                table,
                                part,
                                start,
                                stop,
                                NULL};
    struct case_run run = case_open("absorber", 1, sets);
    double energy = case_json(&run, "created");
    CHECK(fabs(energy - case_json(&run, "escaped") -
               case_json(&run, "census")) < 1e-12 * energy);
    case_close(&run);
    return energy;
}

static void compare(const char *part, double area, double tolerance)
{
    double rise = ramp(0.5, 2.0, 0.2), fall = ramp(2.0, 1.0, 0.1);
    double all = ramp(0.5, 0.5, 0.1) + rise + fall + ramp(1.0, 1.0, 0.2);
    double whole =
        created(part, "boundaries.x_lo.start=0", "boundaries.x_lo.stop=9");
    /* Only from the middle of the rise on, until the end of the fall. */
    double cut =
        created(part, "boundaries.x_lo.start=0.2", "boundaries.x_lo.stop=0.4");
    double late = ramp(1.25, 2.0, 0.1) + fall;
    printf("%s: %.6f and %.6f, right %.6f and %.6f\n", part, whole, cut,
           0.25 * area * all, 0.25 * area * late);
    CHECK(fabs(whole / (0.25 * area * all) - 1.0) < tolerance);
    CHECK(fabs(cut / (0.25 * area * late) - 1.0) < tolerance);
}

/* After 0.1 light has come 0.1 beyond the part, no farther. */
static void check_place(void)
{
    static struct case_profile profile;
    const char *const sets[] = {
        "materials.0.absorption.coef=0",
        "mesh.cells=[1,20,1]",
        "output.profile={axis: y, bins: 20}",
        "time={dt: 0.1, stop: 0.1}",
        "boundaries.y_lo.kind=vacuum",
        "boundaries.x_lo.part={shape: box, lo: [-1, 0.2, 0], hi: [1, 0.4, 1]}",
        NULL};
    struct case_run run = case_open("absorber", 1, sets);
    case_at(&run, case_json(&run, "time"), &profile);
    for (size_t i = 0; i < profile.n; i++) {
        double y = profile.row[i][0], energy = profile.row[i][CASE_RADIATION];
        if (y < 0.1 || y > 0.5)
            CHECK(energy == 0.0);
        if (y > 0.2 && y < 0.4)
            CHECK(energy > 0.0);
    }
    case_close(&run);
}

/* A slit that other parts leave free, much narrower than the wall. */
static void check_slit(void)
{
    const char *const sets[] = {
        "materials.0.absorption.coef=0", "time={dt: 0.1, stop: 0.1}",
        "boundaries.x_lo=[{kind: blackbody, temperature: 1, packets: 100}, "
        "{kind: vacuum, part: {shape: box, lo: [-1, -1, -1], "
        "hi: [1, 0.3012, 2]}}, "
        "{kind: vacuum, part: {shape: box, lo: [-1, 0.3022, -1], "
        "hi: [1, 2, 2]}}]",
        NULL};
    struct case_run run = case_open("absorber", 1, sets);
    double energy = case_json(&run, "created");
    CHECK(fabs(energy / (0.25 * 0.001 * 0.1) - 1.0) < 1e-9);
    case_close(&run);
}

/* The same curve as a formula, and one with an infinite slope at 0: the
 * integral of (t^(1/3))^4 is 3/7 t^(7/3). */
static void check_formulas(void)
{
    static const char *const curves[] = {
        "boundaries.x_lo.temperature=\"min(max(0.5, 0.5 + 7.5 * (t - 0.1)), "
        "max(1, 2 - 10 * (t - 0.3)))\"",
        "boundaries.x_lo.temperature=\"t^(1/3)\""};
    double right[2] = {ramp(0.5, 0.5, 0.1) + ramp(0.5, 2.0, 0.2) +
                           ramp(2.0, 1.0, 0.1) + ramp(1.0, 1.0, 0.2),
                       3.0 / 7.0 * pow(0.6, 7.0 / 3.0)};
    for (int i = 0; i < 2; i++) {
        const char *const sets[] = {"materials.0.absorption.coef=0",
                                    "mesh.cells=[8,2,2]",
                                    "time={dt: 0.07, stop: 0.6}",
                                    "boundaries.x_lo.stop=9",
                                    curves[i],
                                    NULL};
        struct case_run run = case_open("absorber", 1, sets);
        struct case_run alone =
            case_open_on(MPI_COMM_SELF, "absorber", 1, sets);
        double energy = case_json(&run, "created");
        printf("%s: %.8f, right %.8f\n", curves[i], energy, 0.25 * right[i]);
        CHECK(fabs(energy / (0.25 * right[i]) - 1.0) < 1e-4);
        CHECK_EQ(case_hash(&run), case_hash(&alone));
        case_close_on(MPI_COMM_SELF, &alone);
        case_close(&run);
    }
}

int main(int argc, char **argv)
{
    const double pi = 3.14159265358979323846;
    MPI_Init(&argc, &argv);
    compare("boundaries.x_lo.part={shape: all}", 1.0, 1e-12);
    compare("boundaries.x_lo.part={shape: box, lo: [-1, 0.25, 0], "
            "hi: [1, 0.5, 0.5]}",
            0.125, 1e-3);
    compare("boundaries.x_lo.part={shape: cylinder, axis: x, centre: [0.5, "
            "0.5], radius: [0.1, 0.4]}",
            pi * (0.16 - 0.01), 2e-3);
    check_place();
    check_slit();
    check_formulas();
    MPI_Finalize();
    return CHECK_PASS;
}
