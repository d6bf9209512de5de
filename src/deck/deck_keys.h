/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every key of a deck, one line each. Structs, reading, messages, the resolved
 * deck and docs/deck.md come from these lists.
 *
 *   KEY(map, key, type, default, help)
 *       A member `key` of struct deck_<map>. The default is YAML; REQUIRED:
 *       there is none.
 *   OPTIONS(key, default, help)
 *       A map of options of the option table, or one of them. No member.
 *   FIELD(struct, member, key, type, default, help)
 *       A member of a struct that is declared elsewhere.
 *
 * Types: TEXT, BOOL, WORD("a|b"), INT(min, max), INT3(min, max),
 * REAL(min, max), REAL3(min, max), REALS(n, min, max), TIMES(min, max),
 * CURVE(min, max), MAP(map), LIST(struct, map), EDGES, NUMBERED. POSITIVE and
 * POSITIVE3 are reals above zero, REAL_ABOVE(min, max) above `min`. WHEN after
 * a type: the key goes with this `shape` alone.
 */
#ifndef STORM_DECK_KEYS_H
#define STORM_DECK_KEYS_H

#define DECK_MAX 1e300    /* of numbers; also "no limit" */
#define DECK_FAR_CM 1e150 /* of places: their squares are numbers, too */
#define DECK_AXES "x|y|z"

#define DECK_KEYS_values(KEY, OPTIONS)                                      \
    KEY(values, title, TEXT, REQUIRED, "title of the run")                  \
    KEY(values, constants, MAP(constants), "{}",                            \
        "c = 1 and a = 1 give natural units")                               \
    KEY(values, mesh, MAP(mesh), REQUIRED, "the mesh")                      \
    KEY(values, materials, LIST(storm_material, material), "[]",            \
        "what cells are filled with")                                       \
    KEY(values, regions, LIST(deck_region, region), "[]",                   \
        "where materials are: a cell has the material of the last region "  \
        "that contains its centre, and is empty in none. Without regions, " \
        "the "                                                              \
        "first material is everywhere")                                     \
    KEY(values, boundaries, MAP(walls), "{}",                               \
        "boundary conditions at the walls of the box, or by number")        \
    KEY(values, sources, LIST(storm_source, source), "[]",                  \
        "isotropic sources in the volume")                                  \
    KEY(values, time, MAP(time), "{}", "steps")                             \
    KEY(values, groups, MAP(groups), "{}", "photon energies, log-spaced")   \
    KEY(values, packets, MAP(packets), "{}", "numbers of packets")          \
    KEY(values, acceleration, MAP(acceleration), "{}",                      \
        "acceleration of the transport")                                    \
    OPTIONS(transport, "{}", "how packets travel: see options.md")          \
    KEY(values, balance, MAP(balance), "{}", "load balance between ranks")  \
    KEY(values, output, MAP(output), "{}", "results")                       \
    OPTIONS(seed, "1", "seed of all random numbers of the run")

#define DECK_KEYS_constants(KEY)                           \
    KEY(constants, c, POSITIVE(DECK_MAX), "2.99792458e10", \
        "speed of light, cm/s")                            \
    KEY(constants, a, POSITIVE(DECK_MAX), "1.3720172e14",  \
        "radiation constant, erg/cm3/keV^4")

/* ---- mesh ---------------------------------------------------------------- */

#define DECK_KEYS_mesh(KEY)                                                  \
    KEY(mesh, kind, WORD(STORM_MESH_WORDS), "cartesian", "kind of mesh")     \
    KEY(mesh, box, MAP(box), "{}", "the domain")                             \
    KEY(mesh, cells, INT3(1, 2097152), "[1, 1, 1]",                          \
        "cartesian: cells per direction")                                    \
    KEY(mesh, stretch, POSITIVE3(1e6), "[1, 1, 1]",                          \
        "cartesian: ratio of successive widths")                             \
    KEY(mesh, roots, INT3(1, 1048576), "[1, 1, 1]",                          \
        "octree: root cells per direction; each is cut 2^level times")       \
    KEY(mesh, level, INT(0, 15), "4",                                        \
        "octree: uniform start, 2^level cells per direction and root cell")  \
    KEY(mesh, refine_levels, INT(0, 15), "0",                                \
        "octree: extra levels at material interfaces; with level 20 at "     \
        "most")                                                              \
    KEY(mesh, points, INT(1, 1e12), "1000", "voronoi: generators, in total") \
    KEY(mesh, lloyd, INT(0, 1000), "5", "voronoi: Lloyd relaxations")        \
    KEY(mesh, points_file, TEXT, "none",                                     \
        "voronoi: generators from this file (text or HDF5) instead")         \
    KEY(mesh, file, TEXT, "none",                                            \
        "file: cells from this file (HDF5, or Gmsh 4.1 text: see "           \
        "mesh-files.md), relative to the deck; required then")               \
    KEY(mesh, refine_interfaces, REAL(1, 1e6), "1",                          \
        "voronoi: how many times denser the points are where the material "  \
        "changes, within half a mean distance between points")               \
    KEY(mesh, interfaces, WORD("plain|sharp"), "plain",                      \
        "voronoi: sharp: generators in mirrored pairs, so that faces lie "   \
        "where the material changes; `points` is then their number to a "    \
        "fifth or so")                                                       \
    KEY(mesh, seed, INT(0, 1e18), "1", "voronoi: seed of the generators")    \
    KEY(mesh, motion, MAP(motion), "{}", "how the mesh moves")

#define DECK_KEYS_box(KEY)                                      \
    KEY(box, lo, REAL3(-DECK_FAR_CM, DECK_FAR_CM), "[0, 0, 0]", \
        "lower corner, cm")                                     \
    KEY(box, hi, REAL3(-DECK_FAR_CM, DECK_FAR_CM), "[1, 1, 1]", \
        "upper corner, cm")

#define DECK_KEYS_motion(KEY)                                                \
    KEY(motion, kind, WORD("none|translate|vortex|expand"), "none",          \
        "voronoi: how generators move at the end of each step; packets "     \
        "stay where they are, matter and its energy go with the cells")      \
    KEY(motion, velocity, REAL3(-DECK_FAR_CM, DECK_FAR_CM), "[0, 0, 0]",     \
        "translate: cm/s")                                                   \
    KEY(motion, material, TEXT, "all",                                       \
        "translate: the material that moves, with the cells around it; "     \
        "others less and less towards the walls. all: every cell, in a box " \
        "that is periodic in that direction")                                \
    KEY(motion, axis, WORD(DECK_AXES), "z",                                  \
        "vortex: about this direction, through the middle of the box")       \
    KEY(motion, rate, REAL(-DECK_FAR_CM, DECK_FAR_CM), "0",                  \
        "vortex: angle per time in the middle, 1/s; without divergence, "    \
        "along the walls at the walls. expand: every step of dt takes the "  \
        "box and all in it from x to x (1 + rate dt), 1/s; vacuum walls")

/* ---- materials, regions, walls, sources ---------------------------------- */

#define DECK_FIELDS_material(FIELD)                                           \
    FIELD(storm_material, name, "name", TEXT, REQUIRED,                       \
          "name that regions refer to")                                       \
    FIELD(storm_material, absorption, "absorption", MAP(opacity), "{}",       \
          "absorption coefficient")                                           \
    FIELD(storm_material, scattering, "scattering", MAP(opacity), "{}",       \
          "scattering coefficient, isotropic and elastic")                    \
    FIELD(storm_material, heat_capacity, "heat_capacity", MAP(heat_capacity), \
          "{}", "heat capacity per volume")                                   \
    FIELD(storm_material, temperature_kev, "temperature", REAL(0, 1e30), "0", \
          "at the start, keV")                                                \
    FIELD(storm_material, radiation_temperature_kev, "radiation_temperature", \
          REAL(0, 1e30), "", /* the same as temperature */                    \
          "of the radiation at the start, keV; as the material unless set, "  \
          "0 for none")

#define DECK_FIELDS_opacity(FIELD)                                             \
    FIELD(storm_power_law, coef, "coef", REAL(0, DECK_MAX), "0",               \
          "1/cm: coef * T^T_exp * E^E_exp")                                    \
    FIELD(storm_power_law, t_exp, "T_exp", REAL(-100, 100), "0", "power of T") \
    FIELD(storm_power_law, e_exp, "E_exp", REAL(-100, 100), "0",               \
          "power of the photon energy; needs several groups")                  \
    FIELD(storm_power_law, min, "min", REAL(0, DECK_MAX), "0", "floor, 1/cm")  \
    FIELD(storm_power_law, max, "max", REAL(0, DECK_MAX), "1e12", "cap, 1/cm")

#define DECK_FIELDS_heat_capacity(FIELD)                             \
    FIELD(storm_power_law, coef, "coef", REAL(0, DECK_MAX), "0",     \
          "erg/keV/cm3: coef * T^T_exp; 0: keeps its temperature")   \
    FIELD(storm_power_law, t_exp, "T_exp", REAL_ABOVE(-1, 100), "0", \
          "power of T")                                              \
    FIELD(storm_power_law, min, "min", REAL(0, DECK_MAX), "0",       \
          "floor, erg/keV/cm3")                                      \
    FIELD(storm_power_law, max, "max", REAL(0, DECK_MAX), "1e300",   \
          "cap, erg/keV/cm3")

#define DECK_FIELDS_shape(FIELD, _struct, _in)                                 \
    FIELD(_struct, _in kind, "shape", WORD("all|box|cylinder|sphere"), "all",  \
          "kind of shape")                                                     \
    FIELD(_struct, _in lo_cm, "lo", REALS(3, -DECK_MAX, DECK_MAX) WHEN("box"), \
          REQUIRED, "lower corner, cm")                                        \
    FIELD(_struct, _in hi_cm, "hi", REALS(3, -DECK_MAX, DECK_MAX) WHEN("box"), \
          REQUIRED, "upper corner, cm")                                        \
    FIELD(_struct, _in axis, "axis", WORD(DECK_AXES) WHEN("cylinder"), "x",    \
          "direction of the cylinder")                                         \
    FIELD(_struct, _in centre_cm, "centre",                                    \
          REALS(2, -DECK_MAX, DECK_MAX) WHEN("cylinder"), "[0, 0]",            \
          "centre of the circle, cm: y and z, z and x, or x and y")            \
    FIELD(_struct, _in centre_cm, "centre",                                    \
          REALS(3, -DECK_MAX, DECK_MAX) WHEN("sphere"), "[0, 0, 0]",           \
          "centre, cm")                                                        \
    FIELD(_struct, _in radius_cm, "radius",                                    \
          REALS(2, 0, DECK_MAX) WHEN("cylinder"), REQUIRED,                    \
          "inner and outer, cm")                                               \
    FIELD(_struct, _in radius_cm, "radius",                                    \
          REALS(2, 0, DECK_MAX) WHEN("sphere"), REQUIRED,                      \
          "inner and outer, cm")                                               \
    FIELD(_struct, _in range_cm, "range",                                      \
          REALS(2, -DECK_MAX, DECK_MAX) WHEN("cylinder"), "[-1e300, 1e300]",   \
          "along the axis, cm")

#define DECK_FIELDS_region(FIELD)                                             \
    FIELD(deck_region, material, "material", TEXT, REQUIRED,                  \
          "name of a material, or outside: nothing is transported there and " \
          "what enters escapes")                                              \
    FIELD(deck_region, number, "number", INT(0, 65535), "0",                  \
          "mesh.kind file: only cells with this number in the file; 0: any")  \
    DECK_FIELDS_shape(FIELD, deck_region, shape.)

#define DECK_FIELDS_part(FIELD) DECK_FIELDS_shape(FIELD, storm_shape, )

#define DECK_FIELDS_edge(FIELD)                                                \
    FIELD(storm_wall_part, kind, "kind",                                       \
          WORD("vacuum|reflect|periodic|blackbody"), "vacuum",                 \
          "boundary condition")                                                \
    FIELD(storm_wall_part, temperature, "temperature", CURVE(0, 1e30), "",     \
          "of a blackbody, keV; or a table [[time, keV], ...], linear in "     \
          "between, constant beyond")                                          \
    FIELD(storm_wall_part, start_s, "start", REAL(-DECK_MAX, DECK_MAX), "0",   \
          "start of emission of a blackbody, s")                               \
    FIELD(storm_wall_part, stop_s, "stop", REAL(-DECK_MAX, DECK_MAX), "1e300", \
          "end of emission, s")                                                \
    FIELD(storm_wall_part, packets, "packets", INT(1, 1e12), "10000",          \
          "packets of a blackbody per step, on all ranks together")            \
    FIELD(storm_wall_part, shape, "part", MAP(part), "{}",                     \
          "part of the wall that this applies to")

#define DECK_NUMBER_KEY "<number>" /* any from 0 to DECK_MAX_NUMBER */
#define DECK_MAX_NUMBER 65535

/* Of a vortex in one step, in radians: a turn is followed in parts. */
#define DECK_MAX_TURN 1000.0
#define DECK_EDGES_HELP                                                    \
    "a boundary condition, or a list of them with `part`; the last whose " \
    "part contains a point applies"
#define DECK_FIELDS_walls(FIELD)                                       \
    FIELD(deck_walls, wall[0], "x_lo", EDGES, "{}", DECK_EDGES_HELP)   \
    FIELD(deck_walls, wall[1], "x_hi", EDGES, "{}", DECK_EDGES_HELP)   \
    FIELD(deck_walls, wall[2], "y_lo", EDGES, "{}", DECK_EDGES_HELP)   \
    FIELD(deck_walls, wall[3], "y_hi", EDGES, "{}", DECK_EDGES_HELP)   \
    FIELD(deck_walls, wall[4], "z_lo", EDGES, "{}", DECK_EDGES_HELP)   \
    FIELD(deck_walls, wall[5], "z_hi", EDGES, "{}", DECK_EDGES_HELP)   \
    FIELD(deck_walls, numbered, DECK_NUMBER_KEY, NUMBERED, "",         \
          "the same for a boundary of a mesh of kind file, which has " \
          "numbers in place of walls: \"3\": {kind: reflect}")

#define DECK_FIELDS_source(FIELD)                                              \
    DECK_FIELDS_shape(FIELD, storm_source, shape.)                             \
        FIELD(storm_source, power_erg_cm3_s, "power", REAL(0, DECK_MAX), "0",  \
              "power, erg/cm3/s")                                              \
            FIELD(storm_source, start_s, "start", REAL(-DECK_MAX, DECK_MAX),   \
                  "0", "start, s")                                             \
                FIELD(storm_source, stop_s, "stop", REAL(-DECK_MAX, DECK_MAX), \
                      "1e300", "end, s")                                       \
                    FIELD(storm_source, packets, "packets", INT(1, 1e12),      \
                          "10000", "per step, on all ranks together")          \
                        FIELD(storm_source, temperature_kev, "temperature",    \
                              POSITIVE(1e30), "1",                             \
                              "of its spectrum, with several groups, keV")

/* ---- time, packets, output ----------------------------------------------- */

#define DECK_KEYS_time(KEY)                                                   \
    KEY(time, dt, POSITIVE(DECK_MAX), "1e-12", "length of the first step, s") \
    KEY(time, growth, POSITIVE(1e6), "1",                                     \
        "ratio of the lengths of successive steps")                           \
    KEY(time, dt_max, POSITIVE(DECK_MAX), "1e300",                            \
        "maximum length of a step, s")                                        \
    KEY(time, stop, POSITIVE(DECK_MAX), "1e300", "end time of the run, s")    \
    KEY(time, steps, INT(0, 4e9), "0",                                        \
        "maximum number of steps; 0: until `stop`. With neither, 100")

#define DECK_KEYS_groups(KEY)                                        \
    KEY(groups, count, INT(1, 10000), "1", "1: grey")                \
    KEY(groups, min, POSITIVE(DECK_MAX), "1e-4",                     \
        "lower edge of the first group, keV; it includes all below") \
    KEY(groups, max, POSITIVE(DECK_MAX), "100",                      \
        "upper edge of the last group, keV; it includes all above")

#define DECK_KEYS_packets(KEY)                                                \
    KEY(packets, emit_per_cell, INT(0, 1e9), "5",                             \
        "packets each cell emits per step; 0: the material does not emit")    \
    KEY(packets, min_per_cell, INT(0, 1e9), "2", "comb: fewer are split")     \
    KEY(packets, max_per_cell, INT(1, 1e9), "15",                             \
        "comb: more are merged; also the packets per cell of the initial "    \
        "radiation")                                                          \
    KEY(packets, population, WORD("comb|none"), "comb", "population control") \
    KEY(packets, steer, WORD("number|error"), "number",                       \
        "what is to be even over cells: number: each emits `emit_per_cell` "  \
        "and keeps up to `max_per_cell`; error: these are means, and cells "  \
        "get more or fewer so that their statistical errors are even")

#define DECK_KEYS_acceleration(KEY)               \
    KEY(acceleration, random_walk, BOOL, "false", \
        "random walk in thick cells; with groups, of those that are thick")

#define DECK_KEYS_balance(KEY)                                               \
    KEY(balance, every, INT(0, 4e9), "10",                                   \
        "steps between two looks at the load of the ranks; 0: never")        \
    KEY(balance, weight, WORD("steps|cells|none"), "steps",                  \
        "what is distributed evenly over ranks: events of the last step, "   \
        "cells, or nothing")                                                 \
    KEY(balance, threshold, REAL(1, 1e6), "1.1",                             \
        "max over mean of the load, below which the partition stays; above " \
        "it there is a new one if that lowers it by 5 % at least")           \
    KEY(balance, host, WORD("none|cells"), "none",                           \
        "cells: after every step the mesh is partitioned into equal "        \
        "numbers of cells, as by a host, and before the next one as before")

#define DECK_KEYS_output(KEY)                                                 \
    KEY(output, every, INT(0, 4e9), "10",                                     \
        "steps between dumps; 0: only at the start and at the end")           \
    KEY(output, times, TIMES(0, DECK_MAX), "[]",                              \
        "more dumps, at exactly these times, s")                              \
    KEY(output, radiation, WORD("path|census"), "path",                       \
        "radiation energy: average over the step by path length, or packets " \
        "at its end")                                                         \
    KEY(output, profile, MAP(profile), "{}", "a CSV at each dump")            \
    KEY(output, checkpoint, MAP(checkpoint), "{}", "files to restart from")

#define DECK_KEYS_profile(KEY)                                       \
    KEY(profile, axis, WORD(DECK_AXES), "x", "along this direction") \
    KEY(profile, bins, INT(0, 1e7), "100",                           \
        "number of bins, of equal width; 0: no profile")

#define DECK_KEYS_checkpoint(KEY)             \
    KEY(checkpoint, every, INT(0, 4e9), "0",  \
        "steps between checkpoints; 0: none") \
    KEY(checkpoint, keep, INT(1, 1e6), "2", "checkpoints to keep")

/* ---- the maps ------------------------------------------------------------ */

/* What is within another comes first. */
#define DECK_MAPS_OF_KEYS(MAP) \
    MAP(constants)             \
    MAP(box)                   \
    MAP(motion)                \
    MAP(mesh)                  \
    MAP(time)                  \
    MAP(groups)                \
    MAP(packets)               \
    MAP(acceleration)          \
    MAP(balance)               \
    MAP(profile)               \
    MAP(checkpoint)            \
    MAP(output)

#define DECK_MAPS_OF_FIELDS(MAP) \
    MAP(opacity)                 \
    MAP(heat_capacity)           \
    MAP(material)                \
    MAP(region)                  \
    MAP(part)                    \
    MAP(edge)                    \
    MAP(walls)                   \
    MAP(source)

#endif /* STORM_DECK_KEYS_H */
