/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of storm_plot.
 *
 *   plot.c          the pictures and their contents
 *   plot_run.c      the run's directory: deck, steps, fields, owners
 *   plot_scale.c    the values of a slice and their scale
 *   plot_slice.c    a slice as SVG
 *   plot_cells.c    its cells: polygons, squares or pixels
 *   plot_mirror.c   is half of it enough?
 *   plot_view.c     the material in three dimensions
 *   plot_profile.c  charts of profiles
 *   plot_line.c     fields along a line
 *   plot_curves.c   curves over time, photon energy or direction
 *   plot_history.c  charts of history.csv and probes.csv
 *   plot_tally.c    charts of tallies
 *   plot_traffic.c  summary.json, and who has sent packets to whom
 */
#ifndef STORM_VIEW_PLOT_H
#define STORM_VIEW_PLOT_H

#include <stdbool.h>

#include <storm/deck.h>
#include <storm/plot.h>

#include "base/memory.h"
#include "base/page.h"
#include "view/slice.h"
#include "view/svg.h"

/* Label in the books of pictures. */
#define PLOT_LABEL "plot"

enum { PLOT_TEXT = 512, PLOT_NAME = IO_READER_NAME };

struct plot_steps {
    uint64_t *step; /* in order */
    size_t n, capacity;
};

struct plot_material {
    char name[PLOT_NAME];
    bool is_empty; /* neither opacity nor heat capacity */
    bool has_heat; /* capacity */
};

struct plot_picture;

/* The run that is drawn. */
struct plot_run {
    struct storm_memory *memory; /* the caller's book */
    const struct storm_plot_params *params;
    char problem[2 * IO_READER_PATH];
    struct io_reader reader; /* of the mesh in use */
    uint64_t mesh_step;      /* its step */
    bool moves;              /* dumps have meshes of their own */
    struct slice slice;      /* through it, if it is cut */
    bool is_cut;
    struct storm_deck *deck;
    char state[PLOT_TEXT];         /* of a run that is not done; else empty */
    char title[2 * PLOT_TEXT + 8]; /* the deck's, and the state */
    double lo[3], hi[3];           /* of the box */
    char profile_axis;
    struct plot_material *materials;
    size_t n_materials, materials_capacity;
    struct plot_steps dumps, profiles;
    bool natural; /* own units: none are written */
    bool by_dump; /* replicas with steps of their own (ACCURACY-3): files have
                     the numbers of dumps, not of steps */
    double *material;
    double *scratch; /* for one more field */
    bool panels;     /* of temperatures: two frames */

    /* Takes slices instead of the params, if it is there. */
    storm_status (*take_slice)(struct plot_run *plot,
                               const struct plot_picture *picture,
                               uint64_t step);
    void *take_slice_self;
};

/* plot_run.c. Close it also after an error. */
storm_status plot_open(struct plot_run *plot, struct storm_memory *memory,
                       const struct storm_plot_params *params);
void plot_close(struct plot_run *plot);

/* Uses the mesh of a dump: reader, box, materials and scratch are of it then,
 * and the slice is freed if it was of another. */
storm_status plot_use(struct plot_run *plot, uint64_t step);

/* Sets the message and returns the status. */
storm_status plot_fail(struct plot_run *plot, storm_status status,
                       const char *format, ...) STORM_PRINTF(3, 4);

/* Values of a field of a dump or of the mesh in use in all cells; NAN in cells
 * without one. values_out has room for all cells. */
storm_status plot_values(struct plot_run *plot, const char *field,
                         uint64_t step, double *values_out);

/* Does the field change with time? */
bool plot_is_dumped(const char *field);

/* All that can be asked for, separated by commas. From malloc. */
char *plot_field_list(struct plot_run *plot, uint64_t step);
bool plot_has_field(struct plot_run *plot, const char *field, uint64_t step);

/* Is it traffic or a file of rows, history, probes, lineout-NAME or tally-NAME,
 * that the run has? */
bool plot_is_table(const struct plot_run *plot, const char *field);

/* Name of the i-th tally of the deck; false: there is none. */
bool plot_tally_name(const struct plot_run *plot, size_t i,
                     char name_out[PLOT_NAME]);

/* "material temperature", "keV" */
void plot_words(const char *field, char words_out[PLOT_NAME]);
const char *plot_unit(const struct plot_run *plot, const char *field);
/* "time (s)", "material temperature (keV)" */
void plot_with_unit(const struct plot_run *plot, const char *words,
                    const char *unit, char label_out[PLOT_TEXT]);
void plot_label(const struct plot_run *plot, const char *field,
                char label_out[PLOT_TEXT]);

/* The unit in which a time has one to three digits before the point; s for 0,
 * and for what is beyond the list. */
const char *plot_time_unit(double time, double *factor_out);

/* Label of an axis of times up to `max_s`, "time (ns)"; returns what seconds
 * are multiplied by for it. */
double plot_time_axis(const struct plot_run *plot, const char *words,
                      double max_s, char label_out[PLOT_TEXT]);

/* "t = 1.5 ns (step 12)" */
storm_status plot_time(struct plot_run *plot, uint64_t step,
                       char text_out[PLOT_TEXT]);
void plot_time_text(const struct plot_run *plot, double time, uint64_t step,
                    char text_out[PLOT_TEXT]);

bool plot_has_step(const struct plot_steps *steps, uint64_t step);
/* The numbers as text, not all if there are many. */
void plot_step_list(const struct plot_steps *steps, char text_out[PLOT_TEXT]);

/* Is the mesh one cell wide in all directions but that of its profiles, so that
 * these show all there is? */
bool plot_is_line(const struct plot_run *plot);

/* plot.c: slices of one field at all these steps, on one scale. */
storm_status plot_field(struct plot_run *plot, const char *field,
                        const uint64_t *steps, size_t n_steps);

/* plot.c: uses the mesh of a dump and cuts it as the params say. */
storm_status plot_cut(struct plot_run *plot, uint64_t step);
/* Where on the axis the params say. */
double plot_at(const struct plot_run *plot, int axis);

/* ---- plot_scale.c -------------------------------------------------------- */

/* Max / min above which scales are logarithmic by default, and the lower end of
 * those relative to the max. */
extern const double plot_wide, plot_deep;

/* Min, positive min and max of values. lo > hi: there are none. */
struct plot_range {
    double lo, positive, hi;
};

/* Of all values of a field of numbers (temperatures: of both) in the slices at
 * all these steps. Reads them into the run's scratch. */
storm_status plot_find_range(struct plot_run *plot, const char *field,
                             const uint64_t *steps, size_t n_steps,
                             struct plot_range *range_out);

/* Equal values within rounding, or none? */
bool plot_is_even(const struct plot_range *range);

struct storm_svg_scale plot_scale(const struct plot_run *plot,
                                  const char *field,
                                  const struct plot_range *range);

/* ---- plot_slice.c -------------------------------------------------------- */

/* Blank: cells whose value is not a number. */
struct plot_picture {
    const struct slice *slice;
    double lo[2], hi[2]; /* of the box */
    const char *title, *subtitle, *axis[2];

    const double *value; /* by cell */
    const double *below; /* a second field; NULL: there is none */
    bool panels;         /* it has a frame of its own, with the same scale;
                            else each has a half of one, split at the middle */
    const char *half[2]; /* names of both, above the frame */

    /* Values on a scale with a bar, or categories 0, 1, ... with a legend. */
    struct storm_svg_scale scale;
    bool is_signed; /* it is even about 0, with a colour for each sign */
    const char *label;
    size_t n_categories;    /* 0: a scale */
    const unsigned *colour; /* of the categories */
    const char *const *category;
    const char *blank; /* in the legend; NULL: not there */
    bool lines;
    bool whole;        /* axes count things: ticks are whole numbers */
    bool numbers;      /* written into the polygons */
    const char *image; /* the cells, as a URI; NULL: they are drawn */
};

/* From malloc; NULL: no memory. */
char *plot_slice_svg(const struct plot_picture *picture);

/* Adds the cells alone as `image` of the same picture to a page. */
void plot_slice_image(const struct plot_picture *picture,
                      struct storm_page *page);

/* One row of a legend. */
void plot_add_key(struct storm_page *svg, double x, double y, unsigned colour,
                  const char *name);

/* ---- plot_cells.c -------------------------------------------------------- */

enum { CELLS_BLANK = 0xe4e4e4 };

/* The frame, and the map from space to it. */
struct cells_frame {
    double left, top, width, height; /* pixels */
};

/* The colour of a place on the scale, 0 .. 1. */
unsigned cells_shade(const struct plot_picture *p, double place);

/* Adds the cells as polygons, or squares; false: no memory. */
bool cells_add(const struct plot_picture *p, const struct cells_frame *frame,
               struct storm_page *svg);

/* Marks the pixels of the frame in a grid with so many in a row, which begins
 * at the top left of the page: cells_palette of their colours. */
bool cells_paint(const struct plot_picture *p, const struct cells_frame *frame,
                 unsigned char *grid, size_t row);

enum { CELLS_COLOURS = 256 };
/* The first is white: no cell. */
void cells_palette(const struct plot_picture *p,
                   unsigned palette_out[CELLS_COLOURS]);

/* ---- plot_mirror.c ------------------------------------------------------- */

/* MIRROR-1, of the slice that the params ask for. */
storm_status plot_is_mirror(struct plot_run *plot, bool *is_mirror_out);

/* ---- plot_view.c --------------------------------------------------------- */

struct plot_view {
    const struct slice *slice; /* where it is cut open */
    double lo[3], hi[3];       /* of the box */
    const char *title, *subtitle;
    const double *material; /* by cell */
    size_t n_materials;
    const bool *solid; /* by material: those that are shown */
    const unsigned *colour;
    const char *const *name;
};

/* *svg_out is from malloc. STORM_ERR_IO: the reader has the reason. */
storm_status plot_view_svg(struct io_reader *reader,
                           const struct plot_view *what, char **svg_out);

/* ---- plot_profile.c ------------------------------------------------------ */

/* Charts of profiles: of these columns; if there are none, of the usual
 * ones. */
storm_status plot_profiles(struct plot_run *plot, char (*names)[PLOT_NAME],
                           size_t n_names);
bool plot_is_profile(const char *field);

/* Name of the i-th line-out of the deck; false: there is none. Its charts:
 * temperatures, or `all` columns that have values. */
bool plot_lineout_name(const struct plot_run *plot, size_t i,
                       char name_out[PLOT_NAME]);
storm_status plot_lineout(struct plot_run *plot, const char *name, bool all);

/* " from (0, 0, 0) to (1.4, 0, 0) cm" */
void plot_line_text(const struct plot_run *plot, const double from[3],
                    const double to[3], char text_out[PLOT_TEXT]);

/* ---- plot_line.c --------------------------------------------------------- */

/* Charts of fields along the line of the params. */
storm_status plot_lines_of(struct plot_run *plot, char (*names)[PLOT_NAME],
                           size_t n_names);

/* ---- plot_history.c, plot_tally.c ---------------------------------------- */

/* Charts of history.csv and probes.csv, and of one of the tallies; none if the
 * file has no rows. `all`: also those that are not drawn by default. */
storm_status plot_history(struct plot_run *plot, const char *name, bool all);
storm_status plot_probes(struct plot_run *plot, const char *name, bool all);
storm_status plot_tally(struct plot_run *plot, const char *name, bool all);

/* ---- plot_traffic.c ------------------------------------------------------ */

struct deck_node;
struct deck_pool;

/* summary.json; NULL: it cannot be read. A run that has not ended has none. */
struct deck_node *plot_summary(const struct plot_run *plot,
                               struct deck_pool *pool);

/* Has any rank sent packets to another? The picture of it. */
bool plot_has_traffic(const struct plot_run *plot);
storm_status plot_traffic(struct plot_run *plot);

/* Message for params without a valid size. */
extern const char plot_not_initialised[];

#endif /* STORM_VIEW_PLOT_H */
