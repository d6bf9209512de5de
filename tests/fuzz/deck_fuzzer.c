/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decks for libFuzzer: YAML, schema, what keys must be together, and the
 * resolved deck, which reads back to the same values. deck.sh builds and runs
 * it.
 *
 * Bytes after a zero byte are an entry as of --set.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <storm/deck.h>
#include <storm/options.h>

#define EXPECT(_condition) ((_condition) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A deck that was written is read again, to the same values: the text has all
 * of them, numbers with all their digits. */
static void read_again(const struct storm_deck *deck)
{
    struct storm_deck *again = NULL;
    struct storm_options *options = NULL;
    char *problems = NULL;
    const char *text = storm_deck_text(deck);
    EXPECT(storm_deck_parse("again", text, strlen(text), NULL, 0, &again,
                            &problems) == STORM_OK);
    EXPECT(strcmp(text, storm_deck_text(again)) == 0);
    EXPECT(strcmp(storm_deck_title(deck), storm_deck_title(again)) == 0);
    EXPECT(storm_options_create(&options) == STORM_OK);
    EXPECT(storm_deck_set_options(again, options) == STORM_OK);
    storm_options_destroy(options);
    storm_deck_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct storm_deck *deck = NULL;
    char *problems = NULL, *text = malloc(size + 1);
    EXPECT(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    size_t length = strlen(text);
    const char *set = text + length + 1;
    storm_status status = storm_deck_parse("deck", text, length, &set,
                                           length < size, &deck, &problems);
    EXPECT(status == STORM_OK || status == STORM_ERR_IO);
    EXPECT((status == STORM_OK) == (problems == NULL));
    EXPECT(problems == NULL || problems[0] != '\0');
    if (status == STORM_OK)
        read_again(deck);
    storm_deck_destroy(deck);
    free(problems);
    free(text);
    return 0;
}
