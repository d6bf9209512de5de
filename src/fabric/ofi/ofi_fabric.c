/* SPDX-License-Identifier: BSD-3-Clause */
/* Lifecycle and memory of the fabric over libfabric. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fabric/fabric_memory.h"
#include "fabric/ofi/ofi_internal.h"

enum { MAX_KEY_TRIES = 4096, EXPECTED_PEERS = 64 };

/* ---- memory ---------------------------------------------------------------*/

/* The next key, if keys are ours to choose. */
static uint64_t next_key(struct ofi_fabric *f)
{
    size_t bytes = f->info->domain_attr->mr_key_size;
    uint64_t key = f->next_key++;
    return bytes < 8 ? key & (((uint64_t)1 << 8 * bytes) - 1) : key;
}

static int register_memory(struct ofi_fabric *f, struct ofi_region *region)
{
    uint64_t access = FI_REMOTE_WRITE | FI_REMOTE_READ | FI_WRITE | FI_READ;
    int rc = -FI_ENOKEY;
    for (int i = 0; rc == -FI_ENOKEY && i < MAX_KEY_TRIES; i++)
        rc = fi_mr_reg(f->domain, region->region.base, region->mapped_bytes,
                       access, 0, next_key(f), 0, &region->mr, NULL);
    if (rc != 0)
        return rc;
    if (f->info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
        rc = fi_mr_bind(region->mr, &f->ep->fid, 0);
        if (rc == 0)
            rc = fi_mr_enable(region->mr);
        if (rc != 0) {
            fi_close(&region->mr->fid);
            return rc;
        }
    }
    region->desc = fi_mr_desc(region->mr);
    region->key = fi_mr_key(region->mr);
    return 0;
}

/* Gives it an id and a place in the list. */
static storm_status list_region(struct ofi_fabric *f, struct ofi_region *region)
{
    size_t place = 0;
    while (place < f->n_regions && f->region[place])
        place++;
    void *list = f->region;
    storm_status status =
        storm_reserve(f->fabric.env->memory, "ofi regions", sizeof *f->region,
                      place + 1, &list, &f->region_capacity);
    f->region = list;
    if (status < 0)
        return status;
    if (place == f->n_regions)
        f->n_regions++;
    f->region[place] = region;
    region->id = ++f->n_ids << 32 | place;
    return STORM_OK;
}

static storm_status ofi_alloc(struct storm_fabric *fabric, size_t bytes,
                              struct storm_region **region_out)
{
    struct ofi_fabric *f = ofi_of(fabric);
    struct ofi_region *region =
        storm_alloc(fabric->env->memory, "ofi regions", sizeof *region);
    if (!region)
        return STORM_ERR_NOMEM;
    region->region.bytes = bytes;
    region->region.base =
        storm_fabric_map(fabric, bytes, &region->mapped_bytes);
    if (!region->region.base)
        goto err_free;
    int rc = register_memory(f, region);
    if (rc != 0) {
        char what[64];
        snprintf(what, sizeof what, "access to %zu bytes of memory", bytes);
        storm_fabric_log_denied(fabric, what, f->library.strerror(-rc),
                                rc == -FI_ENOMEM || rc == -FI_EPERM ||
                                    rc == -FI_EAGAIN);
        goto err_unmap;
    }
    if (list_region(f, region) < 0)
        goto err_deregister;
    storm_fabric_pin(fabric, (ptrdiff_t)region->mapped_bytes);
    *region_out = &region->region;
    return STORM_OK;

err_deregister:
    fi_close(&region->mr->fid);
err_unmap:
    munmap(region->region.base, region->mapped_bytes);
err_free:
    storm_free(fabric->env->memory, region);
    return STORM_ERR_NOMEM;
}

static void ofi_release(struct storm_fabric *fabric,
                        struct storm_region *region)
{
    struct ofi_fabric *f = ofi_of(fabric);
    struct ofi_region *own = (struct ofi_region *)region;
    int rc = fi_close(&own->mr->fid);
    if (rc != 0)
        storm_log_write(&fabric->env->log, STORM_LOG_WARN,
                        "ofi (%s): a region could not be deregistered: %s",
                        f->name, f->library.strerror(-rc));
    f->region[own->id & UINT32_MAX] = NULL;
    storm_fabric_pin(fabric, -(ptrdiff_t)own->mapped_bytes);
    munmap(region->base, own->mapped_bytes);
    storm_free(fabric->env->memory, own);
}

static void ofi_describe(const struct storm_fabric *fabric,
                         const struct storm_region *region,
                         struct storm_region_desc *desc_out)
{
    const struct ofi_fabric *f = (const struct ofi_fabric *)fabric;
    const struct ofi_region *own = (const struct ofi_region *)region;
    bool by_address = f->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    struct ofi_card card = {
        .base = by_address ? (uint64_t)(uintptr_t)region->base : 0,
        .key = own->key,
        .bytes = region->bytes,
        .id = own->id,
        .owner = f->address,
    };
    _Static_assert(sizeof card <= STORM_DESC_BYTES, "descriptor too small");
    storm_fabric_pack(&card, sizeof card, desc_out);
}

/* The peer's place in the table of addresses: FABRIC-14. */
static storm_status peer_address(struct ofi_fabric *f, int rank,
                                 const struct ofi_address *address,
                                 fi_addr_t *addr_out)
{
    for (size_t i = 0; i < f->n_peers; i++)
        if (f->peers[i].rank == rank) {
            *addr_out = f->peers[i].addr;
            return STORM_OK;
        }
    void *list = f->peers;
    storm_status status =
        storm_reserve(f->fabric.env->memory, "ofi peers", sizeof *f->peers,
                      f->n_peers + 1, &list, &f->peer_capacity);
    f->peers = list;
    if (status < 0)
        return status;
    struct ofi_peer *peer = &f->peers[f->n_peers];
    peer->rank = rank;
    if (fi_av_insert(f->av, address->name, 1, &peer->addr, 0, NULL) != 1) {
        storm_log_write(&f->fabric.env->log, STORM_LOG_ERROR,
                        "ofi (%s): the address of rank %d is not accepted",
                        f->name, rank);
        return STORM_ERR_FABRIC;
    }
    f->n_peers++;
    *addr_out = peer->addr;
    return STORM_OK;
}

static storm_status ofi_attach(struct storm_fabric *fabric, int peer,
                               const struct storm_region_desc *desc,
                               struct storm_remote **remote_out)
{
    struct ofi_card card;
    fi_addr_t addr;
    memcpy(&card, desc->bytes, sizeof card);
    storm_status status =
        peer_address(ofi_of(fabric), peer, &card.owner, &addr);
    if (status < 0)
        return status;
    struct ofi_remote *remote =
        storm_alloc(fabric->env->memory, "ofi remotes", sizeof *remote);
    if (!remote)
        return STORM_ERR_NOMEM;
    *remote = (struct ofi_remote){
        .remote = {.fabric = fabric, .peer = peer, .bytes = card.bytes},
        .addr = addr,
        .base = card.base,
        .key = card.key,
        .id = card.id,
    };
    *remote_out = &remote->remote;
    return STORM_OK;
}

static void ofi_detach(struct storm_fabric *fabric, struct storm_remote *remote)
{
    storm_free(fabric->env->memory, remote);
}

/* ---- life -----------------------------------------------------------------*/

static storm_status failed(const struct ofi_fabric *f, const char *what, int rc)
{
    storm_log_write(&f->fabric.env->log, STORM_LOG_ERROR,
                    "ofi (%s): cannot %s: %s", f->name, what,
                    f->library.strerror(-rc));
    return STORM_ERR_NOSUP;
}

/* Max number of operations in flight. */
static size_t pool_size(const struct ofi_fabric *f)
{
    size_t n = f->info->tx_attr->size;
    if (n == 0 || n > OFI_MAX_OPS)
        n = OFI_MAX_OPS;
    return n < OFI_MIN_OPS ? OFI_MIN_OPS : n;
}

static storm_status open_domain(struct ofi_fabric *f)
{
    int rc = f->library.fabric(f->info->fabric_attr, &f->fid, NULL);
    if (rc != 0)
        return failed(f, "open the network", rc);
    rc = fi_domain(f->fid, f->info, &f->domain, NULL);
    if (rc != 0)
        return failed(f, "open the device", rc);
    struct fi_cq_attr cq = {.size = 2 * pool_size(f) + OFI_INBOX,
                            .format = FI_CQ_FORMAT_CONTEXT,
                            .wait_obj = FI_WAIT_NONE};
    rc = fi_cq_open(f->domain, &cq, &f->cq, NULL);
    if (rc != 0)
        return failed(f, "create a completion queue", rc);
    enum fi_av_type type = f->info->domain_attr->av_type;
    struct fi_av_attr av = {.type = type == FI_AV_UNSPEC ? FI_AV_TABLE : type,
                            .count = EXPECTED_PEERS}; /* it grows */
    rc = fi_av_open(f->domain, &av, &f->av, NULL);
    if (rc != 0)
        return failed(f, "create a table of addresses", rc);
    return STORM_OK;
}

static storm_status open_endpoint(struct ofi_fabric *f)
{
    f->info->tx_attr->op_flags = 0; /* each operation sets its own */
    int rc = fi_endpoint(f->domain, f->info, &f->ep, NULL);
    if (rc != 0)
        return failed(f, "create an endpoint", rc);
    rc = fi_ep_bind(f->ep, &f->av->fid, 0);
    if (rc == 0)
        rc = fi_ep_bind(f->ep, &f->cq->fid, FI_TRANSMIT | FI_RECV);
    if (rc == 0)
        rc = fi_enable(f->ep);
    if (rc != 0)
        return failed(f, "enable the endpoint", rc);
    size_t bytes = sizeof f->address.name;
    rc = fi_getname(&f->ep->fid, f->address.name, &bytes);
    if (rc != 0)
        return failed(f, "get the address of the endpoint", rc);
    return STORM_OK;
}

/*
 * The provider shm has a file for each rank, named like its address, which all
 * others map when they learn the address. So that nothing is left behind
 * however a rank ends, all learn all addresses, and the names are dropped; it
 * serves one node, and at most 256 ranks. Collective.
 */
static storm_status drop_files(struct ofi_fabric *f)
{
    static const char prefix[] = "fi_shm://";
    const struct storm_boot *boot = &f->fabric.boot;
    struct storm_memory *memory = f->fabric.env->memory;
    const char *name = (const char *)f->address.name;
    size_t n = (size_t)boot->size;
    if (f->info->addr_format != FI_ADDR_STR ||
        strncmp(name, prefix, sizeof prefix - 1) != 0)
        return STORM_OK;
    struct ofi_address *all = storm_alloc(memory, "ofi cards", n * sizeof *all);
    storm_status status =
        storm_boot_agree(boot, all ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = storm_boot_allgather(boot, &f->address, sizeof *all, all);
    for (size_t i = 0; status == STORM_OK && i < n; i++) {
        fi_addr_t addr;
        status = peer_address(f, (int)i, &all[i], &addr);
    }
    storm_free(memory, all);
    status = storm_boot_agree(boot, status);
    if (status == STORM_OK)
        (void)shm_unlink(name + sizeof prefix - 1);
    return status;
}

/* Are all atomics there that are needed? */
static storm_status check_atomics(struct ofi_fabric *f)
{
    size_t add = 0, swap = 0, write = 1;
    int rc = fi_fetch_atomicvalid(f->ep, FI_UINT64, FI_SUM, &add);
    if (rc == 0)
        rc = fi_compare_atomicvalid(f->ep, FI_UINT64, FI_CSWAP, &swap);
    f->stream = ofi_is_stream(f->info);
    f->word_method = f->stream ? OFI_WORD_ATOMIC : OFI_WORD_WRITE;
    if (rc == 0 && f->stream)
        rc = fi_atomicvalid(f->ep, FI_UINT64, FI_ATOMIC_WRITE, &write);
    if (rc == 0 && f->stream)
        rc = fi_fetch_atomicvalid(f->ep, FI_UINT64, FI_ATOMIC_READ,
                                  &f->read_words);
    if (rc == 0 && (add == 0 || swap == 0 || write == 0 ||
                    (f->stream && f->read_words == 0)))
        rc = -FI_EOPNOTSUPP;
    return rc == 0 ? STORM_OK : failed(f, "do atomics on 64-bit words", rc);
}

static storm_status make_pool(struct ofi_fabric *f)
{
    f->n_ops = pool_size(f);
    f->ops = storm_alloc(f->fabric.env->memory, "ofi operations",
                         f->n_ops * sizeof *f->ops);
    if (!f->ops)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < f->n_ops; i++) {
        f->ops[i].next = f->free_ops;
        f->free_ops = &f->ops[i];
    }
    return ofi_alloc(&f->fabric, f->n_ops * sizeof(struct ofi_words),
                     &f->words);
}

/* On a byte stream, words come as messages. */
static storm_status make_inbox(struct ofi_fabric *f)
{
    size_t n = f->info->rx_attr->size;
    f->n_arrivals = n > 0 && n < OFI_INBOX ? n : OFI_INBOX;
    f->arrivals = storm_alloc(f->fabric.env->memory, "ofi operations",
                              f->n_arrivals * sizeof *f->arrivals);
    if (!f->arrivals)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < f->n_arrivals; i++) {
        f->arrivals[i].kind = OFI_ARRIVAL;
        f->arrivals[i].next = f->unposted;
        f->unposted = &f->arrivals[i];
    }
    storm_status status =
        ofi_alloc(&f->fabric, f->n_arrivals * sizeof(struct ofi_word_message),
                  &f->inbox);
    if (status < 0)
        return status;
    int rc = ofi_post_arrivals(f);
    return rc == 0 ? STORM_OK : failed(f, "post a receive", rc);
}

static void close_fid(const struct ofi_fabric *f, struct fid *fid)
{
    int rc = fid ? fi_close(fid) : 0;
    if (rc != 0)
        storm_log_write(&f->fabric.env->log, STORM_LOG_WARN,
                        "ofi (%s): closing failed: %s", f->name,
                        f->library.strerror(-rc));
}

static void ofi_free(struct ofi_fabric *f)
{
    struct storm_memory *memory = f->fabric.env->memory;
    bool bound = f->info && f->info->domain_attr->mr_mode & FI_MR_ENDPOINT;
    if (!bound) /* memory may be in use by receives */
        close_fid(f, f->ep ? &f->ep->fid : NULL);
    if (f->inbox)
        ofi_release(&f->fabric, f->inbox);
    if (f->words)
        ofi_release(&f->fabric, f->words);
    if (bound)
        close_fid(f, f->ep ? &f->ep->fid : NULL);
    close_fid(f, f->av ? &f->av->fid : NULL);
    close_fid(f, f->cq ? &f->cq->fid : NULL);
    close_fid(f, f->domain ? &f->domain->fid : NULL);
    close_fid(f, f->fid ? &f->fid->fid : NULL);
    if (f->info)
        f->library.freeinfo(f->info);
    storm_free(memory, f->region);
    storm_free(memory, f->arrivals);
    storm_free(memory, f->ops);
    storm_free(memory, f->peers);
    storm_free(memory, f);
}

static void log_chosen(const struct ofi_fabric *f)
{
    if (f->fabric.boot.rank != 0)
        return;
    storm_log_write(&f->fabric.env->log, STORM_LOG_INFO,
                    "ofi: provider %s on %s, in %s; words follow puts %s; "
                    "data land %s",
                    f->name, f->info->domain_attr->name,
                    ofi_is_hardware(f->info) ? "hardware" : "software",
                    f->fabric.caps.ordered ? "in order"
                                           : "after their completion",
                    f->fabric.caps.async ? "at any time"
                                         : "when the target polls");
}

static storm_status ofi_open(const struct storm_env *env,
                             const struct storm_boot *boot,
                             struct storm_fabric **fabric_out)
{
    struct ofi_fabric *f = storm_alloc(env->memory, "ofi fabric", sizeof *f);
    storm_status status =
        storm_boot_agree(boot, f ? STORM_OK : STORM_ERR_NOMEM);
    if (status < 0) {
        storm_free(env->memory, f);
        return status;
    }
    f->fabric = (struct storm_fabric){
        .ops = &storm_fabric_ofi, .data = &ofi_data, .env = env, .boot = *boot};
    f->next_key = 1;
    storm_pace_begin(&f->pace, OFI_READ_EVERY, OFI_READ_EVERY_S);
    status = ofi_choose(env, boot, &f->library, &f->info);
    if (status < 0)
        goto err_free;
    snprintf(f->name, sizeof f->name, "%s", f->info->fabric_attr->prov_name);
    f->fabric.provider = f->name;

    status = open_domain(f);
    if (status == STORM_OK)
        status = open_endpoint(f);
    if (status == STORM_OK)
        status = check_atomics(f);
    if (status == STORM_OK)
        status = make_pool(f);
    if (status == STORM_OK && f->stream)
        status = make_inbox(f);
    status = storm_boot_agree(boot, status);
    if (status == STORM_OK)
        status = drop_files(f);
    if (status == STORM_OK)
        status = ofi_selftest(f);
    if (status < 0)
        goto err_free;
    log_chosen(f);
    *fabric_out = &f->fabric;
    return STORM_OK;

err_free:
    ofi_free(f);
    return status;
}

static void ofi_close(struct storm_fabric *fabric)
{
    /* Others may need our polls until they are here too. */
    storm_status status;
    for (uint64_t n = 0;
         (status = fabric->boot.barrier_try(fabric->boot.self)) == STORM_AGAIN;
         n++)
        (void)fabric->data->idle(fabric, n);
    if (status < 0)
        storm_log_write(&fabric->env->log, STORM_LOG_DEBUG,
                        "ofi: closed without waiting for the other ranks");
    ofi_free(ofi_of(fabric));
}

const struct storm_fabric_ops storm_fabric_ofi = {
    .name = "ofi",
    .prepare = ofi_prepare,
    .probe = ofi_probe,
    .offloads = ofi_offloads,
    .survey = ofi_survey,
    .open = ofi_open,
    .close = ofi_close,
    .alloc = ofi_alloc,
    .release = ofi_release,
    .describe = ofi_describe,
    .attach = ofi_attach,
    .detach = ofi_detach,
};
