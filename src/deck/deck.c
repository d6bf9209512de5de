/* SPDX-License-Identifier: BSD-3-Clause */
/* Decks: the public calls. */
#include "deck/deck.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A deck is a few kilobytes; more is a mistake. */
enum { DECK_MOST_BYTES = 64 << 20 };

static storm_status deck_problem(char **problems_out, const char *path,
                                 const char *why)
{
    struct storm_page page = {0};
    storm_page_add(&page, "%s: %s\n", path, why);
    *problems_out = storm_page_end(&page);
    return *problems_out != NULL ? STORM_ERR_IO : STORM_ERR_NOMEM;
}

storm_status storm_deck_read(const char *path, const char *const *sets,
                             size_t n_sets, struct storm_deck **deck_out,
                             char **problems_out)
{
    *problems_out = NULL;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return deck_problem(problems_out, path, strerror(errno));
    char *text = NULL;
    size_t length = 0, room = 0;
    storm_status status = STORM_OK;
    for (size_t got = 1; got > 0 && status == STORM_OK; length += got) {
        if (room - length < BUFSIZ) {
            room = room > 0 ? 2 * room : 4 * BUFSIZ;
            char *more = room <= DECK_MOST_BYTES ? realloc(text, room) : NULL;
            if (more == NULL) {
                status = STORM_ERR_NOMEM;
                break;
            }
            text = more;
        }
        errno = 0;
        got = fread(text + length, 1, room - length, file);
        if (ferror(file))
            status = deck_problem(problems_out, path, strerror(errno));
    }
    fclose(file);
    if (status == STORM_ERR_NOMEM && room > DECK_MOST_BYTES)
        status = deck_problem(problems_out, path, "is too large for a deck");
    if (status == STORM_OK)
        status = storm_deck_parse(path, text, length, sets, n_sets, deck_out,
                                  problems_out);
    free(text);
    return status;
}

static void deck_build(struct storm_deck *deck, const char *text, size_t length,
                       const char *const *sets, size_t n_sets,
                       struct deck_problems *problems)
{
    struct deck_node *root =
        deck_node_read(&deck->pool, text, length, problems);
    if (root == NULL)
        return;
    for (size_t i = 0; i < n_sets && root->kind == DECK_MAP; i++)
        deck_node_set(&deck->pool, root, sets[i], problems);
    deck_fill(deck, root, problems);
    if (root->kind == DECK_MAP && !deck->pool.failed)
        deck_make_sense(deck, root, problems);
}

storm_status storm_deck_parse(const char *name, const char *text, size_t length,
                              const char *const *sets, size_t n_sets,
                              struct storm_deck **deck_out, char **problems_out)
{
    struct deck_problems problems = {.file = name};
    struct storm_deck *deck = calloc(1, sizeof *deck);
    *problems_out = NULL;
    if (deck == NULL || storm_options_create(&deck->options) < 0) {
        free(deck);
        return STORM_ERR_NOMEM;
    }
    deck_build(deck, text, length, sets, n_sets, &problems);
    bool good = problems.n == 0;
    char *lines = storm_page_end(&problems.page);
    if (good && !deck->pool.failed)
        deck->text = deck_write(deck);
    if (deck->pool.failed || (good ? deck->text == NULL : lines == NULL)) {
        free(lines);
        storm_deck_destroy(deck);
        return STORM_ERR_NOMEM;
    }
    if (!good) {
        *problems_out = lines;
        storm_deck_destroy(deck);
        return STORM_ERR_IO;
    }
    free(lines);
    *deck_out = deck;
    return STORM_OK;
}

void storm_deck_destroy(struct storm_deck *deck)
{
    if (deck == NULL)
        return;
    deck_pool_free(&deck->pool);
    storm_options_destroy(deck->options);
    free(deck->text);
    free(deck);
}

const char *storm_deck_title(const struct storm_deck *deck)
{
    return deck->values.title;
}

const char *storm_deck_text(const struct storm_deck *deck)
{
    return deck->text;
}

storm_status storm_deck_set_options(const struct storm_deck *deck,
                                    struct storm_options *options)
{
    const struct storm_option *row;
    for (size_t i = 0; (row = storm_option_at(i)) != NULL; i++) {
        if (!storm_options_is_set(deck->options, row->key) ||
            storm_options_is_set(options, row->key))
            continue;
        storm_status status =
            storm_options_set(options, row->key,
                              storm_options_text(deck->options, row->key), NULL,
                              0);
        if (status < 0)
            return status;
    }
    return STORM_OK;
}
