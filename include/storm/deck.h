/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/deck.h
 * Decks: YAML files that describe problems. docs/deck.md lists the keys.
 *
 * Lifecycle  read or parse; query, run; destroy.
 * Ownership  texts belong to the deck unless documented otherwise.
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
 * @param n_sets      number of @p sets
 * @param[out] deck_out      set only on STORM_OK; free with destroy
 * @param[out] problems_out  on STORM_ERR_IO all errors of the deck, one line
 *                    each: file, line, key, what was expected. From malloc, the
 *                    caller frees it. Else NULL
 * @retval STORM_ERR_IO     the file cannot be read, or is not a valid deck
 * @retval STORM_ERR_NOMEM  no memory
 */
STORM_API STORM_MUST_CHECK storm_status
storm_deck_read(const char *path, const char *const *sets, size_t n_sets,
                struct storm_deck **deck_out, char **problems_out);

/** The same from memory; @p name replaces the path in messages. Statuses as for
 *  storm_deck_read. */
STORM_API STORM_MUST_CHECK storm_status
storm_deck_parse(const char *name, const char *text, size_t length,
                 const char *const *sets, size_t n_sets,
                 struct storm_deck **deck_out, char **problems_out);

/** Release. NULL is allowed. */
STORM_API void storm_deck_destroy(struct storm_deck *deck);

/** All keys of decks with defaults and descriptions, as Markdown. From malloc,
 *  the caller frees it; NULL if memory ran out. */
STORM_API char *storm_deck_reference(void);

/** The value of `title`. */
STORM_API const char *storm_deck_title(const struct storm_deck *deck);

/** The deck with every key at its value, defaults included, as YAML that reads
 *  back to the same deck. */
STORM_API const char *storm_deck_text(const struct storm_deck *deck);

/**
 * Value of one key, defaults included, as text: a word, a number, or YAML for
 * lists and maps. Parts of a key are separated by dots, an entry of a list is
 * given by its number from 0: "materials.0.absorption.coef".
 *
 * @param text_out  truncated if it does not fit; always ends with 0
 * @param size      bytes available there, at least 1
 * @return length of the whole text; 0: no such key
 */
STORM_API size_t storm_deck_value(const struct storm_deck *deck,
                                  const char *key, char *text_out, size_t size);

/**
 * Numbers of one key, such as "time.dt" or "mesh.box.lo".
 *
 * @param values_out  the first @p n of them
 * @return how many there are; 0: no such key, or it has no numbers
 */
STORM_API size_t storm_deck_numbers(const struct storm_deck *deck,
                                    const char *key, double *values_out,
                                    size_t n);

/**
 * Set the options of the deck's `seed` and `transport`, except those that are
 * already set: flags and environment have priority.
 *
 * @retval STORM_OK  always: the values were checked when the deck was read
 */
STORM_API STORM_MUST_CHECK storm_status
storm_deck_set_options(const struct storm_deck *deck,
                       struct storm_options *options);

#ifdef __cplusplus
}
#endif
#endif /* STORM_DECK_H */
