/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/boot.h"

#include <stdint.h>
#include <string.h>

#include "base/idle.h"

storm_status storm_boot_barrier(const struct storm_boot *boot)
{
    uint64_t n_empty = 0;
    storm_status status;
    while ((status = boot->barrier_try(boot->self)) == STORM_AGAIN)
        storm_idle(n_empty++);
    return status;
}

storm_status storm_boot_agree(const struct storm_boot *boot, storm_status mine)
{
    int worst = 0;
    storm_status status =
        boot->minimum(boot->self, mine < 0 ? (int)mine : 0, &worst);
    if (mine < 0)
        return mine;
    if (status < 0)
        return status;
    return worst < 0 ? STORM_ERR_PEER : mine;
}

/* ---- prefix sums ----------------------------------------------------------*/

enum { SCAN_WORDS = STORM_BOOT_BYTES / 8 };

static void add_words(uint64_t *to, const uint64_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += words[i];
}

/* At distance d each rank has the sum of itself and the d - 1 ranks before. */
static storm_status scan_piece(const struct storm_boot *boot, uint64_t *inout,
                               size_t n)
{
    uint64_t sum[SCAN_WORDS], theirs[SCAN_WORDS];
    storm_status status = STORM_OK;
    memcpy(sum, inout, n * sizeof *sum);
    memset(inout, 0, n * sizeof *inout);
    for (int d = 1; d < boot->size && status == STORM_OK; d *= 2) {
        struct storm_boot_link link = {
            .to = boot->rank + d < boot->size ? boot->rank + d : -1,
            .mine = sum,
            .from = boot->rank - d >= 0 ? boot->rank - d : -1,
            .theirs_out = theirs,
        };
        memset(theirs, 0, n * sizeof *theirs);
        status = boot->exchange(boot->self, &link, 1, n * sizeof *sum);
        add_words(sum, theirs, n);
        add_words(inout, theirs, n);
    }
    return status;
}

storm_status storm_boot_exscan(const struct storm_boot *boot, uint64_t *inout,
                               size_t n)
{
    storm_status status = STORM_OK;
    for (size_t i = 0; i < n && status == STORM_OK; i += SCAN_WORDS)
        status = scan_piece(boot, inout + i,
                            n - i < SCAN_WORDS ? n - i : SCAN_WORDS);
    return status;
}

/* ---- everything to everybody ----------------------------------------------*/

/* Items of ranks, in the order of ranks, which wraps around. */
struct items {
    unsigned char *all;
    size_t n, bytes;
};

static unsigned char *item_at(const struct items *items, size_t i)
{
    return items->all + i % items->n * items->bytes;
}

/* Sends items from `mine` on, receives as many from `theirs` on. */
static storm_status swap_items(const struct storm_boot *boot, int distance,
                               const struct items *items, size_t n)
{
    unsigned char out[STORM_BOOT_BYTES], in[STORM_BOOT_BYTES];
    size_t mine = (size_t)boot->rank, theirs = mine + (size_t)distance;
    size_t max = STORM_BOOT_BYTES / items->bytes;
    struct storm_boot_link link = {
        .to = (boot->rank + boot->size - distance) % boot->size,
        .mine = out,
        .from = (boot->rank + distance) % boot->size,
        .theirs_out = in,
    };
    storm_status status = STORM_OK;
    for (size_t at = 0; at < n && status == STORM_OK; at += max) {
        size_t piece = n - at < max ? n - at : max;
        for (size_t i = 0; i < piece; i++)
            memcpy(out + i * items->bytes, item_at(items, mine + at + i),
                   items->bytes);
        status = boot->exchange(boot->self, &link, 1, piece * items->bytes);
        for (size_t i = 0; i < piece && status == STORM_OK; i++)
            memcpy(item_at(items, theirs + at + i), in + i * items->bytes,
                   items->bytes);
    }
    return status;
}

/* At distance d each rank has the items of itself and the d - 1 ranks behind
 * it. */
storm_status storm_boot_allgather(const struct storm_boot *boot,
                                  const void *mine, size_t bytes, void *all_out)
{
    const struct items items = {all_out, (size_t)boot->size, bytes};
    storm_status status =
        bytes > 0 && bytes <= STORM_BOOT_BYTES ? STORM_OK : STORM_ERR_ARG;
    if (status < 0)
        return status;
    memcpy(item_at(&items, (size_t)boot->rank), mine, bytes);
    for (int d = 1; d < boot->size && status == STORM_OK; d *= 2)
        status = swap_items(boot, d, &items,
                            (size_t)(d < boot->size - d ? d : boot->size - d));
    return status;
}
