/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The film of a report: the temperatures of all dumps.
 *
 *   FILM-1  All frames have one scale of colours and one size, also if the mesh
 *           moves. Without scripts they are a strip with their times; a script
 *           makes it a film with buttons and keys.
 *   FILM-2  Of more than FILM_MAX dumps some are left out; the page says so.
 */
#ifndef STORM_VIEW_REPORT_FILM_H
#define STORM_VIEW_REPORT_FILM_H

#include "base/page.h"
#include "view/plot.h"

enum { FILM_MAX = 120 };

/* Adds the film to a page; nothing if the run has one dump alone. After an
 * error the run has the problem. */
storm_status report_film(struct plot_run *plot, struct storm_page *page);

/* Rules for the style sheet of the page; no % is doubled in them. */
extern const char report_film_style[];

#endif /* STORM_VIEW_REPORT_FILM_H */
