/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/problem.h
 * A problem of radiation and matter: shapes, materials, regions, walls,
 * sources. Plain data, filled by an application or from a deck, for
 * storm/imc.h.
 *
 * Lengths in cm, times in s, energies in erg, temperatures and photon energies
 * in keV; with other constants c and a, in whatever units these imply.
 *
 * Ranges of values are given with the members. Numbers are finite: for "no
 * limit" there is STORM_UNLIMITED. storm_problem_check finds what is out of
 * range; functions that take a problem call it.
 */
#ifndef STORM_PROBLEM_H
#define STORM_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/mesh.h>
#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** "No limit" in decks and here. */
#define STORM_UNLIMITED 1e300

typedef enum storm_shape_kind {
    STORM_SHAPE_ALL = 0,
    STORM_SHAPE_BOX,      /**< lo, hi */
    STORM_SHAPE_CYLINDER, /**< axis, centre[0..1], radius, range */
    STORM_SHAPE_SPHERE    /**< centre, radius */
} storm_shape_kind;

/** A part of space, its surface included. Places and lengths are up to
 *  STORM_UNLIMITED; members of other kinds are ignored. */
struct storm_shape {
    storm_shape_kind kind;
    int axis;                  /**< of the cylinder: 0, 1 or 2 */
    double lo_cm[3], hi_cm[3]; /**< lo below hi in each direction */
    double centre_cm[3]; /**< cylinder: across the axis, in cyclic order */
    double radius_cm[2]; /**< inner, outer: 0 <= inner < outer */
    double range_cm[2];  /**< along the axis: from below to */
};

/** Is the point in the shape? Local. */
STORM_API bool storm_shape_contains(const struct storm_shape *shape,
                                    const double point_cm[3]);

/** coef * T^t_exp * E^e_exp * rho^rho_exp (keV, keV, g/cm3), but at least min
 *  and at most max. All zero: 0. storm/matter.h evaluates it. */
struct storm_power_law {
    double coef;         /**< 0 .. STORM_UNLIMITED */
    double t_exp, e_exp; /**< -100 .. 100; e_exp is 0 with one group */
    double min, max;     /**< 0 <= min <= max <= STORM_UNLIMITED; max above 0
                              unless coef is 0 */
    double rho_exp;      /**< -100 .. 100 */
};

/** The opacity of a power law over a group of photon energies: at the geometric
 *  middle of its edges, or its mean between them at the temperature of the
 *  cell, weighted with the Planck function, or the harmonic mean weighted with
 *  the Planck function's derivative (Rosseland). */
typedef enum storm_group_average {
    STORM_GROUP_MIDDLE = 0,
    STORM_GROUP_PLANCK,
    STORM_GROUP_ROSSELAND
} storm_group_average;

struct storm_matter; /* storm/matter.h */

/** What physical scattering does to packets, in the frame of matter
 *  (docs/moving-matter.md, "Scattering"). With COMPTON or USER in a material
 *  all packets of the problem have the energy of their photons
 *  (storm_imc_record_bytes) and fly, whatever random_walk and diffusion are. */
typedef enum storm_scattering_law {
    STORM_SCATTER_ISOTROPIC = 0, /**< elastic */
    STORM_SCATTER_THOMSON,       /**< 1 + cos^2; elastic */
    STORM_SCATTER_COMPTON, /**< by thermal electrons: Klein and Nishina, with
                                energy and momentum; temperatures and energies
                                are keV */
    STORM_SCATTER_USER     /**< as a function of the host says
                                (storm_imc_set_scatter) */
} storm_scattering_law;

/** What fills a cell. Without heat capacity its temperature is constant;
 *  without absorption it never emits. */
struct storm_material {
    const char *name;
    struct storm_power_law absorption;    /**< 1/cm */
    struct storm_power_law scattering;    /**< 1/cm */
    struct storm_power_law heat_capacity; /**< erg/keV/cm3; t_exp above -1,
                                               e_exp 0 */
    double temperature_kev;               /**< at the start; 0 .. 1e30 */
    double radiation_temperature_kev;     /**< up to 1e30; negative: the same */
    /** Formulas of x, y, z (cm) in place of these two, taken at the centres of
     *  cells; NULL: none. With that of the temperature alone, a negative
     *  radiation_temperature_kev is still the same. docs/deck.md has what a
     *  formula may be. */
    const char *temperature_formula, *radiation_temperature_formula;
    double density_g_cm3; /**< at the start; up to STORM_UNLIMITED; 0: 1 */
    /** In place of the laws (storm/matter.h), which are ignored then; NULL: the
     *  laws. The struct is copied, what its `self` points to is not. The same
     *  on every rank, which nobody can check. */
    const struct storm_matter *matter;
    const char *density_formula; /**< of x, y, z (cm), as those above; NULL:
                                      none */
    const double *composition;   /**< at the start, n_components of the problem,
                                    0 .. STORM_UNLIMITED; NULL: all 0 */
    /** With `motion` of the problem, else 0: at the start; gamma at most
     *  1e4. */
    double velocity_cm_s[3];
    /** Of all physical scattering. Of COMPTON the coefficient `scattering` is
     *  that for photons of low energy, without electrons' motion. */
    storm_scattering_law scattering_law;
    /** Free electrons: each adds the cross section of Thomson, 6.652e-25 cm2,
     *  to scattering, whatever its law and the matter; 0: none. Up to 1e30. */
    double electrons_per_g;
};

/** In place of a material: no transport there, packets that enter escape. */
enum { STORM_OUTSIDE = -1 };

/** A cell is filled by the last region that contains its centre; a cell of no
 *  region is empty. */
struct storm_region {
    int material; /**< index, or STORM_OUTSIDE */
    struct storm_shape shape;
    int number; /**< only cells with this number (storm_mesh_cell_number), up to
                     65535; 0: any */
};

/** A function of time: linear between the points, constant beyond them. */
struct storm_curve {
    const double *points; /**< time, value, time, value, ...; times grow */
    size_t n;             /**< points; at least 1 */
};

/** The boundary condition of a wall of the box, or of a part of it. */
struct storm_wall_part {
    storm_wall_kind kind;
    struct storm_curve temperature; /**< BLACKBODY: keV; 0 .. 1e30 */
    double start_s, stop_s;   /**< BLACKBODY: start below stop, which has no
                                 default: STORM_UNLIMITED for no end */
    uint64_t packets;         /**< BLACKBODY: per step, on all ranks together;
                                   1 .. 1e12 */
    struct storm_shape shape; /**< ALL: the whole wall; always so if PERIODIC */
    const char *temperature_formula; /**< BLACKBODY: a formula of t (s) in place
                                          of the curve; NULL: none */
};

/** A wall; at a point, the last part whose shape contains it applies. Where
 *  there is none, the wall is vacuum. */
struct storm_wall {
    const struct storm_wall_part *parts;
    size_t n;
};

typedef enum storm_source_kind {
    STORM_SOURCE_VOLUME = 0, /**< in the volume of its shape, isotropic */
    STORM_SOURCE_POINT,      /**< at a point, within its cone */
    STORM_SOURCE_BEAM,       /**< from a disc or a rectangle across its
                                  direction, within its cone */
    STORM_SOURCE_SHELL       /**< from a sphere, by the cosine law */
} storm_source_kind;

/** Where a shell emits to; each side gets half of the packets of BOTH. */
typedef enum storm_source_side {
    STORM_SOURCE_OUTWARDS = 0,
    STORM_SOURCE_INWARDS,
    STORM_SOURCE_BOTH
} storm_source_side;

/** A source. Members of other kinds are ignored. Of points, beams and shells,
 *  what lies in no cell emits nothing. */
struct storm_source {
    struct storm_shape shape; /**< VOLUME */
    double power_erg_cm3_s;   /**< VOLUME, unless it has a curve or formula;
                                   0 .. STORM_UNLIMITED */
    double start_s, stop_s;   /**< start below stop */
    uint64_t packets;         /**< per step, on all ranks together; 1 .. 1e12 */
    double temperature_kev;   /**< of its spectrum, with several groups or
                                 inelastic scattering: above 0, up to 1e30 */
    storm_source_kind kind;
    /** Power over time, 0 .. STORM_UNLIMITED: of a VOLUME in erg/cm3/s (none:
     *  power_erg_cm3_s), of others in erg/s; or a formula of t (s). */
    struct storm_curve power;
    const char *power_formula;
    double energy_kev;   /**< all photons are of the group of this energy; 0: of
                              the spectrum */
    double at_cm[3];     /**< POINT, in the box; middle of a BEAM or SHELL */
    double direction[3]; /**< POINT, BEAM: of the cone; of any length above 0,
                              unless its angle is 180 */
    double cone_deg;     /**< half of its opening angle: of a BEAM 0 .. 90, of a
                              POINT 0 .. 180 (isotropic) */
    double disc_radius_cm;  /**< BEAM; 0: a rectangle */
    double width_cm[2];     /**< BEAM: of its rectangle */
    double shell_radius_cm; /**< SHELL: above 0 */
    double across[3]; /**< BEAM: direction of the first width; its part across
                           the beam counts. 0: of the axis most across it */
    storm_source_side side; /**< SHELL */
};

/** Which sides of a plane emit. */
typedef enum storm_plane_side {
    STORM_PLANE_BOTH = 0,
    STORM_PLANE_LOW, /**< that of lower coordinates */
    STORM_PLANE_HIGH
} storm_plane_side;

/** A blackbody plane across the box, not in a periodic direction. It may move.
 *  Packets that reach it from either side escape, unless it lets them pass;
 *  what lies in no cell emits nothing. docs/physics.md, eq. (30). */
struct storm_black_plane {
    int axis;                  /**< of its normal: 0, 1 or 2 */
    double at_cm;              /**< at time 0 */
    double velocity_cm_s;      /**< along the axis; slower than light */
    double lo_cm[2], hi_cm[2]; /**< its rectangle, in the directions after the
                                    axis; lo below hi; cut to the box */
    storm_plane_side side;
    bool passes;                    /**< packets go through it */
    struct storm_curve temperature; /**< keV; 0 .. 1e30 */
    const char
        *temperature_formula; /**< of t (s), in place of it; NULL: none */
    double start_s, stop_s;   /**< of its emission; start below stop */
    uint64_t packets;         /**< per step and side, on all ranks; 1 .. 1e12 */
};

/** The problem. Functions that take one copy it with all it points to. */
struct storm_problem {
    size_t size; /**< of this struct; STORM_PROBLEM_INIT sets all sizes */
    /** Sizes of an element of each array, for structs that can grow. */
    size_t material_size, region_size, wall_part_size, source_size;
    double light_cm_s;             /**< c, above 0 */
    double radiation_erg_cm3_kev4; /**< a, above 0 */
    double lo_cm[3], hi_cm[3]; /**< the box, that around the mesh; lo below hi,
                                        both -1e150 .. 1e150 */
    const struct storm_material *materials;
    size_t n_materials;
    const struct storm_region *regions;
    size_t n_regions;
    struct storm_wall walls[STORM_N_WALLS];
    const struct storm_source *sources;
    size_t n_sources;
    uint64_t n_groups;                   /**< 1 .. 10000; 1: grey */
    double group_min_kev, group_max_kev; /**< log-spaced in between; 0 < min <
                                              max, or both 0 if grey; unused if
                                              there are group_edge_kev */
    uint64_t emit_per_cell;              /**< 0: the material does not emit;
                                              up to 1e9 */
    uint64_t min_per_cell;               /**< of the comb; up to max_per_cell */
    uint64_t max_per_cell;               /**< also of the initial radiation;
                                              1 .. 1e9 */
    bool comb;                           /**< population control; the engine
                                              must have one then */
    bool steer_by_error; /**< packets per cell such that errors are even;
                              else their numbers are even */
    bool random_walk; /**< many collisions deep in a thick cell as one event */
    uint64_t seed;
    /** Of a given mesh, by number, in place of walls; as many as the mesh has,
     *  none periodic. NULL: walls are its first, others are vacuum. */
    const struct storm_wall *boundaries;
    size_t n_boundaries;
    const double *group_edge_kev; /**< n_groups + 1, above 0, each above the
                                       one before; NULL: log-spaced */
    storm_group_average group_average; /**< with several groups */
    /** Numbers of each cell that functions of a host are given
     *  (storm/matter.h), and nothing else uses; up to 1000. */
    size_t n_components;
    /** true: steps leave the energy of matter as it is. The host reads what was
     *  absorbed and emitted, and sets energy or temperature (storm_imc_set). */
    bool matter_by_host;
    size_t plane_size; /**< of an element */
    const struct storm_black_plane *planes;
    size_t n_planes;
    /** Packets hop between thick cells (DDMC), where they are scattered, or
     *  absorbed and emitted again within the step, in all but 3 % of their
     *  collisions; elsewhere they fly. docs/diffusion.md. */
    bool diffusion;
    /** Matter moves, and takes momentum (docs/moving-matter.md).
     *  Packets walk and diffuse in matter below 0.1 c; elsewhere they fly,
     *  which is logged once. Density, energy, temperature and opacity are
     *  those in the frame of matter. */
    bool motion;
};
/** The sizes, to begin an initialiser of C with. */
#define STORM_PROBLEM_SIZES                           \
    .size = sizeof(struct storm_problem),             \
    .material_size = sizeof(struct storm_material),   \
    .region_size = sizeof(struct storm_region),       \
    .wall_part_size = sizeof(struct storm_wall_part), \
    .source_size = sizeof(struct storm_source),       \
    .plane_size = sizeof(struct storm_black_plane)
#ifdef __cplusplus
extern "C++" inline storm_problem storm_problem_init()
{
    storm_problem problem = storm_problem();
    problem.size = sizeof(storm_problem);
    problem.material_size = sizeof(storm_material);
    problem.region_size = sizeof(storm_region);
    problem.wall_part_size = sizeof(storm_wall_part);
    problem.source_size = sizeof(storm_source);
    problem.plane_size = sizeof(storm_black_plane);
    return problem;
}
#define STORM_PROBLEM_INIT storm_problem_init()
#else
#define STORM_PROBLEM_INIT  \
    {                       \
        STORM_PROBLEM_SIZES \
    }
#endif

/**
 * Find all faults of a problem: values out of their range, numbers that are not
 * finite, indices and pointers that lead nowhere. Local.
 *
 * @param report  called for each fault; NULL: only count them.
 *                path: the struct it is in, such as "materials[1].absorption",
 *                empty for the problem itself;
 *                member: of that struct, NULL for all of it;
 *                other: a member that does not fit it, NULL if it is wrong by
 *                itself;
 *                message: what was expected and what was found.
 *                All texts are valid during the call only
 * @param self    passed to @p report
 * @return the number of faults; 0: the problem can be run
 */
STORM_API size_t storm_problem_check(const struct storm_problem *problem,
                                     void (*report)(void *self,
                                                    const char *path,
                                                    const char *member,
                                                    const char *other,
                                                    const char *message),
                                     void *self);

/** The material at a point: its index, STORM_OUTSIDE, or n_materials where
 *  there is no region. Regions with a number are none. Local. */
STORM_API int storm_problem_material(const struct storm_problem *problem,
                                     const double point_cm[3]);
/** The same of a cell with this centre and number. */
STORM_API int storm_problem_cell_material(const struct storm_problem *problem,
                                          const double centre_cm[3],
                                          int number);

#ifdef __cplusplus
}
#endif
#endif /* STORM_PROBLEM_H */
