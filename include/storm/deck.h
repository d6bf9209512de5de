/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/deck.h
 * Decks: YAML files that say what to run. docs/deck.md lists the keys.
 *
 * Lifecycle  read, or parse; look, run; destroy.
 * Ownership  what is handed out belongs to the deck unless said otherwise.
 * Threads    one thread at a time per deck. All functions are local.
 */
#ifndef STORM_DECK_H
#define STORM_DECK_H

#include <stddef.h>

#include <storm/options.h>
#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_deck; /* opaque */

/**
 * Read a deck from a file.
 *
 * @param path        the file
 * @param sets        texts KEY=VALUE that override entries, keys dotted;
 *                    an entry of a list is named by its number from 0, or
 *                    by its `name`
 * @param n_sets      how many
 * @param[out] deck_out      set only on STORM_OK; free with destroy
 * @param[out] problems_out  on an error that is the deck's, all that is wrong
 *                    with it, one line each: file, line, key, what was
 *                    expected. From malloc, the caller frees it. Else NULL
 * @retval STORM_ERR_IO     the file cannot be read, or is no deck
 * @retval STORM_ERR_NOMEM  no memory
 */
STORM_API STORM_MUST_CHECK storm_status
storm_deck_read(const char *path, const char *const *sets, size_t n_sets,
                struct storm_deck **deck_out, char **problems_out);

/** The same from memory; @p name stands for the file in messages. */
STORM_API STORM_MUST_CHECK storm_status
storm_deck_parse(const char *name, const char *text, size_t length,
                 const char *const *sets, size_t n_sets,
                 struct storm_deck **deck_out, char **problems_out);

/** Release. NULL is allowed. */
STORM_API void storm_deck_destroy(struct storm_deck *deck);

/** All keys of decks with defaults and meaning, as a page of Markdown. From
 *  malloc, the caller frees it; NULL if memory ran out. */
STORM_API char *storm_deck_reference(void);

STORM_API const char *storm_deck_title(const struct storm_deck *deck);

/** The deck with every key at its value, defaults included, as YAML that reads
 *  back to the same deck. */
STORM_API const char *storm_deck_text(const struct storm_deck *deck);

/**
 * Value of one key, defaults included, as text: a word, a number, or YAML for
 * lists and maps. Parts of a key are separated by dots, an item of a list is
 * its number from 0: "materials.0.absorption.coef".
 *
 * @param text_out  cut short if it does not fit; always ended by 0
 * @param size      bytes available there, at least 1
 * @return length of the whole text; 0: there is no such key
 */
STORM_API size_t storm_deck_value(const struct storm_deck *deck,
                                  const char *key, char *text_out, size_t size);

/**
 * Numbers of one key, such as "time.dt" or "mesh.box.lo".
 *
 * @param values_out  the first @p n of them
 * @return how many there are; 0: there is no such key, or it has no numbers
 */
STORM_API size_t storm_deck_numbers(const struct storm_deck *deck,
                                    const char *key, double *values_out,
                                    size_t n);

/** Give the deck's `seed` and `transport` to every option that nobody has set
 *  yet: flags and environment win. STORM_ERR_ARG: cannot happen for a deck
 *  that was read. */
STORM_API STORM_MUST_CHECK storm_status
storm_deck_set_options(const struct storm_deck *deck,
                       struct storm_options *options);

#ifdef __cplusplus
}
#endif
#endif /* STORM_DECK_H */
