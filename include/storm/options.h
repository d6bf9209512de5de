/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/options.h
 * The options of a run. Each is one row of a table and has three names: a deck
 * key (`transport.ring_slots`), a flag (`--ring-slots`) and an environment
 * variable (`STORM_RING_SLOTS`).
 *
 * Lifecycle  create (defaults), then set from the environment, a deck or
 *            flags, later ones override; contexts copy their options.
 * Ownership  texts passed in are copied; texts returned belong to the object
 *            and live until the option is next set.
 * Threads    one thread at a time per object. All functions are local.
 */
#ifndef STORM_OPTIONS_H
#define STORM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_options; /* opaque */

typedef enum storm_option_type {
    STORM_OPTION_BOOL, /**< true, false, yes, no, on, off, 1, 0 */
    STORM_OPTION_INT,  /**< decimal, within [min, max] */
    STORM_OPTION_REAL, /**< decimal, within [min, max] */
    STORM_OPTION_WORD, /**< one of `choices`, separated by '|' */
    STORM_OPTION_TEXT  /**< anything; empty means "choose for me" */
} storm_option_type;

/** One row of the table. */
struct storm_option {
    size_t size;      /**< of this struct in the library */
    const char *key;  /**< deck key, dotted */
    const char *flag; /**< command line, with the two dashes */
    const char *env;  /**< environment variable */
    storm_option_type type;
    const char *default_value; /**< the default, as text */
    const char *choices;       /**< WORD: the words, separated by '|' */
    double min, max;           /**< INT, REAL: inclusive range */
    const char *help;          /**< one sentence */
};

/** The i-th row of the table, or NULL past its end. */
STORM_API const struct storm_option *storm_option_at(size_t i);

/** The row whose key, flag or environment variable is @p name, or NULL. */
STORM_API const struct storm_option *storm_option_find(const char *name);

/** All options at their defaults. Free with destroy. STORM_ERR_NOMEM. */
STORM_API STORM_MUST_CHECK storm_status
storm_options_create(struct storm_options **options_out);

/** Release. NULL is allowed. */
STORM_API void storm_options_destroy(struct storm_options *options);

/**
 * Set one option from text.
 *
 * @param name        key, flag or environment variable
 * @param value       text as a user would write it
 * @param problem     on failure, one line with what was expected; may be
 *                    NULL
 * @param problem_size  bytes available there
 * @retval STORM_ERR_ARG  no such option, or a value it does not take;
 *                        nothing was changed
 */
STORM_API STORM_MUST_CHECK storm_status
storm_options_set(struct storm_options *options, const char *name,
                  const char *value, char *problem, size_t problem_size);

/** Set every option whose environment variable is set. STORM_ERR_ARG and
 *  @p problem as for set, for the first bad one. */
STORM_API STORM_MUST_CHECK storm_status
storm_options_set_from_env(struct storm_options *options, char *problem,
                           size_t problem_size);

/** Was the option set (false: it has its default)? */
STORM_API bool storm_options_is_set(const struct storm_options *options,
                                    const char *key);

/** Current value; the key must exist and be of that type. */
STORM_API bool storm_options_bool(const struct storm_options *options,
                                  const char *key);
STORM_API int64_t storm_options_int(const struct storm_options *options,
                                    const char *key);
STORM_API double storm_options_real(const struct storm_options *options,
                                    const char *key);
/** Current value as text, for any type. */
STORM_API const char *storm_options_text(const struct storm_options *options,
                                         const char *key);

#ifdef __cplusplus
}
#endif
#endif /* STORM_OPTIONS_H */
