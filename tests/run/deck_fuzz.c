/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST args: 2000; timeout: 60 */
/*
 * The deck reader takes anything: decks with bytes changed, pieces copied,
 * moved or cut out are read or refused, and whatever is read is written so
 * that it reads back to the same text (DECK-3). Sanitizer builds see what else
 * goes wrong. The argument is the number of decks, less with a sanitizer, or
 * with an s the seconds. tests/fuzz/deck.sh lets libFuzzer do the same.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <storm/deck.h>
#include <storm/packet.h>

#include "support/check.h"

enum { MOST = 1 << 16 };

static uint64_t n_drawn;

static size_t dice(size_t sides)
{
    double u[4];
    storm_random(99, STORM_STREAM_USER, (struct storm_packet_id){0}, n_drawn++,
                 u);
    return (size_t)(u[0] * (double)sides);
}

/* Reads a deck of examples/decks, from the path of this file. */
static size_t load(const char *name, char *text_out)
{
    const char *here = __FILE__, *end = strstr(here, "/tests/run/");
    char path[1024];
    CHECK(end != NULL);
    snprintf(path, sizeof path, "%.*s/examples/decks/%s.yaml",
             (int)(end - here), here, name);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    size_t n = fread(text_out, 1, MOST / 2, file);
    fclose(file);
    return n;
}

/* One change at a random place; returns the new length. */
static size_t change(char *text, size_t n)
{
    static const char *const words[] = {
        "{",    "}",    "[",     "]",      ": ",   "\n",  "- ",   "1e308",
        "-1",   "nan",  "&a ",   "*a",     "~",    "''",  "\"",   "kind",
        "0",    "name", "shape", "1e-320", "true", "#",   "? ",   "|\n",
        "!!x ", "<<: ", "\t",    "\xff",   "part", "box", "---\n"};
    enum { WORDS = sizeof words / sizeof words[0] };
    size_t at = dice(n + 1), length = 1 + dice(20);
    if (at + length > n)
        length = n - at;
    switch (dice(4)) {
    case 0: /* cut out */
        memmove(text + at, text + at + length, n - at - length);
        return n - length;
    case 1: /* double */
        if (n + length > MOST - 64)
            return n;
        memmove(text + at + length, text + at, n - at);
        return n + length;
    case 2: /* another byte */
        if (at < n)
            text[at] = (char)dice(256);
        return n;
    default: { /* a word */
        const char *word = words[dice(WORDS)];
        size_t size = strlen(word);
        if (n + size > MOST - 64)
            return n;
        memmove(text + at + size, text + at, n - at);
        memcpy(text + at, word, size);
        return n + size;
    }
    }
}

/* True if it was a deck. */
static bool try_one(const char *text, size_t n)
{
    struct storm_deck *deck = NULL, *again = NULL;
    char *problems = NULL;
    const char *set = "materials.0.name=x";
    storm_status status =
        storm_deck_parse("fuzz", text, n, &set, dice(2), &deck, &problems);
    CHECK(status == STORM_OK || status == STORM_ERR_IO);
    CHECK((status == STORM_OK) == (problems == NULL));
    if (status < 0) {
        CHECK(problems[0] != '\0');
        free(problems);
        return false;
    }
    const char *resolved = storm_deck_text(deck);
    CHECK_OK(storm_deck_parse("again", resolved, strlen(resolved), NULL, 0,
                              &again, &problems));
    CHECK(strcmp(resolved, storm_deck_text(again)) == 0);
    storm_deck_destroy(again);
    storm_deck_destroy(deck);
    return true;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"marshak", "hohlraum", "su-olson",
                                        "crooked-pipe", "multigroup-slab"};
    static char text[MOST];
    const char *how = argc > 1 ? argv[1] : "1000";
    bool timed = strchr(how, 's') != NULL;
    long most = atol(how), n_read = 0, i = 0;
    time_t end = time(NULL) + most;
    if (!timed)
        most /= (long)check_slowdown();
    for (; timed ? time(NULL) < end : i < most; i++) {
        size_t n = load(names[dice(5)], text);
        for (size_t k = dice(8); k > 0; k--)
            n = change(text, n);
        n_read += try_one(text, n);
    }
    printf("%ld decks, %ld of them good\n", i, n_read);
    CHECK(n_read > 0 && n_read < i);
    return CHECK_PASS;
}
