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
 * INT_OR(min, max, "word"), which is DECK_BY_WORD for the word,
 * WORDS("a|b"), a list of them: bits,
 * REAL(min, max), REAL3(min, max), REALS(n, min, max), TIMES(min, max),
 * POINTS(min, max), TEXTS, CURVE(min, max), MAP(map), LIST(struct, map), EDGES,
 * NUMBERED. POSITIVE, POSITIVE3 and POSITIVES are reals above zero,
 * REAL_ABOVE(min, max) above `min`; TIMES and POSITIVES are lists of any
 * length. WHEN after a type: the key goes with this `shape` alone.
 * FORMULA(struct, member, names) after REAL or CURVE: text is a formula of
 * these variables, in that member.
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
    KEY(values, materials, LIST(deck_material, material), "[]",             \
        "what cells are filled with")                                       \
    KEY(values, regions, LIST(deck_region, region), "[]",                   \
        "where materials are: a cell has the material of the last region "  \
        "that contains its centre, and is empty in none. Without regions, " \
        "the "                                                              \
        "first material is everywhere")                                     \
    KEY(values, boundaries, MAP(walls), "{}",                               \
        "boundary conditions at the walls of the box, or by number")        \
    KEY(values, sources, LIST(storm_source, source), "[]",                  \
        "sources in the volume, points, beams and shells")                  \
    KEY(values, planes, LIST(storm_black_plane, plane), "[]",               \
        "blackbody planes across the box, which may move")                  \
    KEY(values, time, MAP(time), "{}", "steps")                             \
    KEY(values, groups, MAP(groups), "{}", "groups of photon energies")     \
    KEY(values, packets, MAP(packets), "{}", "numbers of packets")          \
    KEY(values, acceleration, MAP(acceleration), "{}",                      \
        "acceleration of the transport")                                    \
    KEY(values, fields, MAP(fields), "{}", "the start from a file")         \
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

#define DECK_KEYS_mesh(KEY)                                                   \
    KEY(mesh, kind, WORD(STORM_MESH_WORDS), "cartesian", "kind of mesh")      \
    KEY(mesh, box, MAP(box), "{}", "the domain")                              \
    KEY(mesh, cells, INT3(1, 2097152), "[1, 1, 1]",                           \
        "cartesian: cells per direction")                                     \
    KEY(mesh, stretch, POSITIVE3(1e6), "[1, 1, 1]",                           \
        "cartesian: ratio of successive widths")                              \
    KEY(mesh, edges, MAP(mesh_edges), "{}",                                   \
        "cartesian: edges of the cells, per direction")                       \
    KEY(mesh, roots, INT3(1, 1048576), "[1, 1, 1]",                           \
        "octree: root cells per direction; each is cut 2^level times")        \
    KEY(mesh, level, INT(0, 15), "4",                                         \
        "octree: uniform start, 2^level cells per direction and root cell")   \
    KEY(mesh, refine_levels, INT(0, 15), "0",                                 \
        "octree: extra levels at material interfaces; with level 20 at "      \
        "most")                                                               \
    KEY(mesh, points, INT(1, 1e12), "1000", "voronoi: generators, in total")  \
    KEY(mesh, lloyd, INT(0, 1000), "5", "voronoi: Lloyd relaxations")         \
    KEY(mesh, points_file, TEXT, "none",                                      \
        "voronoi: generators from this file (text or HDF5), relative to the " \
        "deck, instead")                                                      \
    KEY(mesh, file, TEXT, "none",                                             \
        "file: cells from this file (HDF5, or Gmsh 4.1 text: see "            \
        "mesh-files.md), relative to the deck; required then")                \
    KEY(mesh, refine_interfaces, REAL(1, 1e6), "1",                           \
        "voronoi: how many times denser the points are where the material "   \
        "changes, within half a mean distance between points")                \
    KEY(mesh, interfaces, WORD("plain|sharp"), "plain",                       \
        "voronoi: sharp: generators in mirrored pairs, so that faces lie "    \
        "where the material changes; `points` is then their number to a "     \
        "fifth or so")                                                        \
    KEY(mesh, seed, INT(0, 1e18), "1", "voronoi: seed of the generators")     \
    KEY(mesh, motion, MAP(motion), "{}", "how the mesh moves")

#define DECK_KEYS_box(KEY)                                      \
    KEY(box, lo, REAL3(-DECK_FAR_CM, DECK_FAR_CM), "[0, 0, 0]", \
        "lower corner, cm")                                     \
    KEY(box, hi, REAL3(-DECK_FAR_CM, DECK_FAR_CM), "[1, 1, 1]", \
        "upper corner, cm")

#define DECK_MESH_EDGES(KEY, _axis)                                      \
    KEY(mesh_edges, _axis, TIMES(-DECK_FAR_CM, DECK_FAR_CM), "[]",       \
        "growing coordinates, cm, one more than cells, in place of "     \
        "`mesh.cells` and `mesh.stretch` of this direction, and of its " \
        "`mesh.box` where there is none (else they must agree)")
#define DECK_KEYS_mesh_edges(KEY) \
    DECK_MESH_EDGES(KEY, x)       \
    DECK_MESH_EDGES(KEY, y)       \
    DECK_MESH_EDGES(KEY, z)

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

#define DECK_FIELDS_material(FIELD)                                            \
    FIELD(deck_material, laws.name, "name", TEXT, REQUIRED,                    \
          "name that regions refer to")                                        \
    FIELD(deck_material, laws.absorption, "absorption", MAP(opacity), "{}",    \
          "absorption coefficient")                                            \
    FIELD(deck_material, laws.scattering, "scattering", MAP(opacity), "{}",    \
          "scattering coefficient")                                            \
    FIELD(deck_material, laws.scattering_law, "scattering_law",                \
          WORD("isotropic|thomson|compton"), "isotropic",                      \
          "of all scattering of the material, in its frame: isotropic and "    \
          "elastic; by 1 + cos^2, elastic; or by thermal electrons, which "    \
          "take and give energy (moving-matter.md). Compton needs keV, and "   \
          "its packets fly")                                                   \
    FIELD(deck_material, laws.electrons_per_g, "electrons_per_g",              \
          REAL(0, 1e30), "0",                                                  \
          "free electrons, 1/g: each adds 6.652e-25 cm2 to scattering, of "    \
          "compton for photons of low energy (6.022e23 Z / A if ionised)")     \
    FIELD(deck_material, laws.heat_capacity, "heat_capacity",                  \
          MAP(heat_capacity), "{}", "heat capacity per volume")                \
    FIELD(deck_material, laws.temperature_kev, "temperature",                  \
          REAL(0, 1e30)                                                        \
              FORMULA(deck_material, laws.temperature_formula, "xyz"),         \
          "0", "at the start, keV")                                            \
    FIELD(deck_material, laws.radiation_temperature_kev,                       \
          "radiation_temperature",                                             \
          REAL(0, 1e30) FORMULA(deck_material,                                 \
                                laws.radiation_temperature_formula, "xyz"),    \
          "", /* the same as temperature */                                    \
          "of the radiation at the start, keV; as the material unless set, "   \
          "0 for none")                                                        \
    FIELD(deck_material, laws.density_g_cm3, "density",                        \
          REAL_ABOVE(0, DECK_MAX)                                              \
              FORMULA(deck_material, laws.density_formula, "xyz"),             \
          "1", "at the start, g/cm3")                                          \
    FIELD(deck_material, laws.velocity_cm_s, "velocity",                       \
          REALS(3, -DECK_MAX, DECK_MAX), "[0, 0, 0]",                          \
          "of the material through the mesh, cm/s, slower than light; if any " \
          "moves, in special relativity and with accounts of momentum "        \
          "(moving-matter.md)")                                                \
    FIELD(deck_material, table, "table", TEXT, "none",                         \
          "opacities and equation of state from this HDF5 file "               \
          "(matter-files.md), relative to the deck, in place of absorption, "  \
          "scattering and heat_capacity")                                      \
    FIELD(deck_material, beyond, "table_beyond", WORD("error|edge"), "error",  \
          "temperatures and densities beyond the table: an error, or the "     \
          "opacities of its edge and the power of the energy there")

#define DECK_FIELDS_opacity(FIELD)                                             \
    FIELD(storm_power_law, coef, "coef", REAL(0, DECK_MAX), "0",               \
          "1/cm: coef * T^T_exp * E^E_exp * rho^rho_exp")                      \
    FIELD(storm_power_law, t_exp, "T_exp", REAL(-100, 100), "0", "power of T") \
    FIELD(storm_power_law, e_exp, "E_exp", REAL(-100, 100), "0",               \
          "power of the photon energy; needs several groups")                  \
    FIELD(storm_power_law, rho_exp, "rho_exp", REAL(-100, 100), "0",           \
          "power of the density")                                              \
    FIELD(storm_power_law, min, "min", REAL(0, DECK_MAX), "0", "floor, 1/cm")  \
    FIELD(storm_power_law, max, "max", REAL(0, DECK_MAX), "1e12", "cap, 1/cm")

#define DECK_FIELDS_heat_capacity(FIELD)                             \
    FIELD(storm_power_law, coef, "coef", REAL(0, DECK_MAX), "0",     \
          "erg/keV/cm3: coef * T^T_exp * rho^rho_exp; 0: keeps its " \
          "temperature")                                             \
    FIELD(storm_power_law, t_exp, "T_exp", REAL_ABOVE(-1, 100), "0", \
          "power of T")                                              \
    FIELD(storm_power_law, rho_exp, "rho_exp", REAL(-100, 100), "0", \
          "power of the density")                                    \
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
    FIELD(storm_wall_part, temperature, "temperature",                         \
          CURVE(0, 1e30) FORMULA(storm_wall_part, temperature_formula, "t"),   \
          "",                                                                  \
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
    FIELD(storm_source, kind, "kind", WORD("volume|point|beam|shell"),         \
          "volume",                                                            \
          "volume: in its shape, isotropic; point: within its cone; beam: "    \
          "from a disc or a rectangle across its direction, within its "       \
          "cone; shell: from a sphere, by the cosine law. What lies in no "    \
          "cell emits nothing")                                                \
    FIELD(storm_source, power, "power",                                        \
          CURVE(0, DECK_MAX) FORMULA(storm_source, power_formula, "t"), "0",   \
          "of a volume, erg/cm3/s; of others, erg/s")                          \
    FIELD(storm_source, start_s, "start", REAL(-DECK_MAX, DECK_MAX), "0",      \
          "start, s")                                                          \
    FIELD(storm_source, stop_s, "stop", REAL(-DECK_MAX, DECK_MAX), "1e300",    \
          "end, s")                                                            \
    FIELD(storm_source, packets, "packets", INT(1, 1e12), "10000",             \
          "per step, on all ranks together")                                   \
    FIELD(storm_source, temperature_kev, "temperature", POSITIVE(1e30), "1",   \
          "of its spectrum, with several groups, keV")                         \
    FIELD(storm_source, energy_kev, "energy", REAL(0, DECK_MAX), "0",          \
          "all photons are of the group of this energy, keV; 0: of the "       \
          "spectrum")                                                          \
    FIELD(storm_source, at_cm, "at", REALS(3, -DECK_FAR_CM, DECK_FAR_CM),      \
          "[0, 0, 0]", "place of a point, middle of a beam or a shell, cm")    \
    FIELD(storm_source, direction, "direction",                                \
          REALS(3, -DECK_FAR_CM, DECK_FAR_CM), "[1, 0, 0]",                    \
          "of a beam, or of the cone of a point; of any length")               \
    FIELD(storm_source, cone_deg, "cone", REAL(0, 180), "",                    \
          "half of the opening angle about the direction, degrees; a beam "    \
          "has 0 to 90 (default 0), a point 0 to 180 (default: isotropic)")    \
    FIELD(storm_source, disc_radius_cm, "disc_radius", REAL(0, DECK_FAR_CM),   \
          "0", "of a beam, cm; 0: it has a rectangle")                         \
    FIELD(storm_source, width_cm, "rectangle", REALS(2, 0, DECK_FAR_CM),       \
          "[0, 0]", "widths of a beam, cm")                                    \
    FIELD(storm_source, across, "across", REALS(3, -DECK_FAR_CM, DECK_FAR_CM), \
          "[0, 0, 0]",                                                         \
          "direction of the first width; 0: of the axis most across the "      \
          "beam")                                                              \
    FIELD(storm_source, shell_radius_cm, "shell_radius", REAL(0, DECK_FAR_CM), \
          "0", "of a shell, cm")                                               \
    FIELD(storm_source, side, "side", WORD("out|in|both"), "out",              \
          "of a shell: where it emits to")                                     \
    DECK_FIELDS_shape(FIELD, storm_source, shape.)

#define DECK_FIELDS_plane(FIELD)                                               \
    FIELD(storm_black_plane, axis, "axis", WORD(DECK_AXES), "x",               \
          "of its normal, not periodic")                                       \
    FIELD(storm_black_plane, at_cm, "at", REAL(-DECK_FAR_CM, DECK_FAR_CM),     \
          "0", "where it is at time 0, cm")                                    \
    FIELD(storm_black_plane, velocity_cm_s, "velocity",                        \
          REAL(-DECK_MAX, DECK_MAX), "0", "along the axis, cm/s")              \
    FIELD(storm_black_plane, lo_cm, "lo", REALS(2, -DECK_MAX, DECK_MAX),       \
          "[-1e300, -1e300]",                                                  \
          "lower corner of its rectangle, cm: y and z, z and x, or x and y")   \
    FIELD(storm_black_plane, hi_cm, "hi", REALS(2, -DECK_MAX, DECK_MAX),       \
          "[1e300, 1e300]", "upper corner, cm")                                \
    FIELD(storm_black_plane, side, "side", WORD("both|low|high"), "both",      \
          "side that emits: of lower or of higher coordinates")                \
    FIELD(storm_black_plane, passes, "passes", BOOL, "false",                  \
          "packets go through it; else they escape there, on both sides")      \
    FIELD(storm_black_plane, temperature, "temperature",                       \
          CURVE(0, 1e30) FORMULA(storm_black_plane, temperature_formula, "t"), \
          REQUIRED, "keV")                                                     \
    FIELD(storm_black_plane, start_s, "start", REAL(-DECK_MAX, DECK_MAX), "0", \
          "start of emission, s")                                              \
    FIELD(storm_black_plane, stop_s, "stop", REAL(-DECK_MAX, DECK_MAX),        \
          "1e300", "end of emission, s")                                       \
    FIELD(storm_black_plane, packets, "packets", INT(1, 1e12), "10000",        \
          "per step and side, on all ranks together")

/* ---- time, packets, output ----------------------------------------------- */

#define DECK_KEYS_time(KEY)                                                    \
    KEY(time, dt, POSITIVE(DECK_MAX), "1e-12", "length of the first step, s")  \
    KEY(time, control, WORD("fixed|accuracy"), "fixed",                        \
        "lengths of the steps after it: fixed: by `growth`; accuracy: such "   \
        "that energies change by about `target` in a step, within `growth` "   \
        "and `shrink`, `dt_min` and `dt_max`")                                 \
    KEY(time, growth, POSITIVE(1e6), "1",                                      \
        "ratio of the lengths of successive steps; with control accuracy "     \
        "the maximum of it, and 1.2 unless set")                               \
    KEY(time, dt_max, POSITIVE(DECK_MAX), "1e300",                             \
        "maximum length of a step, s")                                         \
    KEY(time, dt_min, REAL(0, DECK_MAX), "0",                                  \
        "accuracy: minimum length of a step, s; steps that end at a given "    \
        "time may be shorter")                                                 \
    KEY(time, shrink, POSITIVE(1), "0.5",                                      \
        "accuracy: minimum ratio of the lengths of successive steps")          \
    KEY(time, target, POSITIVE(1), "0.1",                                      \
        "accuracy: relative change of energies in a step: of the matter of "   \
        "the cell that changes most, and of all radiation")                    \
    KEY(time, floor, POSITIVE(1), "0.1",                                       \
        "accuracy: the change of a cell is relative to its energy or to this " \
        "share of the largest energy density of its material")                 \
    KEY(time, overshoot, REAL(1, 1e6), "2",                                    \
        "accuracy: a step whose change is larger than this many targets is "   \
        "reported")                                                            \
    KEY(time, stop, POSITIVE(DECK_MAX), "1e300", "end time of the run, s")     \
    KEY(time, steps, INT(0, 4e9), "0",                                         \
        "maximum number of steps; 0: until `stop`. With neither, 100")

#define DECK_KEYS_groups(KEY)                                                  \
    KEY(groups, count, INT(1, 10000), "1", "1: grey")                          \
    KEY(groups, min, POSITIVE(DECK_MAX), "1e-4",                               \
        "lower edge of the first group, keV; it includes all below")           \
    KEY(groups, max, POSITIVE(DECK_MAX), "100",                                \
        "upper edge of the last group, keV; it includes all above")            \
    KEY(groups, edges, POSITIVES(DECK_MAX), "[]",                              \
        "rising edges, keV, one more than groups, in place of count, min and " \
        "max")                                                                 \
    KEY(groups, edges_file, TEXT, "none",                                      \
        "edges from this file, relative to the deck: a number a line, # "      \
        "begins a comment")                                                    \
    KEY(groups, opacity, WORD("middle|planck|rosseland"), "middle",            \
        "opacity of a power law over a group: at its geometric middle, or "    \
        "its mean over the group with the weight of Planck or Rosseland at "   \
        "the temperature of the cell")

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

#define DECK_KEYS_fields(KEY)                                                 \
    KEY(fields, file, TEXT, "none",                                           \
        "HDF5 file (matter-files.md), relative to the deck; none: materials " \
        "have their own values")                                              \
    KEY(fields, by, WORD("cell|position"), "cell",                            \
        "rows are cells in the order of dumps, or samples: a cell takes the " \
        "one nearest to its centre")                                          \
    KEY(fields, temperature, TEXT, "none",                                    \
        "array of the temperatures of matter, keV, such as "                  \
        "material_temperature of a dump")                                     \
    KEY(fields, density, TEXT, "none", "array of densities, g/cm3")           \
    KEY(fields, radiation_temperature, TEXT, "none",                          \
        "array of radiation temperatures, keV")

#define DECK_KEYS_acceleration(KEY)                                         \
    KEY(acceleration, method, WORD("none|random_walk|ddmc|auto"), "none",   \
        "how packets cross thick cells: collision by collision, by random " \
        "walks deep inside cells, by hops from cell to cell (discrete "     \
        "diffusion), or by hops where cells are thick enough and walks "    \
        "elsewhere; with groups, of those that are thick")                  \
    KEY(acceleration, random_walk, BOOL, "false",                           \
        "true: the same as method: random_walk")

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

#define DECK_KEYS_output(KEY)                                                  \
    KEY(output, every, INT(0, 4e9), "10",                                      \
        "steps between dumps; 0: only at the start and at the end")            \
    KEY(output, times, TIMES(0, DECK_MAX), "[]",                               \
        "more dumps, at exactly these times, s")                               \
    KEY(output, radiation, WORD("path|census"), "path",                        \
        "radiation energy: average over the step by path length, or packets "  \
        "at its end")                                                          \
    KEY(output, profile, MAP(profile), "{}", "a CSV at each dump")             \
    KEY(output, lineouts, LIST(deck_lineout, lineout), "[]",                   \
        "lines through the mesh: a CSV of each at each dump, with the fields " \
        "of the cells along it")                                               \
    KEY(output, checkpoint, MAP(checkpoint), "{}", "files to restart from")    \
    KEY(output, history, BOOL, "true",                                         \
        "history.csv: packets, energies and times of each step")               \
    KEY(output, probes, POINTS(-DECK_FAR_CM, DECK_FAR_CM), "[]",               \
        "points [x, y, z], cm, at which probes.csv has the fields of each "    \
        "step")                                                                \
    KEY(output, trace, TEXTS, "[]",                                            \
        "packets whose events are written to trace.csv: "                      \
        "origin:step:place:index, such as emission:3:17:0, or the 32 "         \
        "hexadecimal digits of an id")                                         \
    KEY(output, groups, BOOL, "false",                                         \
        "radiation energy of each group in dumps as well")                     \
    KEY(output, moments, WORDS("flux|pressure|momentum|events"), "[]",         \
        "in dumps as well: flux and pressure of the radiation, momentum "      \
        "given to matter in the step, its events by kind (history.csv and "    \
        "summary.json have their sums)")                                       \
    KEY(output, tallies, LIST(deck_tally, tally), "[]",                        \
        "what escapes or crosses surfaces, by time, group, direction: "        \
        "tallies.h5 and tally-NAME.csv, complete at each dump")

#define DECK_KEYS_profile(KEY)                                           \
    KEY(profile, axis, WORD(DECK_AXES), "x", "along this direction")     \
    KEY(profile, bins, INT_OR(0, 1e7, "cells"), "100",                   \
        "number of bins, of equal width; 0: no profile; cells: one for " \
        "each layer of cells of a Cartesian mesh")                       \
    KEY(profile, edges, TIMES(-DECK_FAR_CM, DECK_FAR_CM), "[]",          \
        "growing edges of the bins instead, cm; what is beyond them "    \
        "is left out")

#define DECK_FIELDS_lineout(FIELD)                                         \
    FIELD(deck_lineout, name, "name", TEXT, REQUIRED,                      \
          "letters, digits, - and _")                                      \
    FIELD(deck_lineout, from, "from", REALS(3, -DECK_FAR_CM, DECK_FAR_CM), \
          REQUIRED, "where the line begins, cm")                           \
    FIELD(deck_lineout, to, "to", REALS(3, -DECK_FAR_CM, DECK_FAR_CM),     \
          REQUIRED, "where it ends")                                       \
    FIELD(deck_lineout, points, "points", INT(2, 1e6), "200",              \
          "points at equal distances, both ends included")

#define DECK_KEYS_checkpoint(KEY)             \
    KEY(checkpoint, every, INT(0, 4e9), "0",  \
        "steps between checkpoints; 0: none") \
    KEY(checkpoint, keep, INT(1, 1e6), "2", "checkpoints to keep")

#define DECK_FIELDS_tally(FIELD)                                               \
    FIELD(deck_tally, name, "name", TEXT, REQUIRED,                            \
          "letters, digits, - and _")                                          \
    FIELD(deck_tally, where, "where", WORD("escape|surface"), "escape",        \
          "what is counted: packets that leave the domain, or that cross the " \
          "faces between cells of the shape and material below and others")    \
    FIELD(deck_tally, by, "by", WORDS("time|group|direction|wall|side"), "[]", \
          "any of these; wall goes with escape, side (out, in) with "          \
          "surface")                                                           \
    FIELD(deck_tally, time_bins, "time_bins", INT(1, 1e6), "100",              \
          "time: bins of equal length; what is before and after has bins of "  \
          "its own")                                                           \
    FIELD(deck_tally, from, "from", REAL(-DECK_MAX, DECK_MAX), "0",            \
          "time: start of the first bin, s")                                   \
    FIELD(deck_tally, to, "to", REAL(-DECK_MAX, DECK_MAX), "",                 \
          "time: end of the last bin, s; unless set, time.stop")               \
    FIELD(deck_tally, time_edges, "time_edges", TIMES(-DECK_MAX, DECK_MAX),    \
          "[]", "time: growing edges of the bins instead, s")                  \
    FIELD(deck_tally, clock, "clock", WORD("domain|observer"), "domain",       \
          "time: when it happens, or when a distant observer in the "          \
          "packet's direction sees it, t - n.(r - origin)/c")                  \
    FIELD(deck_tally, origin, "origin", REALS(3, -DECK_FAR_CM, DECK_FAR_CM),   \
          "[0, 0, 0]", "of the observer's clock, cm")                          \
    FIELD(deck_tally, mu_bins, "mu_bins", INT(1, 1e6), "10",                   \
          "direction: equal bins of the cosine with `towards`, -1 to 1")       \
    FIELD(deck_tally, mu_edges, "mu_edges", TIMES(-1, 1), "[]",                \
          "direction: growing edges of the bins instead; what is below and "   \
          "above has bins of its own")                                         \
    FIELD(deck_tally, azimuth_bins, "azimuth_bins", INT(0, 1e6), "0",          \
          "direction: equal bins of the angle about `towards` as well")        \
    FIELD(deck_tally, towards, "towards", REALS(3, -1e100, 1e100),             \
          "[0, 0, 1]", "direction: the axis")                                  \
    FIELD(deck_tally, material, "material", TEXT, "all",                       \
          "surface: of this material only")                                    \
    DECK_FIELDS_shape(FIELD, deck_tally, shape.)

/* ---- the maps ------------------------------------------------------------ */

/* What is within another comes first. */
#define DECK_MAPS_OF_KEYS(MAP) \
    MAP(constants)             \
    MAP(box)                   \
    MAP(mesh_edges)            \
    MAP(motion)                \
    MAP(mesh)                  \
    MAP(time)                  \
    MAP(groups)                \
    MAP(packets)               \
    MAP(fields)                \
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
    MAP(source)                  \
    MAP(plane)                   \
    MAP(lineout)                 \
    MAP(tally)

#endif /* STORM_DECK_KEYS_H */
