/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A deck as it was written: scalars, lists and maps, each with its line.
 *
 *   YAML-1  Nodes belong to a pool and are freed with it. An alias is the same
 *           node as its anchor; no node contains itself.
 *   YAML-2  Entries of a map keep their order; keys are distinct.
 *   YAML-3  Errors are added to the problems, one line each, and reading
 *           continues as far as possible. They come out by line; those of
 *           --set are the first.
 */
#ifndef STORM_DECK_NODE_H
#define STORM_DECK_NODE_H

#include <stdbool.h>
#include <stddef.h>

#include <storm/status.h>

#include "base/memory.h"
#include "base/page.h"
#include "base/port.h"

enum deck_node_kind { DECK_SCALAR, DECK_LIST, DECK_MAP };

struct deck_node {
    enum deck_node_kind kind;
    int line;     /* from 1; 0: from --set */
    bool plain;   /* scalar without quotes */
    bool bad;     /* its problem has been reported */
    bool lacks;   /* map: a required key, which has been reported */
    size_t wrong; /* list: the element that is wrong, from 1; 0: none */
    char *text;   /* scalar */
    size_t n, room;
    char **keys; /* map */
    int *key_lines;
    struct deck_node **items; /* list, map */
};

/* All memory of a tree: freed at once. */
struct deck_pool {
    struct storm_memory *memory; /* the owner's book */
    void **blocks;
    size_t n, room;
    bool failed; /* memory ran out at some time */
};

void *deck_pool_get(struct deck_pool *pool, size_t bytes); /* zeroed or NULL */
char *deck_pool_text(struct deck_pool *pool, const char *text, size_t length);
void deck_pool_free(struct deck_pool *pool); /* it can be used again */

/* The errors found so far. Without a pool they are only counted. */
struct deck_problems {
    const char *file;
    struct deck_pool *pool;
    struct deck_complaint {
        int line;
        size_t i; /* in order of discovery */
        char *text;
    } * list;
    size_t n, room;
};

/* "file:line: key: message"; key may be empty, line 0 means --set. */
void deck_complain(struct deck_problems *problems, int line, const char *key,
                   const char *format, ...) STORM_PRINTF(4, 5);

/* All of them, by line, and frees the list. From malloc; NULL if memory ran
 * out. */
char *deck_problems_end(struct deck_problems *problems);

/* The one document in `text`; NULL if it cannot be read (reported) or memory
 * ran out. An empty document is an empty map. */
struct deck_node *deck_node_read(struct deck_pool *pool, const char *text,
                                 size_t length, struct deck_problems *problems);

/* The entry of a map; NULL if there is none or `node` is not a map. */
struct deck_node *deck_node_find(const struct deck_node *node, const char *key);

/* Nothing after the colon, `~` or `null`. */
bool deck_node_is_null(const struct deck_node *node);

/* Sets KEY=VALUE in the tree: adds missing maps, replaces old values. */
void deck_node_set(struct deck_pool *pool, struct deck_node *root,
                   const char *set, struct deck_problems *problems);

#endif /* STORM_DECK_NODE_H */
