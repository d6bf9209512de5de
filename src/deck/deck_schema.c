/* SPDX-License-Identifier: BSD-3-Clause */
/* Which keys a deck has, what they take, and what they are otherwise. */
#include "deck/deck.h"

#define AT(_struct, _member) .offset = offsetof(struct _struct, _member)
#define HERE(_member) AT(deck_values, _member)

/* As far as numbers go; also "no limit". */
#define MOST 1e300

static const char deck_axes[] = "x|y|z";

/* ---- shapes: in regions, sources and parts of walls ----------------------- */

#define SHAPE_ROWS(_struct, _shape)                                     \
    {.key = "shape",                                                    \
     .kind = DECK_WORD,                                                 \
     AT(_struct, _shape.kind),                                          \
     .preset = "all",                                                   \
     .choices = "all|box|cylinder|sphere",                              \
     .help = "which part of space"},                                    \
        {.key = "lo",                                                   \
         .kind = DECK_REALS,                                            \
         AT(_struct, _shape.lo),                                        \
         .n = 3,                                                        \
         .min = -MOST,                                                  \
         .max = MOST,                                                   \
         .when = "box",                                                 \
         .help = "lower corner, cm"},                                   \
        {.key = "hi",                                                   \
         .kind = DECK_REALS,                                            \
         AT(_struct, _shape.hi),                                        \
         .n = 3,                                                        \
         .min = -MOST,                                                  \
         .max = MOST,                                                   \
         .when = "box",                                                 \
         .help = "upper corner, cm"},                                   \
        {.key = "axis",                                                 \
         .kind = DECK_WORD,                                             \
         AT(_struct, _shape.axis),                                      \
         .preset = "x",                                                 \
         .choices = deck_axes,                                          \
         .when = "cylinder",                                            \
         .help = "direction of the cylinder"},                          \
        {.key = "centre",                                               \
         .kind = DECK_REALS,                                            \
         AT(_struct, _shape.centre),                                    \
         .preset = "[0, 0]",                                            \
         .n = 2,                                                        \
         .min = -MOST,                                                  \
         .max = MOST,                                                   \
         .when = "cylinder",                                            \
         .help = "of the circle, cm: y and z, z and x, or x and y"},    \
        {.key = "centre",                                               \
         .kind = DECK_REALS,                                            \
         AT(_struct, _shape.centre),                                    \
         .preset = "[0, 0, 0]",                                         \
         .n = 3,                                                        \
         .min = -MOST,                                                  \
         .max = MOST,                                                   \
         .when = "sphere",                                              \
         .help = "cm"},                                                 \
        {.key = "radius",                                               \
         .kind = DECK_REALS,                                            \
         AT(_struct, _shape.radius),                                    \
         .n = 2,                                                        \
         .min = 0,                                                      \
         .max = MOST,                                                   \
         .when = "cylinder",                                            \
         .help = "inner and outer, cm"},                                \
        {.key = "radius",                                               \
         .kind = DECK_REALS,                                            \
         AT(_struct, _shape.radius),                                    \
         .n = 2,                                                        \
         .min = 0,                                                      \
         .max = MOST,                                                   \
         .when = "sphere",                                              \
         .help = "inner and outer, cm"},                                \
    {                                                                   \
        .key = "range", .kind = DECK_REALS, AT(_struct, _shape.range),  \
        .preset = "[-1e300, 1e300]", .n = 2, .min = -MOST, .max = MOST, \
        .when = "cylinder", .help = "along the axis, cm"                \
    }

/* ---- materials ------------------------------------------------------------ */

#define LAW_ROW(_law, _key, _member, _preset, _min, _max, _help)          \
    {                                                                     \
        .key = _key, .kind = DECK_REAL, AT(storm_material, _law._member), \
        .preset = _preset, .min = _min, .max = _max, .help = _help        \
    }

static const struct deck_row deck_absorption[] = {
    LAW_ROW(absorption, "coef", coef, "0", 0, MOST,
            "1/cm: coef * T^T_exp * E^E_exp"),
    LAW_ROW(absorption, "T_exp", t_exp, "0", -100, 100, "power of T"),
    LAW_ROW(absorption, "E_exp", e_exp, "0", -100, 100,
            "power of the photon energy; needs several groups"),
    LAW_ROW(absorption, "min", min, "0", 0, MOST, "floor, 1/cm"),
    LAW_ROW(absorption, "max", max, "1e12", 0, MOST, "cap, 1/cm"),
    {.key = NULL}};

static const struct deck_row deck_scattering[] = {
    LAW_ROW(scattering, "coef", coef, "0", 0, MOST,
            "1/cm: coef * T^T_exp * E^E_exp"),
    LAW_ROW(scattering, "T_exp", t_exp, "0", -100, 100, "power of T"),
    LAW_ROW(scattering, "E_exp", e_exp, "0", -100, 100,
            "power of the photon energy; needs several groups"),
    LAW_ROW(scattering, "min", min, "0", 0, MOST, "floor, 1/cm"),
    LAW_ROW(scattering, "max", max, "1e12", 0, MOST, "cap, 1/cm"),
    {.key = NULL}};

static const struct deck_row deck_heat_capacity[] = {
    LAW_ROW(heat_capacity, "coef", coef, "0", 0, MOST,
            "erg/keV/cm3: coef * T^T_exp; 0: keeps its temperature"),
    {.key = "T_exp",
     .kind = DECK_REAL,
     AT(storm_material, heat_capacity.t_exp),
     .preset = "0",
     .min = -1,
     .above = true,
     .max = 100,
     .help = "power of T"},
    LAW_ROW(heat_capacity, "min", min, "0", 0, MOST, "floor, erg/keV/cm3"),
    LAW_ROW(heat_capacity, "max", max, "1e300", 0, MOST, "cap, erg/keV/cm3"),
    {.key = NULL}};

static const struct deck_row deck_material[] = {
    {.key = "name",
     .kind = DECK_TEXT,
     AT(storm_material, name),
     .help = "what regions call it"},
    {.key = "absorption",
     .kind = DECK_ENTRY,
     .preset = "{}",
     .rows = deck_absorption,
     .help = "absorption coefficient"},
    {.key = "scattering",
     .kind = DECK_ENTRY,
     .preset = "{}",
     .rows = deck_scattering,
     .help = "scattering coefficient, isotropic and elastic"},
    {.key = "heat_capacity",
     .kind = DECK_ENTRY,
     .preset = "{}",
     .rows = deck_heat_capacity,
     .help = "heat capacity per volume"},
    {.key = "temperature",
     .kind = DECK_REAL,
     AT(storm_material, temperature_kev),
     .preset = "0",
     .min = 0,
     .max = 1e30,
     .help = "at the start, keV"},
    {.key = "radiation_temperature",
     .kind = DECK_REAL,
     AT(storm_material, radiation_temperature_kev),
     .preset = "", /* the same as temperature */
     .min = 0,
     .max = 1e30,
     .help = "of the radiation at the start, keV; as the material unless set, "
             "0 for none"},
    {.key = NULL}};

static const struct deck_row deck_region_rows[] = {
    {.key = "material",
     .kind = DECK_TEXT,
     AT(deck_region, material),
     .help = "name of a material, or outside: nothing is transported there and "
             "what enters escapes"},
    SHAPE_ROWS(deck_region, shape),
    {.key = NULL}};

/* ---- walls and sources ---------------------------------------------------- */

static const struct deck_row deck_part[] = {SHAPE_ROWS(storm_edge, part),
                                            {.key = NULL}};

static const struct deck_row deck_edge[] = {
    {.key = "kind",
     .kind = DECK_WORD,
     AT(storm_edge, kind),
     .preset = "vacuum",
     .choices = "vacuum|reflect|periodic|blackbody",
     .help = "what happens at the wall"},
    {.key = "temperature",
     .kind = DECK_CURVE,
     AT(storm_edge, temperature),
     .preset = "",
     .min = 0,
     .max = 1e30,
     .help = "of a blackbody, keV; or a table [[time, keV], ...], linear in "
             "between, constant beyond"},
    {.key = "start",
     .kind = DECK_REAL,
     AT(storm_edge, start_s),
     .preset = "0",
     .min = -MOST,
     .max = MOST,
     .help = "when a blackbody begins to shine, s"},
    {.key = "stop",
     .kind = DECK_REAL,
     AT(storm_edge, stop_s),
     .preset = "1e300",
     .min = -MOST,
     .max = MOST,
     .help = "when it ends, s"},
    {.key = "packets",
     .kind = DECK_INT,
     AT(storm_edge, packets),
     .preset = "10000",
     .min = 1,
     .max = 1e12,
     .help = "packets of a blackbody per step, on all ranks together"},
    {.key = "part",
     .kind = DECK_ENTRY,
     .preset = "{}",
     .rows = deck_part,
     .help = "the part of the wall this holds for"},
    {.key = NULL}};

#define WALL_ROW(_key, _i)                                                    \
    {                                                                         \
        .key = _key, .kind = DECK_SPLIT, HERE(walls[_i]), .preset = "{}",     \
        .rows = deck_edge, .bytes = sizeof(struct storm_edge),                \
        .help = "one, or a list of them with `part`; the last that contains " \
                "a point counts"                                              \
    }

static const struct deck_row deck_walls[] = {
    WALL_ROW("x_lo", 0), WALL_ROW("x_hi", 1), WALL_ROW("y_lo", 2),
    WALL_ROW("y_hi", 3), WALL_ROW("z_lo", 4), WALL_ROW("z_hi", 5),
    {.key = NULL}};

static const struct deck_row deck_source[] = {
    SHAPE_ROWS(storm_source, shape),
    {.key = "power",
     .kind = DECK_REAL,
     AT(storm_source, power),
     .preset = "0",
     .min = 0,
     .max = MOST,
     .help = "erg/cm3/s"},
    {.key = "start",
     .kind = DECK_REAL,
     AT(storm_source, start_s),
     .preset = "0",
     .min = -MOST,
     .max = MOST,
     .help = "s"},
    {.key = "stop",
     .kind = DECK_REAL,
     AT(storm_source, stop_s),
     .preset = "1e300",
     .min = -MOST,
     .max = MOST,
     .help = "s"},
    {.key = "packets",
     .kind = DECK_INT,
     AT(storm_source, packets),
     .preset = "10000",
     .min = 1,
     .max = 1e12,
     .help = "per step, on all ranks together"},
    {.key = "temperature",
     .kind = DECK_REAL,
     AT(storm_source, temperature_kev),
     .preset = "1",
     .min = 0,
     .above = true,
     .max = 1e30,
     .help = "of its spectrum, with several groups, keV"},
    {.key = NULL}};

/* ---- the rest ------------------------------------------------------------- */

static const struct deck_row deck_constants[] = {
    {.key = "c",
     .kind = DECK_REAL,
     HERE(light),
     .preset = "2.99792458e10",
     .above = true,
     .max = MOST,
     .help = "speed of light, cm/s"},
    {.key = "a",
     .kind = DECK_REAL,
     HERE(radiation),
     .preset = "1.3720172e14",
     .above = true,
     .max = MOST,
     .help = "radiation constant, erg/cm3/keV^4"},
    {.key = NULL}};

static const struct deck_row deck_box[] = {{.key = "lo",
                                            .kind = DECK_REALS,
                                            HERE(mesh.lo),
                                            .preset = "[0, 0, 0]",
                                            .n = 3,
                                            .min = -1e150,
                                            .max = 1e150,
                                            .help = "lower corner, cm"},
                                           {.key = "hi",
                                            .kind = DECK_REALS,
                                            HERE(mesh.hi),
                                            .preset = "[1, 1, 1]",
                                            .n = 3,
                                            .min = -1e150,
                                            .max = 1e150,
                                            .help = "upper corner, cm"},
                                           {.key = NULL}};

static const struct deck_row deck_motion[] = {
    {.key = "kind",
     .kind = DECK_WORD,
     HERE(mesh.motion.kind),
     .preset = "none",
     .choices = "none|translate|rotate|expand|shear",
     .help = "how the mesh moves"},
    {.key = "velocity",
     .kind = DECK_REALS,
     HERE(mesh.motion.velocity),
     .preset = "[0, 0, 0]",
     .n = 3,
     .min = -1e150,
     .max = 1e150,
     .help = "translate: cm/s"},
    {.key = "axis",
     .kind = DECK_WORD,
     HERE(mesh.motion.axis),
     .preset = "z",
     .choices = deck_axes,
     .help = "rotate: about this direction"},
    {.key = "rate",
     .kind = DECK_REAL,
     HERE(mesh.motion.rate),
     .preset = "0",
     .min = -1e150,
     .max = 1e150,
     .help = "rotate, expand, shear: 1/s"},
    {.key = NULL}};

static const struct deck_row deck_mesh_rows[] = {
    {.key = "kind",
     .kind = DECK_WORD,
     HERE(mesh.kind),
     .preset = "cartesian",
     .choices = STORM_MESH_WORDS,
     .help = "which mesh"},
    {.key = "box",
     .kind = DECK_ENTRY,
     .preset = "{}",
     .rows = deck_box,
     .help = "the domain"},
    {.key = "cells",
     .kind = DECK_INTS,
     HERE(mesh.cells),
     .preset = "[1, 1, 1]",
     .n = 3,
     .min = 1,
     .max = 2097152,
     .help = "cartesian: cells per direction"},
    {.key = "stretch",
     .kind = DECK_REALS,
     HERE(mesh.stretch),
     .preset = "[1, 1, 1]",
     .n = 3,
     .min = 0,
     .above = true,
     .max = 1e6,
     .help = "cartesian: ratio of successive widths"},
    {.key = "level",
     .kind = DECK_INT,
     HERE(mesh.level),
     .preset = "4",
     .min = 0,
     .max = 15,
     .help = "octree: uniform start, 2^level cells per direction"},
    {.key = "refine_levels",
     .kind = DECK_INT,
     HERE(mesh.refine_levels),
     .preset = "0",
     .min = 0,
     .max = 15,
     .help = "octree: extra levels at material interfaces"},
    {.key = "points",
     .kind = DECK_INT,
     HERE(mesh.points),
     .preset = "1000",
     .min = 1,
     .max = 1e12,
     .help = "voronoi: generators, in total"},
    {.key = "lloyd",
     .kind = DECK_INT,
     HERE(mesh.lloyd),
     .preset = "5",
     .min = 0,
     .max = 1000,
     .help = "voronoi: rounds of smoothing"},
    {.key = "points_file",
     .kind = DECK_TEXT,
     HERE(mesh.points_file),
     .preset = "none",
     .help = "voronoi: generators from this file (text or HDF5) instead"},
    {.key = "refine_interfaces",
     .kind = DECK_REAL,
     HERE(mesh.refine_interfaces),
     .preset = "1",
     .min = 1,
     .max = 1e6,
     .help = "voronoi: how many times denser the points are where the material "
             "changes, within half a mean distance between points"},
    {.key = "seed",
     .kind = DECK_INT,
     HERE(mesh.seed),
     .preset = "1",
     .min = 0,
     .max = 1e18,
     .help = "voronoi: of the generators"},
    {.key = "motion",
     .kind = DECK_ENTRY,
     .preset = "{}",
     .rows = deck_motion,
     .help = "how the mesh moves"},
    {.key = NULL}};

static const struct deck_row deck_time_rows[] = {
    {.key = "dt",
     .kind = DECK_REAL,
     HERE(time.dt),
     .preset = "1e-12",
     .above = true,
     .max = MOST,
     .help = "length of the first step, s"},
    {.key = "growth",
     .kind = DECK_REAL,
     HERE(time.growth),
     .preset = "1",
     .above = true,
     .max = 1e6,
     .help = "each step is this much longer than the one before"},
    {.key = "dt_max",
     .kind = DECK_REAL,
     HERE(time.dt_max),
     .preset = "1e300",
     .above = true,
     .max = MOST,
     .help = "but never longer than this, s"},
    {.key = "stop",
     .kind = DECK_REAL,
     HERE(time.stop),
     .preset = "1e300",
     .above = true,
     .max = MOST,
     .help = "when the run ends, s"},
    {.key = "steps",
     .kind = DECK_INT,
     HERE(time.steps),
     .preset = "0",
     .min = 0,
     .max = 4e9,
     .help = "after how many steps it ends, if not before; 0: at `stop`. With "
             "neither, 100"},
    {.key = NULL}};

static const struct deck_row deck_groups[] = {
    {.key = "count",
     .kind = DECK_INT,
     HERE(n_groups),
     .preset = "1",
     .min = 1,
     .max = 10000,
     .help = "1: grey"},
    {.key = "min",
     .kind = DECK_REAL,
     HERE(group_min),
     .preset = "1e-4",
     .above = true,
     .max = MOST,
     .help = "lower edge of the first group, keV; it also has all below"},
    {.key = "max",
     .kind = DECK_REAL,
     HERE(group_max),
     .preset = "100",
     .above = true,
     .max = MOST,
     .help = "upper edge of the last group, keV; it also has all above"},
    {.key = NULL}};

static const struct deck_row deck_packets[] = {
    {.key = "emit_per_cell",
     .kind = DECK_INT,
     HERE(emit_per_cell),
     .preset = "5",
     .min = 0,
     .max = 1e9,
     .help = "packets each cell emits per step; 0: the material does not emit"},
    {.key = "min_per_cell",
     .kind = DECK_INT,
     HERE(min_per_cell),
     .preset = "2",
     .min = 0,
     .max = 1e9,
     .help = "comb: fewer are split"},
    {.key = "max_per_cell",
     .kind = DECK_INT,
     HERE(max_per_cell),
     .preset = "15",
     .min = 1,
     .max = 1e9,
     .help = "comb: more are merged; also the packets per cell of the initial "
             "radiation"},
    {.key = "population",
     .kind = DECK_WORD,
     HERE(population),
     .preset = "comb",
     .choices = "comb|none",
     .help = "how the number of packets is kept in check"},
    {.key = "steer",
     .kind = DECK_WORD,
     HERE(steer),
     .preset = "number",
     .choices = "number|error",
     .help = "what is to be even over cells: number: each emits "
             "`emit_per_cell` and keeps up to `max_per_cell`; error: these are "
             "means, and cells get more or fewer so that their statistical "
             "errors are even"},
    {.key = NULL}};

static const struct deck_row deck_acceleration[] = {
    {.key = "random_walk",
     .kind = DECK_BOOL,
     HERE(random_walk),
     .preset = "false",
     .help =
         "random walk in thick cells; with groups, of those that are thick"},
    {.key = NULL}};

static const struct deck_row deck_balance[] = {
    {.key = "every",
     .kind = DECK_INT,
     HERE(balance_every),
     .preset = "10",
     .min = 0,
     .max = 4e9,
     .help = "steps between two new cuts of the mesh; 0: never"},
    {.key = "weight",
     .kind = DECK_WORD,
     HERE(balance_weight),
     .preset = "steps",
     .choices = "steps|cells|none",
     .help = "what each rank gets an equal share of"},
    {.key = NULL}};

static const struct deck_row deck_profile[] = {
    {.key = "axis",
     .kind = DECK_WORD,
     HERE(output.profile_axis),
     .preset = "x",
     .choices = deck_axes,
     .help = "along this direction"},
    {.key = "bins",
     .kind = DECK_INT,
     HERE(output.profile_bins),
     .preset = "100",
     .min = 0,
     .max = 1e7,
     .help = "of equal width; 0: no profile"},
    {.key = NULL}};

static const struct deck_row deck_checkpoint[] = {
    {.key = "every",
     .kind = DECK_INT,
     HERE(output.checkpoint_every),
     .preset = "0",
     .min = 0,
     .max = 4e9,
     .help = "steps between checkpoints; 0: none"},
    {.key = "keep",
     .kind = DECK_INT,
     HERE(output.checkpoint_keep),
     .preset = "2",
     .min = 1,
     .max = 1e6,
     .help = "how many stay"},
    {.key = NULL}};

static const struct deck_row deck_output_rows[] = {
    {.key = "every",
     .kind = DECK_INT,
     HERE(output.every),
     .preset = "10",
     .min = 0,
     .max = 4e9,
     .help = "steps between dumps; 0: only the start and the end"},
    {.key = "times",
     .kind = DECK_TIMES,
     HERE(output.times),
     .preset = "[]",
     .min = 0,
     .max = MOST,
     .help = "more dumps, at exactly these times, s"},
    {.key = "radiation",
     .kind = DECK_WORD,
     HERE(output.radiation),
     .preset = "path",
     .choices = "path|census",
     .help = "radiation energy: average over the step by path length, or "
             "packets at its end"},
    {.key = "profile",
     .kind = DECK_ENTRY,
     .preset = "{}",
     .rows = deck_profile,
     .help = "a CSV at each dump"},
    {.key = "checkpoint",
     .kind = DECK_ENTRY,
     .preset = "{}",
     .rows = deck_checkpoint,
     .help = "files to go on from"},
    {.key = NULL}};

const struct deck_row deck_schema[] = {
    {.key = "title", .kind = DECK_TEXT, HERE(title), .help = "of the run"},
    {.key = "constants",
     .kind = DECK_ENTRY,
     .preset = "{}",
     .rows = deck_constants,
     .help = "c = 1 and a = 1 give natural units"},
    {.key = "mesh",
     .kind = DECK_ENTRY,
     .rows = deck_mesh_rows,
     .help = "the cells"},
    {.key = "materials",
     .kind = DECK_LISTED,
     HERE(materials),
     .preset = "[]",
     .rows = deck_material,
     .bytes = sizeof(struct storm_material),
     .help = "what cells are filled with"},
    {.key = "regions",
     .kind = DECK_LISTED,
     HERE(regions),
     .preset = "[]",
     .rows = deck_region_rows,
     .bytes = sizeof(struct deck_region),
     .help = "where; the last that contains a cell's centre wins, a cell of "
             "none is empty. Without any, the first material is everywhere"},
    {.key = "boundaries",
     .kind = DECK_ENTRY,
     .preset = "{}",
     .rows = deck_walls,
     .help = "what the six walls of the box do"},
    {.key = "sources",
     .kind = DECK_LISTED,
     HERE(sources),
     .preset = "[]",
     .rows = deck_source,
     .bytes = sizeof(struct storm_source),
     .help = "isotropic sources in the volume"},
    {.key = "time",
     .kind = DECK_ENTRY,
     .preset = "{}",
     .rows = deck_time_rows,
     .help = "steps"},
    {.key = "groups",
     .kind = DECK_ENTRY,
     .preset = "{}",
     .rows = deck_groups,
     .help = "photon energies, log-spaced"},
    {.key = "packets",
     .kind = DECK_ENTRY,
     .preset = "{}",
     .rows = deck_packets,
     .help = "how many"},
    {.key = "acceleration",
     .kind = DECK_ENTRY,
     .preset = "{}",
     .rows = deck_acceleration,
     .help = "shortcuts"},
    {.key = "transport",
     .kind = DECK_OPTIONS,
     .preset = "{}",
     .help = "how packets travel: see options.md"},
    {.key = "balance",
     .kind = DECK_ENTRY,
     .preset = "{}",
     .rows = deck_balance,
     .help = "the shares of the ranks"},
    {.key = "output",
     .kind = DECK_ENTRY,
     .preset = "{}",
     .rows = deck_output_rows,
     .help = "results"},
    {.key = "seed",
     .kind = DECK_OPTIONS,
     .preset = "1",
     .help = "of all random numbers of the run"},
    {.key = NULL}};
