/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 20 */
/*
 * Single values of a deck, by key: of every kind, given and by default, within
 * maps and lists; and keys that lead nowhere.
 */
#include <stdlib.h>
#include <string.h>

#include <storm/deck.h>

#include "support/check.h"

static const char text[] =
    "title: some \"text\"\n"
    "mesh: {box: {hi: [1, 2, 3.5]}, cells: [4, 1, 1]}\n"
    "materials:\n"
    "  - {name: gas, absorption: {coef: 1}}\n"
    "  - {name: wall, heat_capacity: {coef: 1e15}}\n"
    "regions:\n"
    "  - {material: gas}\n"
    "  - {material: wall, shape: sphere, radius: [0, 0.25]}\n"
    "boundaries: {y_hi: {kind: reflect}}\n"
    "acceleration: {random_walk: true}\n"
    "output: {times: [1e-9, 2e-9], profile: {axis: y}}\n"
    "seed: 7\n";

static const struct {
    const char *key, *value;
} values[] = {
    {"title", "some \"text\""},
    {"mesh.kind", "cartesian"},
    {"mesh.box.hi", "[1, 2, 3.5]"},
    {"mesh.points_file", "none"},
    {"materials.0.name", "gas"},
    {"materials.1.heat_capacity.coef", "1e+15"},
    {"regions.1.radius", "[0, 0.25]"},
    {"boundaries.y_hi.0.kind", "reflect"},
    {"acceleration.random_walk", "true"},
    {"output.profile", "{axis: y, bins: 100, edges: []}"},
    {"output.times", "[1e-09, 2e-09]"},
    {"seed", "7"},
};

static const char *const nowhere[] = {
    "",
    ".",
    "titel",
    "title.x",
    "mesh.",
    "mesh.box.hi.0",
    "materials.2.name",
    "materials.x.name",
    "materials.",
    "materials.0",
    "materials.0.",
    "regions.0.radius",
    "seed.x",
};

static void check_values(const struct storm_deck *deck)
{
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char value[64], cut[4];
        check_where("%s", values[i].key);
        size_t n = storm_deck_value(deck, values[i].key, value, sizeof value);
        CHECK(strcmp(value, values[i].value) == 0);
        CHECK_EQ(n, strlen(values[i].value));
        CHECK_EQ(storm_deck_value(deck, values[i].key, cut, sizeof cut), n);
        CHECK(strncmp(cut, value, 3) == 0 && strlen(cut) <= 3);
    }
    for (size_t i = 0; i < sizeof nowhere / sizeof nowhere[0]; i++) {
        char value[64] = "x";
        double number = 5.0;
        check_where("'%s'", nowhere[i]);
        CHECK_EQ(storm_deck_value(deck, nowhere[i], value, sizeof value), 0);
        CHECK(value[0] == '\0');
        CHECK_EQ(storm_deck_numbers(deck, nowhere[i], &number, 1), 0);
        CHECK(number == 5.0);
    }
}

static void check_numbers(const struct storm_deck *deck)
{
    double x[3] = {9.0, 9.0, 9.0};
    check_where("numbers");
    CHECK_EQ(storm_deck_numbers(deck, "mesh.box.hi", x, 2), 3);
    CHECK(x[0] == 1.0 && x[1] == 2.0 && x[2] == 9.0);
    CHECK_EQ(storm_deck_numbers(deck, "mesh.cells", x, 3), 3);
    CHECK(x[0] == 4.0 && x[1] == 1.0 && x[2] == 1.0);
    CHECK_EQ(storm_deck_numbers(deck, "materials.0.absorption.max", x, 3), 1);
    CHECK(x[0] == 1e12);
    CHECK_EQ(storm_deck_numbers(deck, "output.profile.bins", x, 1), 1);
    CHECK(x[0] == 100.0);
    CHECK_EQ(storm_deck_numbers(deck, "output.times", x, 3), 2);
    CHECK(x[0] == 1e-9 && x[1] == 2e-9);
    CHECK_EQ(storm_deck_numbers(deck, "mesh.kind", x, 3), 0);
    CHECK_EQ(storm_deck_numbers(deck, "mesh", x, 3), 0);
}

int main(void)
{
    struct storm_deck *deck = NULL;
    char *problems = NULL;
    CHECK_OK(storm_deck_parse("deck", text, strlen(text), NULL, 0, &deck,
                              &problems));
    check_values(deck);
    check_numbers(deck);
    storm_deck_destroy(deck);
    return CHECK_PASS;
}
