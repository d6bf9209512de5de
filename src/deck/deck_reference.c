/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of decks as a page. */
#include <stdio.h>
#include <string.h>

#include "deck/deck.h"

enum { REFERENCE_KEY_BYTES = 128, REFERENCE_TEXT_BYTES = 512 };

static void reference_rows(struct storm_page *page, const struct deck_row *rows,
                           const char *prefix);

static void reference_row(struct storm_page *page, const struct deck_row *row,
                          const char *prefix)
{
    char key[REFERENCE_KEY_BYTES], takes[REFERENCE_TEXT_BYTES];
    snprintf(key, sizeof key, "%.80s%.40s%s", prefix, row->key,
             row->kind == DECK_LISTED ? "[]" : "");
    deck_row_expected(row, takes, sizeof takes);
    bool inner = row->rows != NULL && row->kind != DECK_NUMBERED;
    storm_page_add(page, "| `%s`%s%s | %s%s%s | %s | %s |\n", key,
                   row->when != NULL ? ", " : "",
                   row->when != NULL ? row->when : "",
                   row->default_yaml == NULL               ? "required"
                   : inner || row->default_yaml[0] == '\0' ? ""
                                                           : "`",
                   row->default_yaml == NULL || inner ? "" : row->default_yaml,
                   row->default_yaml == NULL || inner ||
                           row->default_yaml[0] == '\0'
                       ? ""
                       : "`",
                   inner ? "" : takes, row->help);
    snprintf(takes, sizeof takes, "%s.", key);
    if (inner)
        reference_rows(page, row->rows, takes);
}

static void reference_rows(struct storm_page *page, const struct deck_row *rows,
                           const char *prefix)
{
    bool walls_shown = false;
    for (; rows->key != NULL; rows++) {
        /* The six walls take the same. */
        if (rows->kind == DECK_ONE_OR_MORE) {
            if (walls_shown)
                continue;
            walls_shown = true;
            struct deck_row wall = *rows;
            wall.key = "<wall>";
            reference_row(page, &wall, prefix);
            continue;
        }
        reference_row(page, rows, prefix);
    }
}

char *storm_deck_reference(void)
{
    struct storm_page page = {0};
    storm_page_add(
        &page,
        "# Decks\n\n"
        "<!-- Written by `storm check --keys`; do not edit. -->\n\n"
        "A deck is a YAML file. Units: cm, s, erg, keV (temperature and photon "
        "energy),\nunless `constants` sets others. Unknown keys, wrong types, "
        "values out of range and\nregions that name no material are errors: "
        "all are reported at once, with file, line,\nkey and what was "
        "expected, "
        "and nothing is written. `storm check DECK` only checks;\n`storm check "
        "DECK --resolved` prints the deck with all defaults, which a run\n"
        "also writes beside its results. `--set KEY=VALUE` overrides an "
        "entry; an item of\na list is named by its number from 0 or by its "
        "`name`: `--set\nmaterials.gold.temperature=0.1`.\n\n"
        "`packets` counts are per step and for all ranks together; "
        "`emit_per_cell` is per\ncell. The initial radiation is sampled with "
        "`max_per_cell` packets a cell. The\nstate before the first step is "
        "dumped as step 0. A step cut short to hit a time of\n`output.times` "
        "does not change the next step's dt. Numbers of 1e300 mean no "
        "limit.\n`<wall>` is `x_lo`, `x_hi`, `y_lo`, `y_hi`, `z_lo` or "
        "`z_hi`.\n\n"
        "An octree is refined where a cell has more than one material in it "
        "or right next to\nit. That is looked for at 5 x 5 x 5 points: layers "
        "thinner than about a quarter of a\ncell may be missed, and need a "
        "larger `mesh.level`.\n\n"
        "A formula is text: numbers, `pi`, the variables (t in s, x, y, z in "
        "cm), `+ - * / ^`\n(`-2^2` is -4), parentheses, and the functions "
        "exp, log, sqrt, cbrt, abs, cos2pi and\nsin2pi (of so many turns), "
        "step (0 below 0, else 1), min and max of two:\n`temperature: "
        "\"1.008038 * (t / 1e-9)^(1/3)\"`. Of x, y, z it is taken at the "
        "centre of\neach cell; of t it is followed within each step to 1e-5 "
        "of its largest value there.\n\n"
        "| key | default | takes | meaning |\n|---|---|---|---|\n");
    reference_rows(&page, deck_schema, "");
    return storm_page_end(&page);
}
