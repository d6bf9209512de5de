/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the conformance tests of fabrics share. A test is one function that
 * every rank runs; conform_main runs it over one fabric, plain
 * and under chaos (unordered, and ordered where the fabric is), and
 *
 *   program threads N ...   as N threads, for each N
 *   program processes       as the processes of an MPI program
 *
 * STORM_BACKEND names the fabric (shm if it is not set), STORM_CHAOS_SEED
 * another seed. Exit status 77 if the fabric cannot be tried.
 *
 * A rank may wait inside boot's blocking calls only when no operation of
 * another rank needs its polls any more: after conform_fence.
 */
#ifndef STORM_TESTS_CONFORM_H
#define STORM_TESTS_CONFORM_H

#include "fabric/fabric_ops.h"
#include "support/check.h"
#include "support/dice.h"

/* A region on every rank, which all ranks can reach. */
struct conform_share {
    struct storm_region *region;  /* mine */
    struct storm_remote **remote; /* by rank */
};

/* One rank of a test. */
struct conform {
    struct storm_fabric *fabric;
    const struct storm_fabric_data_ops *data;
    const struct storm_boot *boot;
    int rank, size;
    uint64_t seed; /* the same on all ranks */
    bool chaos;
    struct conform_share settle; /* for conform_settle */
    uint64_t n_settled;
};

typedef void (*conform_fn)(struct conform *c);

/* Returns what main returns. */
int conform_main(int argc, char **argv, conform_fn test);

/* How often to do something that may be done `plain` times over a plain
 * fabric: less where operations are slow. */
uint64_t conform_rounds(const struct conform *c, uint64_t plain);

/* One poll; the n_empty-th in a row without success. */
void conform_poll(struct conform *c, uint64_t n_empty);

/* Polls until all operations of the ticket have completed, without error. */
void conform_wait(struct conform *c, struct storm_ticket *ticket);

/* Polls until all ranks are here. */
void conform_fence(struct conform *c);

/* A fence after which all put_words that have completed have landed, and on an
 * ordered fabric all puts before them. */
void conform_settle(struct conform *c);

/* As the fabric's own, repeated until accepted. */
void conform_put(struct conform *c, const struct storm_transfer *transfer);
void conform_get(struct conform *c, const struct storm_transfer *transfer);
void conform_put_word(struct conform *c, struct storm_remote *remote,
                      uint64_t offset, uint64_t word,
                      struct storm_ticket *ticket);
void conform_fetch_add(struct conform *c, const struct storm_atomic *atomic);
void conform_compare_swap(struct conform *c, const struct storm_atomic *atomic);

/* Memory of this rank, or a failed check. */
struct storm_region *conform_alloc(struct conform *c, size_t bytes);
void conform_release(struct conform *c, struct storm_region *region);

/* Collective: memory for all ranks. Nothing may be in flight at close. */
void conform_share_open(struct conform *c, size_t bytes,
                        struct conform_share *share_out);
void conform_share_close(struct conform *c, struct conform_share *share);

/* The word at an offset of a region of this rank. */
_Atomic uint64_t *conform_word(const struct storm_region *region,
                               uint64_t offset);

/* A byte string that no other (seed, number) has; no byte is zero. */
void conform_fill(uint64_t seed, uint64_t number, void *bytes, size_t n);

/* The i-th byte of it. */
unsigned char conform_byte(uint64_t seed, uint64_t number, size_t i);

#endif /* STORM_TESTS_CONFORM_H */
