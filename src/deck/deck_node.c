/* SPDX-License-Identifier: BSD-3-Clause */
/* From YAML to a tree, by libyaml. */
#include "deck/deck_node.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

enum { DECK_DEEPEST = 64, DECK_KEY_BYTES = 256 };

/* ---- pool ---------------------------------------------------------------- */

static const char deck_label[] = "deck";

void *deck_pool_get(struct deck_pool *pool, size_t bytes)
{
    void *blocks = pool->blocks, *block = NULL;
    if (storm_reserve(pool->memory, deck_label, sizeof *pool->blocks,
                      pool->n + 1, &blocks, &pool->room) == STORM_OK) {
        pool->blocks = blocks;
        block = storm_alloc(pool->memory, deck_label, bytes);
    }
    if (block == NULL)
        pool->failed = true;
    else
        pool->blocks[pool->n++] = block;
    return block;
}

char *deck_pool_text(struct deck_pool *pool, const char *text, size_t length)
{
    char *copy = deck_pool_get(pool, length + 1);
    if (copy != NULL && length > 0)
        memcpy(copy, text, length);
    return copy;
}

void deck_pool_free(struct deck_pool *pool)
{
    for (size_t i = 0; i < pool->n; i++)
        storm_free(pool->memory, pool->blocks[i]);
    storm_free(pool->memory, pool->blocks);
    *pool = (struct deck_pool){.memory = pool->memory};
}

/* ---- problems ------------------------------------------------------------ */

/* "file:line: key: text" */
static char *problems_line(const struct deck_problems *problems, int line,
                           const char *key, const char *text)
{
    char where[16] = " --set";
    const char *colon = key[0] != '\0' ? ": " : "";
    if (line > 0)
        snprintf(where, sizeof where, "%d", line);
    size_t bytes = strlen(problems->file) + strlen(where) + strlen(key) +
                   strlen(colon) + strlen(text) + sizeof ":: ";
    char *copy = deck_pool_get(problems->pool, bytes);
    if (copy != NULL)
        snprintf(copy, bytes, "%s:%s: %s%s%s", problems->file, where, key,
                 colon, text);
    return copy;
}

void deck_complain(struct deck_problems *problems, int line, const char *key,
                   const char *format, ...)
{
    char text[1024];
    size_t i = problems->n++;
    void *list = problems->list;
    if (problems->pool == NULL)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *c = text; *c != '\0'; c++) /* a line is a line */
        if ((unsigned char)*c < ' ')
            *c = '?';
    if (storm_reserve(problems->pool->memory, deck_label,
                      sizeof *problems->list, problems->n, &list,
                      &problems->room) < 0) {
        problems->pool->failed = true;
        problems->n = i;
        return;
    }
    problems->list = list;
    problems->list[i] = (struct deck_complaint){
        .line = line, .i = i, .text = problems_line(problems, line, key, text)};
}

static int problems_compare(const void *a, const void *b)
{
    const struct deck_complaint *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->i > y->i) - (x->i < y->i);
}

char *deck_problems_end(struct deck_problems *problems)
{
    struct storm_page page = {0};
    if (problems->n > 0)
        qsort(problems->list, problems->n, sizeof *problems->list,
              problems_compare);
    for (size_t i = 0; i < problems->n; i++)
        storm_page_add(&page, "%s\n",
                       problems->list[i].text != NULL ? problems->list[i].text
                                                      : "");
    storm_free(problems->pool->memory, problems->list);
    *problems = (struct deck_problems){.file = problems->file};
    return storm_page_end(&page);
}

/* ---- tree ---------------------------------------------------------------- */

static struct deck_node *node_new(struct deck_pool *pool,
                                  enum deck_node_kind kind, int line)
{
    struct deck_node *node = deck_pool_get(pool, sizeof *node);
    if (node != NULL) {
        node->kind = kind;
        node->line = line;
    }
    return node;
}

/* Room for one more; the old arrays stay in the pool. */
static bool node_grow(struct deck_pool *pool, struct deck_node *node)
{
    if (node->n < node->room)
        return true;
    size_t room = node->room > 0 ? 2 * node->room : 8;
    struct deck_node **items = deck_pool_get(pool, room * sizeof *items);
    char **keys = deck_pool_get(pool, room * sizeof *keys);
    int *lines = deck_pool_get(pool, room * sizeof *lines);
    if (items == NULL || keys == NULL || lines == NULL)
        return false;
    if (node->n > 0) {
        memcpy(items, node->items, node->n * sizeof *items);
        memcpy(keys, node->keys, node->n * sizeof *keys);
        memcpy(lines, node->key_lines, node->n * sizeof *lines);
    }
    node->items = items;
    node->keys = keys;
    node->key_lines = lines;
    node->room = room;
    return true;
}

static void node_add(struct deck_pool *pool, struct deck_node *node, char *key,
                     int line, struct deck_node *item)
{
    if (item == NULL || !node_grow(pool, node))
        return;
    node->keys[node->n] = key;
    node->key_lines[node->n] = line;
    node->items[node->n++] = item;
}

struct deck_node *deck_node_find(const struct deck_node *node, const char *key)
{
    if (node == NULL || node->kind != DECK_MAP)
        return NULL;
    for (size_t i = 0; i < node->n; i++)
        if (strcmp(node->keys[i], key) == 0)
            return node->items[i];
    return NULL;
}

bool deck_node_is_null(const struct deck_node *node)
{
    if (node->kind != DECK_SCALAR || !node->plain)
        return false;
    return node->text[0] == '\0' || strcmp(node->text, "~") == 0 ||
           strcmp(node->text, "null") == 0;
}

/* ---- from libyaml's document --------------------------------------------- */

struct node_reader {
    struct deck_pool *pool;
    yaml_document_t *document;
    struct deck_problems *problems;
    struct deck_node **done; /* by number of libyaml's node, from 1 */
    bool *open;
};

static int node_line(const yaml_node_t *node)
{
    return (int)node->start_mark.line + 1;
}

static struct deck_node *node_convert(struct node_reader *r, int i, int depth);

static void node_convert_map(struct node_reader *r, struct deck_node *map,
                             const yaml_node_t *from, int depth)
{
    for (yaml_node_pair_t *pair = from->data.mapping.pairs.start;
         pair < from->data.mapping.pairs.top; pair++) {
        yaml_node_t *key = yaml_document_get_node(r->document, pair->key);
        if (key == NULL || key->type != YAML_SCALAR_NODE) {
            deck_complain(r->problems, node_line(key != NULL ? key : from), "",
                          "expected a key before ':'");
            continue;
        }
        char *name =
            deck_pool_text(r->pool, (const char *)key->data.scalar.value,
                           key->data.scalar.length);
        if (name == NULL)
            return;
        if (deck_node_find(map, name) != NULL) {
            deck_complain(r->problems, node_line(key), name,
                          "exists twice in the same map");
            continue;
        }
        node_add(r->pool, map, name, node_line(key),
                 node_convert(r, pair->value, depth + 1));
    }
}

static struct deck_node *node_convert(struct node_reader *r, int i, int depth)
{
    const yaml_node_t *from = yaml_document_get_node(r->document, i);
    if (from == NULL || r->open[i] || depth > DECK_DEEPEST) {
        deck_complain(r->problems, from != NULL ? node_line(from) : 1, "",
                      depth > DECK_DEEPEST ? "too many levels"
                                           : "a part contains itself");
        return NULL;
    }
    if (r->done[i] != NULL)
        return r->done[i];
    enum deck_node_kind kind = from->type == YAML_SCALAR_NODE     ? DECK_SCALAR
                               : from->type == YAML_SEQUENCE_NODE ? DECK_LIST
                                                                  : DECK_MAP;
    struct deck_node *node = node_new(r->pool, kind, node_line(from));
    if (node == NULL)
        return NULL;
    r->open[i] = true;
    if (kind == DECK_SCALAR) {
        node->text =
            deck_pool_text(r->pool, (const char *)from->data.scalar.value,
                           from->data.scalar.length);
        node->plain = from->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        if (node->text == NULL)
            node = NULL;
    } else if (kind == DECK_LIST) {
        for (yaml_node_item_t *item = from->data.sequence.items.start;
             item < from->data.sequence.items.top; item++)
            node_add(r->pool, node, NULL, node->line,
                     node_convert(r, *item, depth + 1));
    } else {
        node_convert_map(r, node, from, depth);
    }
    r->open[i] = false;
    r->done[i] = node;
    return node;
}

static struct deck_node *node_from_document(struct deck_pool *pool,
                                            yaml_document_t *document,
                                            struct deck_problems *problems)
{
    if (yaml_document_get_root_node(document) == NULL)
        return node_new(pool, DECK_MAP, 1);
    size_t n =
        (size_t)(document->nodes.top - document->nodes.start) + 1; /* from 1 */
    struct node_reader r = {.pool = pool,
                            .document = document,
                            .problems = problems,
                            .done = deck_pool_get(pool, n * sizeof *r.done),
                            .open = deck_pool_get(pool, n * sizeof *r.open)};
    struct deck_node *root = NULL;
    if (r.done != NULL && r.open != NULL)
        root = node_convert(&r, 1, 0);
    return root;
}

static void node_yaml_error(const yaml_parser_t *parser,
                            struct deck_problems *problems)
{
    int line = (int)parser->problem_mark.line + 1;
    deck_complain(problems, line > 0 ? line : 1, "", "not YAML: %s%s%s",
                  parser->problem != NULL ? parser->problem : "cannot be read",
                  parser->context != NULL ? " " : "",
                  parser->context != NULL ? parser->context : "");
}

struct deck_node *deck_node_read(struct deck_pool *pool, const char *text,
                                 size_t length, struct deck_problems *problems)
{
    yaml_parser_t parser;
    yaml_document_t document, rest;
    struct deck_node *root = NULL;
    if (!yaml_parser_initialize(&parser)) {
        pool->failed = true;
        return NULL;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    if (!yaml_parser_load(&parser, &document)) {
        node_yaml_error(&parser, problems);
        goto out;
    }
    root = node_from_document(pool, &document, problems);
    yaml_document_delete(&document);
    if (!yaml_parser_load(&parser, &rest)) {
        node_yaml_error(&parser, problems);
        goto out;
    }
    const yaml_node_t *more = yaml_document_get_root_node(&rest);
    if (more != NULL)
        deck_complain(problems, node_line(more), "",
                      "expected one document in the file");
    yaml_document_delete(&rest);
out:
    yaml_parser_delete(&parser);
    return root;
}

/* ---- --set --------------------------------------------------------------- */

/* The entry of a list by its number or by its `name`; -1: none. */
static long node_list_index(const struct deck_node *list, const char *word)
{
    char *end;
    long i = strtol(word, &end, 10);
    if (end != word && *end == '\0')
        return i >= 0 && (size_t)i < list->n ? i : -1;
    for (size_t k = 0; k < list->n; k++) {
        const struct deck_node *name = deck_node_find(list->items[k], "name");
        if (name != NULL && name->kind == DECK_SCALAR &&
            strcmp(name->text, word) == 0)
            return (long)k;
    }
    return -1;
}

/* The slot of entry `word` of `node`; a map gets a new one if needed. */
static struct deck_node **node_slot(struct deck_pool *pool,
                                    struct deck_node *node, const char *word)
{
    if (node->kind == DECK_LIST) {
        long i = node_list_index(node, word);
        return i >= 0 ? &node->items[i] : NULL;
    }
    if (node->kind != DECK_MAP)
        return NULL;
    for (size_t i = 0; i < node->n; i++)
        if (strcmp(node->keys[i], word) == 0)
            return &node->items[i];
    size_t before = node->n;
    node_add(pool, node, deck_pool_text(pool, word, strlen(word)), 0,
             node_new(pool, DECK_MAP, 0));
    return node->n > before ? &node->items[before] : NULL;
}

/* Marks the tree as set by --set. */
static void node_mark_set(struct deck_node *node)
{
    if (node->line == 0)
        return; /* already marked, through an alias */
    node->line = 0;
    for (size_t i = 0; node->kind != DECK_SCALAR && i < node->n; i++) {
        node->key_lines[i] = 0;
        node_mark_set(node->items[i]);
    }
}

void deck_node_set(struct deck_pool *pool, struct deck_node *root,
                   const char *set, struct deck_problems *problems)
{
    char key[DECK_KEY_BYTES], *rest = NULL;
    size_t length = strcspn(set, "=");
    if (set[length] == '\0' || length == 0 || length >= sizeof key) {
        deck_complain(problems, 0, "", "expected KEY=VALUE, got '%s'", set);
        return;
    }
    memcpy(key, set, length);
    key[length] = '\0';
    struct deck_problems quiet = {.file = ""};
    const char *value = set + length + 1;
    struct deck_node *node = deck_node_read(pool, value, strlen(value), &quiet);
    if (node == NULL || quiet.n > 0) {
        deck_complain(problems, 0, key, "'%s' is not YAML", value);
        return;
    }
    if (value[0] == '\0') { /* an empty document is an empty scalar here */
        node->kind = DECK_SCALAR;
        node->plain = true;
        node->text = deck_pool_text(pool, "", 0);
    }
    struct deck_node *at = root, **slot = NULL;
    for (char *word = strtok_r(key, ".", &rest); word != NULL;
         word = strtok_r(NULL, ".", &rest)) {
        if (slot != NULL && deck_node_is_null(*slot))
            *slot = node_new(pool, DECK_MAP, 0);
        at = slot != NULL ? *slot : root;
        slot = at != NULL ? node_slot(pool, at, word) : NULL;
        if (slot == NULL) {
            deck_complain(problems, 0, "", "there is no '%s' in '%.*s'", word,
                          (int)length, set);
            return;
        }
    }
    if (slot == NULL) {
        deck_complain(problems, 0, "", "expected KEY=VALUE, got '%s'", set);
        return;
    }
    node_mark_set(node);
    *slot = node;
}
