/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 30; label: tsan */
/* BOOT-2: prefix sums and gathering over any number of ranks, each with one
 * partner each way per doubling of the number of ranks. Ranks are threads. */
#include <string.h>

#include "support/check.h"
#include "support/threads.h"

enum { MAX_RANKS = 37, WORDS = 300, ITEM_BYTES = 320 };

/* A boot that counts what goes through another. */
struct counting {
    const struct storm_boot *boot;
    int n_partners, last_to, last_from;
};

static storm_status counting_exchange(void *self,
                                      const struct storm_boot_link *link,
                                      int n_links, size_t bytes)
{
    struct counting *c = self;
    CHECK_EQ(n_links, 1);
    c->n_partners += link->to != c->last_to || link->from != c->last_from;
    c->last_to = link->to;
    c->last_from = link->from;
    return c->boot->exchange(c->boot->self, link, n_links, bytes);
}

static int doublings(int n)
{
    int k = 0;
    while (1 << k < n)
        k++;
    return k;
}

static void check_exscan(const struct storm_boot *boot, size_t n)
{
    uint64_t words[WORDS], rank = (uint64_t)boot->rank;
    /* The top bits overflow: sums are those of integers that wrap. */
    for (uint64_t i = 0; i < n; i++)
        words[i] = (i + 1) * 0x9e3779b97f4a7c15u + rank;
    CHECK_OK(storm_boot_exscan(boot, words, n));
    for (uint64_t i = 0; i < n; i++)
        CHECK_EQ(words[i], rank * ((i + 1) * 0x9e3779b97f4a7c15u) +
                               rank * (rank - 1) / 2);
}

static void check_allgather(const struct storm_boot *boot)
{
    unsigned char mine[ITEM_BYTES], all[MAX_RANKS][ITEM_BYTES];
    memset(mine, boot->rank, sizeof mine);
    memset(all, 255, sizeof all);
    CHECK_OK(storm_boot_allgather(boot, mine, sizeof mine, all));
    for (int i = 0; i < boot->size; i++)
        CHECK(all[i][0] == i &&
              memcmp(all[i], all[i] + 1, ITEM_BYTES - 1) == 0);
    CHECK_EQ(storm_boot_allgather(boot, mine, STORM_BOOT_BYTES + 1, all),
             STORM_ERR_ARG);
}

static void check_broadcast(const struct storm_boot *boot)
{
    uint64_t word = 17 + (uint64_t)boot->rank;
    CHECK_OK(boot->broadcast(boot->self, &word, sizeof word));
    CHECK_EQ(word, 17);
}

static void be_rank(void *self, const struct storm_env *env,
                    const struct storm_boot *boot)
{
    (void)self, (void)env;
    struct counting counting = {.boot = boot, .last_to = -2, .last_from = -2};
    struct storm_boot counted = *boot;
    counted.self = &counting;
    counted.exchange = counting_exchange;
    check_where("rank %d of %d", boot->rank, boot->size);
    check_exscan(&counted, 1);
    CHECK_EQ(counting.n_partners, doublings(boot->size));
    check_allgather(&counted);
    CHECK(counting.n_partners <= 2 * doublings(boot->size));
    check_exscan(boot, WORDS);
    check_exscan(boot, 0);
    check_broadcast(boot);
}

int main(void)
{
    static const int sizes[] = {1, 2, 3, 5, 8, 13, 16, MAX_RANKS};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        threads_run(sizes[i], be_rank, NULL);
    return CHECK_PASS;
}
