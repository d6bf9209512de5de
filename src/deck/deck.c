/* SPDX-License-Identifier: BSD-3-Clause */
/* Decks: the public calls. */
#include "deck/deck.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A deck is a few kilobytes; more is a mistake. */
enum { DECK_MAX_BYTES = 64 << 20 };

static storm_status deck_problem(char **problems_out, const char *path,
                                 const char *why)
{
    struct storm_page page = {0};
    storm_page_add(&page, "%s: %s\n", path, why);
    *problems_out = storm_page_end(&page);
    return *problems_out != NULL ? STORM_ERR_IO : STORM_ERR_NOMEM;
}

static struct storm_deck *deck_new(void)
{
    struct storm_memory *memory;
    if (storm_memory_create(&memory) < 0)
        return NULL;
    struct storm_deck *deck = storm_alloc(memory, "deck", sizeof *deck);
    if (deck == NULL) {
        storm_memory_end(memory);
        return NULL;
    }
    deck->memory = deck->pool.memory = memory;
    if (storm_options_create(&deck->options) == STORM_OK)
        return deck;
    storm_deck_destroy(deck);
    return NULL;
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
        deck_check(deck, root, problems);
}

/* Parses into a new deck, which becomes *deck_out or is destroyed. */
static storm_status deck_parse(struct storm_deck *deck, const char *name,
                               const char *text, size_t length,
                               const char *const *sets, size_t n_sets,
                               struct storm_deck **deck_out,
                               char **problems_out)
{
    struct deck_problems problems = {.file = name, .pool = &deck->pool};
    deck_build(deck, text, length, sets, n_sets, &problems);
    bool good = problems.n == 0;
    char *lines = deck_problems_end(&problems);
    if (good && !deck->pool.failed)
        deck->text = deck_write(deck);
    bool failed =
        deck->pool.failed || (good ? deck->text == NULL : lines == NULL);
    if (good && !failed) {
        free(lines);
        *deck_out = deck;
        return STORM_OK;
    }
    storm_deck_destroy(deck);
    if (failed)
        free(lines);
    else
        *problems_out = lines;
    return failed ? STORM_ERR_NOMEM : STORM_ERR_IO;
}

storm_status storm_deck_parse(const char *name, const char *text, size_t length,
                              const char *const *sets, size_t n_sets,
                              struct storm_deck **deck_out, char **problems_out)
{
    struct storm_deck *deck = deck_new();
    *problems_out = NULL;
    return deck != NULL ? deck_parse(deck, name, text, length, sets, n_sets,
                                     deck_out, problems_out)
                        : STORM_ERR_NOMEM;
}

/* A file as it is. */
struct deck_file {
    void *text;
    size_t length, capacity;
};

static storm_status deck_slurp(struct storm_deck *deck, FILE *stream,
                               const char *path, struct deck_file *file,
                               char **problems_out)
{
    for (size_t got = 1; got > 0; file->length += got) {
        if (file->length + BUFSIZ > DECK_MAX_BYTES)
            return deck_problem(problems_out, path, "is too large for a deck");
        storm_status status =
            storm_reserve(deck->memory, "deck", 1, file->length + BUFSIZ,
                          &file->text, &file->capacity);
        if (status < 0)
            return status;
        errno = 0;
        got = fread((char *)file->text + file->length, 1, BUFSIZ, stream);
        if (ferror(stream))
            return deck_problem(problems_out, path, strerror(errno));
    }
    return STORM_OK;
}

storm_status storm_deck_read(const char *path, const char *const *sets,
                             size_t n_sets, struct storm_deck **deck_out,
                             char **problems_out)
{
    *problems_out = NULL;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return deck_problem(problems_out, path, strerror(errno));
    struct deck_file file = {.text = NULL};
    struct storm_deck *deck = deck_new();
    storm_status status =
        deck != NULL ? deck_slurp(deck, stream, path, &file, problems_out)
                     : STORM_ERR_NOMEM;
    fclose(stream);
    if (deck != NULL) {
        deck->file = file.text;
        deck->path = deck_pool_text(&deck->pool, path, strlen(path));
    }
    if (status == STORM_OK)
        return deck_parse(deck, path, file.text, file.length, sets, n_sets,
                          deck_out, problems_out);
    storm_deck_destroy(deck);
    return status;
}

void storm_deck_destroy(struct storm_deck *deck)
{
    if (deck == NULL)
        return;
    struct storm_memory *memory = deck->memory;
    deck_pool_free(&deck->pool);
    storm_options_destroy(deck->options);
    storm_free(memory, deck->file);
    free(deck->text);
    storm_free(memory, deck);
    storm_memory_end(memory);
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
