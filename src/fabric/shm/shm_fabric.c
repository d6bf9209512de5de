/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fabric over shared memory on one machine: the reference implementation.
 * Every operation is done when the call returns, so tickets never wait.
 *
 * Pairs of memory orders, by label:
 *   SHM-1  store-release in shm_put_word, or the read-modify-write of shm_add
 *          and shm_swap: all stores before it are readable by whoever
 *          load-acquires the word (FABRIC-7, FABRIC-8).
 *   SHM-2  load-acquire in shm_get: pairs with the owner's store-release of the
 *          word, so that later stores here come after the owner's reads
 *          (FABRIC-10).
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/idle.h"
#include "fabric/fabric_ops.h"
#include "fabric/shm/shm_arena.h"

struct shm_fabric {
    struct storm_fabric fabric;
    struct shm_arena arena;
};

struct shm_region {
    struct storm_region region;
    struct storm_extent extent;
};

struct shm_remote {
    struct storm_remote remote;
    void *map; /* NULL: the owner is a thread of this process */
};

/* What a descriptor holds. Ranks that are threads of one process use each
 * other's own mapping. */
struct shm_card {
    uint64_t offset, bytes; /* in the owner's slice */
    int64_t pid;            /* of the owner */
    uint64_t address;       /* there */
};

static struct shm_fabric *shm_of(struct storm_fabric *fabric)
{
    return (struct shm_fabric *)fabric;
}

static _Atomic uint64_t *word_at(const struct storm_remote *remote,
                                 uint64_t offset)
{
    STORM_ASSERT(offset % 8 == 0 && offset + 8 <= remote->bytes);
    return (_Atomic uint64_t *)(void *)((unsigned char *)remote->direct +
                                        offset);
}

static storm_status shm_put(const struct storm_transfer *t)
{
    STORM_ASSERT(t->remote_offset + t->bytes <= t->remote->bytes);
    STORM_ASSERT(t->local_offset + t->bytes <= t->local->bytes);
    memcpy((unsigned char *)t->remote->direct + t->remote_offset,
           (const unsigned char *)t->local->base + t->local_offset, t->bytes);
    return STORM_OK;
}

static storm_status shm_get(const struct storm_transfer *t)
{
    unsigned char *to = (unsigned char *)t->local->base + t->local_offset;
    size_t done = 0;
    if (t->remote_offset % 8 == 0)
        for (; done + 8 <= t->bytes; done += 8) {
            uint64_t word =
                atomic_load_explicit(word_at(t->remote,
                                             t->remote_offset + done),
                                     memory_order_acquire); /* SHM-2 */
            memcpy(to + done, &word, sizeof word);
        }
    memcpy(to + done,
           (const unsigned char *)t->remote->direct + t->remote_offset + done,
           t->bytes - done);
    return STORM_OK;
}

static storm_status shm_put_word(struct storm_remote *remote, uint64_t offset,
                                 uint64_t word, struct storm_ticket *ticket)
{
    (void)ticket;
    storm_stream_fence(); /* direct stores may have bypassed the cache */
    atomic_store_explicit(word_at(remote, offset), word,
                          memory_order_release); /* SHM-1 */
    return STORM_OK;
}

static storm_status shm_add(const struct storm_atomic *a)
{
    storm_stream_fence();
    *a->old_out =
        atomic_fetch_add_explicit(word_at(a->remote, a->remote_offset),
                                  a->operand, memory_order_acq_rel); /* SHM-1 */
    return STORM_OK;
}

static storm_status shm_swap(const struct storm_atomic *a)
{
    uint64_t expected = a->expected;
    storm_stream_fence();
    atomic_compare_exchange_strong_explicit(word_at(a->remote,
                                                    a->remote_offset),
                                            &expected, a->operand,
                                            memory_order_acq_rel,
                                            memory_order_acquire); /* SHM-1 */
    *a->old_out = expected;
    return STORM_OK;
}

static storm_status shm_poll(struct storm_fabric *fabric)
{
    (void)fabric;
    return STORM_OK;
}

static storm_status shm_idle(struct storm_fabric *fabric, uint64_t n_empty)
{
    (void)fabric;
    storm_idle(n_empty);
    return STORM_OK;
}

static storm_status shm_probe(char *reason_out, size_t reason_bytes)
{
    int fd = memfd_create("storm probe", MFD_CLOEXEC);
    if (fd < 0) {
        snprintf(reason_out, reason_bytes,
                 "the kernel provides no anonymous shared memory "
                 "(memfd_create failed)");
        return STORM_ERR_NOSUP;
    }
    close(fd);
    return STORM_OK;
}

static const struct storm_fabric_data_ops shm_data = {
    .put = shm_put,
    .get = shm_get,
    .put_word = shm_put_word,
    .fetch_add = shm_add,
    .compare_swap = shm_swap,
    .poll = shm_poll,
    .idle = shm_idle,
};

static storm_status shm_open_fabric(const struct storm_env *env,
                                    const struct storm_boot *boot,
                                    struct storm_fabric **fabric_out)
{
    struct shm_fabric *shm =
        storm_alloc(env->memory, "shm fabric", sizeof *shm);
    storm_status status =
        storm_boot_agree(boot, shm ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = shm_arena_open(&shm->arena, env, boot);
    if (status < 0) {
        storm_free(env->memory, shm);
        return status;
    }
    shm->fabric = (struct storm_fabric){
        .ops = &storm_fabric_shm,
        .data = &shm_data,
        .caps = {.ordered = true,
                 .direct = true,
                 .async = true,
                 .instant = true},
        .env = env,
        .boot = *boot,
    };
    *fabric_out = &shm->fabric;
    return STORM_OK;
}

static void shm_close_fabric(struct storm_fabric *fabric)
{
    struct shm_fabric *shm = shm_of(fabric);
    /* A peer that is a thread of this process may still use our slice. */
    if (storm_boot_barrier(&fabric->boot) < 0)
        storm_log_write(&fabric->env->log, STORM_LOG_DEBUG,
                        "shm: closed without waiting for the other ranks");
    shm_arena_close(&shm->arena);
    storm_free(fabric->env->memory, shm);
}

static storm_status shm_alloc(struct storm_fabric *fabric, size_t bytes,
                              struct storm_region **region_out)
{
    struct shm_fabric *shm = shm_of(fabric);
    struct shm_region *region =
        storm_alloc(fabric->env->memory, "shm regions", sizeof *region);
    if (!region)
        return STORM_ERR_NOMEM;
    storm_status status =
        shm_arena_carve(&shm->arena, bytes, fabric->refusal_level,
                        &region->extent);
    if (status < 0) {
        storm_free(fabric->env->memory, region);
        return status;
    }
    region->region = (struct storm_region){
        .base = shm->arena.mine + region->extent.offset, .bytes = bytes};
    *region_out = &region->region;
    return STORM_OK;
}

static void shm_release(struct storm_fabric *fabric,
                        struct storm_region *region)
{
    struct shm_region *own = (struct shm_region *)region;
    shm_arena_return(&shm_of(fabric)->arena, own->extent);
    storm_free(fabric->env->memory, own);
}

static void shm_describe(const struct storm_fabric *fabric,
                         const struct storm_region *region,
                         struct storm_region_desc *desc_out)
{
    (void)fabric;
    const struct shm_region *own = (const struct shm_region *)region;
    struct shm_card card = {
        .offset = own->extent.offset,
        .bytes = region->bytes,
        .pid = getpid(),
        .address = (uint64_t)(uintptr_t)region->base,
    };
    _Static_assert(sizeof card <= STORM_DESC_BYTES, "descriptor too small");
    memset(desc_out, 0, sizeof *desc_out);
    memcpy(desc_out->bytes, &card, sizeof card);
}

static storm_status shm_attach(struct storm_fabric *fabric, int peer,
                               const struct storm_region_desc *desc,
                               struct storm_remote **remote_out)
{
    struct shm_remote *own =
        storm_alloc(fabric->env->memory, "shm remotes", sizeof *own);
    if (!own)
        return STORM_ERR_NOMEM;
    struct shm_card card;
    memcpy(&card, desc->bytes, sizeof card);
    bool near = card.pid == getpid();
    void *map = near ? NULL
                     : shm_arena_map(&shm_of(fabric)->arena, peer, card.offset,
                                     card.bytes, fabric->refusal_level);
    if (!near && !map) {
        storm_free(fabric->env->memory, own);
        return STORM_ERR_NOMEM;
    }
    own->map = map;
    own->remote = (struct storm_remote){
        .fabric = fabric,
        .peer = peer,
        .direct = near ? (void *)(uintptr_t)card.address : map,
        .bytes = card.bytes,
    };
    *remote_out = &own->remote;
    return STORM_OK;
}

static void shm_detach(struct storm_fabric *fabric, struct storm_remote *remote)
{
    struct shm_remote *own = (struct shm_remote *)remote;
    if (own->map)
        shm_arena_unmap(own->map, remote->bytes);
    storm_free(fabric->env->memory, own);
}

const struct storm_fabric_ops storm_fabric_shm = {
    .name = "shm",
    .prepare = storm_no_prepare,
    .probe = shm_probe,
    .offloads = storm_no_offloads,
    .survey = storm_no_survey,
    .open = shm_open_fabric,
    .close = shm_close_fabric,
    .alloc = shm_alloc,
    .release = shm_release,
    .describe = shm_describe,
    .attach = shm_attach,
    .detach = shm_detach,
};
