/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of photon energies: edges as a list, or from a file. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "deck/deck.h"

enum { GROUPS_MAX_EDGES = 10001, GROUPS_LINE_BYTES = 256 };

struct groups {
    struct storm_deck *deck;
    const struct deck_node *map; /* NULL: not given */
    struct deck_problems *problems;
};

static int groups_line(const struct groups *g, const char *key)
{
    const struct deck_node *node = deck_node_find(g->map, key);
    node = node != NULL ? node : g->map;
    return node != NULL ? node->line : 1;
}

/* And valid. */
static bool groups_given(const struct groups *g, const char *key)
{
    const struct deck_node *node = deck_node_find(g->map, key);
    return node != NULL && !node->bad;
}

/* Two groups, so that nothing else is reported for want of them. */
static void groups_bad(const struct groups *g)
{
    struct deck_groups *v = &g->deck->values.groups;
    v->edges.n = 0;
    v->count = v->count > 1 ? v->count : 2;
}

/* ---- file ---------------------------------------------------------------- */

/* What is left of a line without comment and blanks around. */
static char *groups_trim(char *line)
{
    line[strcspn(line, "#\r\n")] = '\0';
    line += strspn(line, " \t");
    size_t n = strlen(line);
    while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\t'))
        line[--n] = '\0';
    return line;
}

/* The next edge; false: the end, or an error, which is in `why`. */
static bool groups_next(FILE *stream, double before, size_t *line_inout,
                        double *edge_out, char why[GROUPS_LINE_BYTES])
{
    char line[GROUPS_LINE_BYTES];
    while (fgets(line, sizeof line, stream) != NULL) {
        (*line_inout)++;
        bool whole = strchr(line, '\n') != NULL || feof(stream);
        const char *text = groups_trim(line);
        if (text[0] == '\0' && whole)
            continue;
        double edge;
        if (!whole || !storm_text_to_real(text, &edge) || !(edge > 0.0))
            snprintf(why, GROUPS_LINE_BYTES,
                     "expected a number above 0, got '%.80s'", text);
        else if (!(edge > before))
            snprintf(why, GROUPS_LINE_BYTES,
                     "expected rising edges, got %.12g after %.12g", edge,
                     before);
        else
            *edge_out = edge;
        return why[0] == '\0';
    }
    return false;
}

/* Edges of an open file into the deck. */
static void groups_take(const struct groups *g, FILE *stream, const char *path)
{
    struct deck_groups *v = &g->deck->values.groups;
    double *edges =
        deck_pool_get(&g->deck->pool, GROUPS_MAX_EDGES * sizeof *edges);
    char why[GROUPS_LINE_BYTES] = "";
    size_t n = 0, line = 0;
    double edge = 0.0, before = 0.0;
    if (edges == NULL)
        return;
    for (; groups_next(stream, before, &line, &edge, why); before = edge) {
        if (n == GROUPS_MAX_EDGES) {
            snprintf(why, sizeof why, "expected up to %d edges",
                     GROUPS_MAX_EDGES);
            break;
        }
        edges[n++] = edge;
    }
    if (why[0] == '\0' && ferror(stream))
        snprintf(why, sizeof why, "%s", strerror(errno));
    if (why[0] == '\0' && n < 3)
        snprintf(why, sizeof why, "expected 3 or more edges, got %zu", n);
    v->edges.item = edges;
    v->edges.n = n;
    if (why[0] == '\0')
        return;
    deck_complain(g->problems, groups_line(g, "edges_file"),
                  "groups.edges_file", "%s:%zu: %s", path, line, why);
    groups_bad(g);
}

/* The resolved deck has the numbers. */
static void groups_read(const struct groups *g)
{
    struct deck_groups *v = &g->deck->values.groups;
    const char *resolved = deck_resolve(g->deck, v->edges_file);
    const char *path = resolved != NULL ? resolved : v->edges_file;
    FILE *stream = fopen(path, "r");
    if (stream == NULL) {
        deck_complain(g->problems, groups_line(g, "edges_file"),
                      "groups.edges_file", "expected a file of numbers: %s: %s",
                      path, strerror(errno));
        groups_bad(g);
        return;
    }
    groups_take(g, stream, path);
    fclose(stream);
    v->edges_file = deck_pool_text(&g->deck->pool, "none", strlen("none"));
}

/* ---- with the other keys ------------------------------------------------- */

/* Count, min and max follow from the edges, and may repeat them. */
static void groups_agree(const struct groups *g)
{
    struct deck_groups *v = &g->deck->values.groups;
    size_t last = v->edges.n - 1;
    if (v->edges.n < 3) {
        deck_complain(g->problems, groups_line(g, "edges"), "groups.edges",
                      "expected 3 or more edges, got %zu (for one group leave "
                      "them out)",
                      v->edges.n);
        groups_bad(g);
        return;
    }
    if (groups_given(g, "count") && v->count != (int64_t)last)
        deck_complain(g->problems, groups_line(g, "count"), "groups.count",
                      "expected %zu, as there are %zu edges, or none", last,
                      v->edges.n);
    if ((groups_given(g, "min") && v->min != v->edges.item[0]) ||
        (groups_given(g, "max") && v->max != v->edges.item[last]))
        deck_complain(g->problems, groups_line(g, "min"), "groups",
                      "expected no min and max, as there are edges");
    v->count = (int64_t)last;
    v->min = v->edges.item[0];
    v->max = v->edges.item[last];
}

void deck_check_groups(struct storm_deck *deck, const struct deck_node *root,
                       struct deck_problems *problems)
{
    struct deck_groups *v = &deck->values.groups;
    struct groups g = {deck, deck_node_find(root, "groups"), problems};
    const struct deck_node *edges = deck_node_find(g.map, "edges");
    bool has_file = v->edges_file != NULL && strcmp(v->edges_file, "none") != 0;
    if (deck->pool.failed || (g.map != NULL && g.map->kind != DECK_MAP))
        return;
    if (edges != NULL && edges->bad) {
        groups_bad(&g);
        return;
    }
    if (v->edges.n > GROUPS_MAX_EDGES || (v->edges.n > 0 && has_file)) {
        deck_complain(problems, groups_line(&g, "edges"), "groups.edges",
                      has_file ? "expected edges or edges_file, got both"
                               : "expected up to %d edges",
                      GROUPS_MAX_EDGES);
        groups_bad(&g);
        return;
    }
    if (has_file)
        groups_read(&g);
    if (v->edges.n > 0)
        groups_agree(&g);
}
