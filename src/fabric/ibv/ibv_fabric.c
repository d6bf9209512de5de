/* SPDX-License-Identifier: BSD-3-Clause */
/* Lifecycle and memory of the fabric over libibverbs. */
#include "fabric/ibv/ibv_fabric.h"
#include "fabric/fabric_memory.h"
#include "fabric/fabric_selftest.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/idle.h"

/* What a descriptor holds. */
struct region_card {
    uint64_t address, bytes;
    uint32_t rkey;
    struct verbs_card owner;
};

storm_status verbs_fail(struct verbs_fabric *f, const char *what, int error)
{
    if (f->failed == STORM_OK)
        storm_log_write(&f->fabric.env->log, STORM_LOG_ERROR, "ibv: %s: %s: %s",
                        f->port.name, what, strerror(error));
    f->failed = STORM_ERR_FABRIC;
    return f->failed;
}

/* ---- opening and closing --------------------------------------------------*/

static storm_status verbs_probe(char *reason_out, size_t reason_bytes)
{
    const struct verbs_request any = {.device = "", .gid_index = -1};
    struct verbs_port port;
    storm_status status =
        verbs_port_open(&any, &port, reason_out, reason_bytes);
    if (status == STORM_OK)
        verbs_port_close(&port);
    return status;
}

/* Emulated devices count too: a user who sets one up wants it. */
static bool verbs_offloads(void)
{
    return true;
}

static storm_status open_port(struct verbs_fabric *f)
{
    const struct storm_env *env = f->fabric.env;
    const struct verbs_request request = {
        .device = storm_options_text(env->options, "transport.ibv_device"),
        .port = storm_options_int(env->options, "transport.ibv_port"),
        .gid_index = storm_options_int(env->options, "transport.ibv_gid_index"),
        .pkey_index =
            storm_options_int(env->options, "transport.ibv_pkey_index"),
        .service_level =
            storm_options_int(env->options, "transport.ibv_service_level"),
    };
    char reason[256] = "";
    storm_status status =
        verbs_port_open(&request, &f->port, reason, sizeof reason);
    if (status < 0)
        storm_log_write(&env->log, STORM_LOG_ERROR, "ibv: %s", reason);
    return status;
}

/* All that one rank needs for itself. */
static storm_status open_alone(struct verbs_fabric *f)
{
    storm_status status = open_port(f);
    if (status < 0)
        return status;
    int max = f->port.device.max_cqe;
    f->limit = (uint32_t)(max < VERBS_COMPLETIONS ? max : VERBS_COMPLETIONS);
    errno = 0;
    f->pd = f->port.library.alloc_pd(f->port.context);
    f->cq = f->pd ? f->port.library.create_cq(f->port.context, (int)f->limit,
                                              NULL, NULL, 0)
                  : NULL;
    if (!f->cq) {
        verbs_log_denied(f, errno, "a completion queue of %u entries",
                         f->limit);
        return STORM_ERR_FABRIC;
    }
    status = verbs_memory_make(f, 1, &f->scrap);
    return status < 0 ? status : verbs_handshake_open(f);
}

static struct verbs_card card_of(const struct verbs_fabric *f)
{
    int reads = f->port.device.max_qp_rd_atom;
    struct verbs_card card = {
        .qpn = f->handshake.qp->qp_num,
        .lid = f->port.attr.lid,
        .mtu = (uint8_t)f->port.attr.active_mtu,
        .reads = (uint8_t)(reads < VERBS_READS ? reads : VERBS_READS),
    };
    memcpy(card.gid, f->port.gid.raw, sizeof card.gid);
    return card;
}

static void close_alone(struct verbs_fabric *f)
{
    struct storm_memory *memory = f->fabric.env->memory;
    for (size_t i = 0; i < f->n_conns; i++)
        verbs_conn_free(f, f->conns[i]);
    verbs_handshake_close(f);
    verbs_memory_free(f, &f->scrap);
    if (f->cq)
        f->port.library.destroy_cq(f->cq);
    if (f->pd && f->port.library.dealloc_pd(f->pd) != 0)
        storm_log_write(&f->fabric.env->log, STORM_LOG_WARN,
                        "ibv: closed with regions not released");
    verbs_port_close(&f->port);
    storm_free(memory, f->conns);
    storm_free(memory, f);
}

static void log_open(const struct verbs_fabric *f)
{
    const struct verbs_port *port = &f->port;
    storm_log_write(&f->fabric.env->log, STORM_LOG_DEBUG,
                    "ibv: %s port %d, gid %d, pkey %d, service level %d; %u "
                    "requests to a peer (device: "
                    "%d), %u to all (%d), %u bytes inline, %d reads at once "
                    "(%d)",
                    port->name, port->number, port->gid_index, port->pkey_index,
                    port->service_level, f->depth, port->device.max_qp_wr,
                    f->limit, port->device.max_cqe, f->inline_bytes,
                    f->card.reads, port->device.max_qp_rd_atom);
}

/* Verbs promise order, but adapters and buses can be set up to relax it. The
 * rings need it: without it the device is refused. */
storm_status verbs_selftest(struct verbs_fabric *f)
{
    struct storm_selftest s;
    storm_status status = storm_selftest_open(&f->fabric, &s);
    if (status == STORM_OK &&
        !storm_selftest_agree(&s, storm_selftest_order(&s)))
        status = storm_selftest_refuse(
            &s, "a word arrives before the data that were written first; turn "
                "relaxed ordering off (its driver's and the BIOS's settings), "
                "or take another backend");
    return storm_selftest_close(&s, status);
}

static storm_status verbs_open(const struct storm_env *env,
                               const struct storm_boot *boot,
                               struct storm_fabric **fabric_out)
{
    struct verbs_fabric *f = storm_alloc(env->memory, "ibv fabric", sizeof *f);
    storm_status status =
        storm_boot_agree(boot, f ? STORM_OK : STORM_ERR_NOMEM);
    if (status < 0) {
        storm_free(env->memory, f);
        return status;
    }
    f->fabric = (struct storm_fabric){
        .ops = &storm_fabric_ibv,
        .data = &verbs_data_ops,
        .caps = {.ordered = true, .async = true},
        .env = env,
        .boot = *boot,
        .provider = f->port.name,
    };
    status = storm_boot_agree(boot, open_alone(f));
    if (status == STORM_OK) {
        f->card = card_of(f);
        f->nonce = (uint64_t)getpid() << 40 ^ storm_clock_ticks();
        status = boot->broadcast(boot->self, &f->nonce, sizeof f->nonce);
    }
    if (status == STORM_OK)
        status = verbs_selftest(f);
    if (status < 0) {
        close_alone(f);
        return status;
    }
    log_open(f);
    *fabric_out = &f->fabric;
    return STORM_OK;
}

static void verbs_close(struct storm_fabric *fabric)
{
    struct storm_boot *boot = &fabric->boot;
    /* Others may still want to connect; but no caller waits for completions of
     * a broken fabric. */
    storm_status status, polled = verbs_of(fabric)->failed;
    for (uint64_t n = 0;
         (status = boot->barrier_try(boot->self)) == STORM_AGAIN; n++)
        if (polled >= 0)
            polled = fabric->data->idle(fabric, n);
        else
            storm_idle(n);
    if (status < 0)
        storm_log_write(&fabric->env->log, STORM_LOG_DEBUG,
                        "ibv: closed without waiting for the other ranks");
    close_alone(verbs_of(fabric));
}

/* ---- memory ---------------------------------------------------------------*/

static storm_status verbs_alloc(struct storm_fabric *fabric, size_t bytes,
                                struct storm_region **region_out)
{
    struct verbs_region *region =
        storm_alloc(fabric->env->memory, "ibv regions", sizeof *region);
    if (!region)
        return STORM_ERR_NOMEM;
    storm_status status =
        verbs_memory_make(verbs_of(fabric), bytes, &region->memory);
    if (status < 0) {
        storm_free(fabric->env->memory, region);
        return status;
    }
    region->region =
        (struct storm_region){.base = region->memory.base, .bytes = bytes};
    *region_out = &region->region;
    return STORM_OK;
}

static void verbs_release(struct storm_fabric *fabric,
                          struct storm_region *region)
{
    struct verbs_region *own = (struct verbs_region *)region;
    verbs_memory_free(verbs_of(fabric), &own->memory);
    storm_free(fabric->env->memory, own);
}

static void verbs_describe(const struct storm_fabric *fabric,
                           const struct storm_region *region,
                           struct storm_region_desc *desc_out)
{
    const struct verbs_region *own = (const struct verbs_region *)region;
    struct region_card card = {
        .address = (uintptr_t)region->base,
        .bytes = region->bytes,
        .rkey = own->memory.mr->rkey,
        .owner = ((const struct verbs_fabric *)fabric)->card,
    };
    _Static_assert(sizeof card <= STORM_DESC_BYTES, "descriptor too small");
    storm_fabric_pack(&card, sizeof card, desc_out);
}

static storm_status verbs_attach(struct storm_fabric *fabric, int peer,
                                 const struct storm_region_desc *desc,
                                 struct storm_remote **remote_out)
{
    struct verbs_remote *remote =
        storm_alloc(fabric->env->memory, "ibv remotes", sizeof *remote);
    if (!remote)
        return STORM_ERR_NOMEM;
    struct region_card card;
    memcpy(&card, desc->bytes, sizeof card);
    storm_status status =
        verbs_conn_make(verbs_of(fabric), peer, &card.owner, &remote->conn);
    if (status < 0) {
        storm_free(fabric->env->memory, remote);
        return status;
    }
    remote->remote = (struct storm_remote){
        .fabric = fabric, .peer = peer, .bytes = card.bytes};
    remote->address = card.address;
    remote->rkey = card.rkey;
    *remote_out = &remote->remote;
    return STORM_OK;
}

static void verbs_detach(struct storm_fabric *fabric,
                         struct storm_remote *remote)
{
    storm_free(fabric->env->memory, remote);
}

const struct storm_fabric_ops storm_fabric_ibv = {
    .name = "ibv",
    .prepare = storm_no_prepare,
    .probe = verbs_probe,
    .offloads = verbs_offloads,
    .survey = verbs_survey,
    .open = verbs_open,
    .close = verbs_close,
    .alloc = verbs_alloc,
    .release = verbs_release,
    .describe = verbs_describe,
    .attach = verbs_attach,
    .detach = verbs_detach,
};
