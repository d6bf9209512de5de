/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which provider: what libfabric offers here, what of it storm can use, and
 * which of that is best. Decided from attributes; names appear in two lists
 * alone, of what is known not to work and of what is known to keep order.
 */
#include <stdio.h>
#include <string.h>

#include "fabric/ofi/ofi_internal.h"

#define OFI_API FI_VERSION(1, 14)

/* Providers that offer more than they can do. */
static const struct {
    const char *name, *reason;
} ofi_broken[] = {
    {"net", "it offers atomics but does not have them (ENOSYS)"},
    {"udp;ofi_rxd", "its target crashes when an atomic arrives"},
};

/* Providers whose put_word stays behind earlier puts (FABRIC-7) according to
 * tests/conform/fabric_order. Without atomics tcp;ofi_rxm would also report
 * it; with them it reports nothing and still keeps all in one stream. */
static const char *const ofi_ordered[] = {
    "tcp;ofi_rxm",
    "sockets",
    "shm",
};

struct ofi_candidate {
    struct fi_info *info; /* one of the lists below */
    const char *refused;  /* why, or NULL */
};

struct ofi_candidates {
    struct ofi_library library;
    struct fi_info *list[3];
    struct ofi_candidate at[OFI_MAX_CANDIDATES];
    size_t n;
};

/* ---- attributes -----------------------------------------------------------*/

bool ofi_is_hardware(const struct fi_info *info)
{
    if (info->nic)
        return true;
    switch (info->addr_format) {
    case FI_FORMAT_UNSPEC:
    case FI_SOCKADDR:
    case FI_SOCKADDR_IN:
    case FI_SOCKADDR_IN6:
    case FI_ADDR_STR:
        return false;
    default: /* addresses of its own: a network of its own */
        return true;
    }
}

bool ofi_is_stream(const struct fi_info *info)
{
    return !ofi_is_hardware(info) && info->addr_format != FI_ADDR_STR;
}

bool ofi_known_ordered(const struct fi_info *info)
{
    for (size_t i = 0; i < sizeof ofi_ordered / sizeof ofi_ordered[0]; i++)
        if (strcmp(info->fabric_attr->prov_name, ofi_ordered[i]) == 0)
            return true;
    return false;
}

static bool on_network(const struct fi_info *info)
{
    return info->addr_format != FI_ADDR_STR;
}

/* Small is good. Within a class libfabric's own order stays. */
static int class_of(const struct fi_info *info)
{
    if (ofi_is_hardware(info))
        return 0;
    return on_network(info) ? 1 : 2;
}

static const char *why_broken(const struct fi_info *info)
{
    for (size_t i = 0; i < sizeof ofi_broken / sizeof ofi_broken[0]; i++)
        if (strcmp(info->fabric_attr->prov_name, ofi_broken[i].name) == 0)
            return ofi_broken[i].reason;
    return NULL;
}

/* ---- asking ---------------------------------------------------------------*/

/* What is asked for, in this order. */
enum ofi_request { REQUEST_ORDERED, REQUEST_USABLE, REQUEST_ANY, N_REQUESTS };

static struct fi_info *make_hints(const struct ofi_library *library,
                                  enum ofi_request request)
{
    struct fi_info *hints = library->dupinfo(NULL);
    if (!hints)
        return NULL;
    hints->caps = FI_RMA | FI_MSG;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL; /* our polls */
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR |
                                  FI_MR_ALLOCATED | FI_MR_PROV_KEY |
                                  FI_MR_ENDPOINT;
    if (request == REQUEST_ANY)
        return hints;
    hints->caps |= FI_ATOMIC;
    /* That it can; each operation sets whether it does. */
    hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
    if (request == REQUEST_ORDERED)
        hints->tx_attr->msg_order =
            FI_ORDER_WAW | FI_ORDER_RMA_WAW | FI_ORDER_ATOMIC_WAW;
    return hints;
}

static bool listed(const struct ofi_candidates *c, const struct fi_info *info)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->at[i].info->fabric_attr->prov_name,
                   info->fabric_attr->prov_name) == 0)
            return true;
    return false;
}

/* Inserts it after all that are at least as good. */
static void add(struct ofi_candidates *c, struct fi_info *info,
                const char *refused)
{
    if (c->n == OFI_MAX_CANDIDATES || listed(c, info))
        return;
    int class = refused ? 3 : class_of(info);
    size_t i = c->n++;
    for (; i > 0; i--) {
        const struct ofi_candidate *other = &c->at[i - 1];
        if ((other->refused ? 3 : class_of(other->info)) <= class)
            break;
        c->at[i] = *other;
    }
    c->at[i] = (struct ofi_candidate){info, refused};
}

/* Every provider once, best first, refused ones last. */
static storm_status find_candidates(struct ofi_candidates *c, char *reason_out,
                                    size_t reason_bytes)
{
    memset(c, 0, sizeof *c);
    storm_status status =
        ofi_library_open(&c->library, reason_out, reason_bytes);
    if (status < 0)
        return status;
    for (int request = 0; request < N_REQUESTS; request++) {
        struct fi_info *hints =
            make_hints(&c->library, (enum ofi_request)request);
        if (!hints) {
            snprintf(reason_out, reason_bytes, "no memory");
            return STORM_ERR_NOMEM;
        }
        if (c->library.getinfo(OFI_API, NULL, NULL, 0, hints,
                               &c->list[request]) != 0)
            c->list[request] = NULL;
        c->library.freeinfo(hints);
    }
    /* In the order of the second list, which is libfabric's; but with
     * the entry of the first, if it has one. */
    for (struct fi_info *i = c->list[REQUEST_USABLE]; i; i = i->next) {
        struct fi_info *best = i;
        for (struct fi_info *k = c->list[REQUEST_ORDERED]; k; k = k->next)
            if (strcmp(k->fabric_attr->prov_name, i->fabric_attr->prov_name) ==
                0) {
                best = k;
                break;
            }
        add(c, best, why_broken(i));
    }
    for (struct fi_info *i = c->list[REQUEST_ORDERED]; i; i = i->next)
        add(c, i, why_broken(i));
    for (struct fi_info *i = c->list[REQUEST_ANY]; i; i = i->next)
        add(c, i, "it has no atomics, or cannot tell when data have landed");
    return STORM_OK;
}

static void free_candidates(struct ofi_candidates *c)
{
    for (int i = 0; i < N_REQUESTS; i++)
        if (c->list[i])
            c->library.freeinfo(c->list[i]);
}

/* ---- choosing -------------------------------------------------------------*/

/* "tcp" also means "tcp;ofi_rxm". */
static bool is_called(const struct fi_info *info, const char *name)
{
    const char *full = info->fabric_attr->prov_name;
    size_t n = strlen(name);
    return strncmp(full, name, n) == 0 && (full[n] == '\0' || full[n] == ';');
}

/* Names of all that were found, in one line. */
static void list_names(const struct ofi_candidates *c, bool usable, char *text,
                       size_t bytes)
{
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < c->n && n < bytes; i++) {
        if (usable && c->at[i].refused)
            continue;
        int wrote = snprintf(text + n, bytes - n, "%s%s", n ? ", " : "",
                             c->at[i].info->fabric_attr->prov_name);
        n += wrote > 0 ? (size_t)wrote : 0;
    }
}

static storm_status complain(const struct storm_env *env, const char *wanted,
                             const struct ofi_candidates *c,
                             const struct ofi_candidate *refused)
{
    char names[256];
    list_names(c, true, names, sizeof names);
    if (refused)
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "ofi: provider %s cannot be used: %s; usable here: %s",
                        refused->info->fabric_attr->prov_name, refused->refused,
                        names[0] ? names : "none");
    else if (wanted[0])
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "ofi: no provider %s on this machine; usable here: %s",
                        wanted, names[0] ? names : "none");
    else
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "ofi: libfabric offers no provider with remote memory "
                        "and atomics on this machine");
    return STORM_ERR_NOSUP;
}

/* This rank's best, or the one the user wants. */
static storm_status choose_alone(const struct storm_env *env,
                                 const struct ofi_candidates *c,
                                 const struct ofi_candidate **chosen_out)
{
    const char *wanted = storm_options_text(env->options, "transport.provider");
    for (size_t i = 0; i < c->n; i++) {
        const struct ofi_candidate *at = &c->at[i];
        if (wanted[0] ? !is_called(at->info, wanted) : at->refused != NULL)
            continue;
        if (at->refused)
            return complain(env, wanted, c, at);
        *chosen_out = at;
        return STORM_OK;
    }
    return complain(env, wanted, c, NULL);
}

/* What rank 0 chooses. */
struct ofi_choice_card {
    char provider[OFI_NAME_BYTES];
    char network[OFI_NAME_BYTES]; /* such as 10.0.0.0/8 */
};

/* Rank 0's provider, on rank 0's network if this rank is on it too. */
static struct fi_info *same_as(const struct ofi_candidates *c,
                               const struct ofi_choice_card *card)
{
    struct fi_info *found = NULL;
    for (int request = 0; request < REQUEST_ANY && !found; request++)
        for (struct fi_info *i = c->list[request]; i; i = i->next) {
            if (strcmp(i->fabric_attr->prov_name, card->provider) != 0)
                continue;
            if (strcmp(i->fabric_attr->name, card->network) == 0)
                return i;
            if (!found)
                found = i;
        }
    return found;
}

static storm_status choose_together(const struct storm_env *env,
                                    const struct storm_boot *boot,
                                    const struct ofi_candidates *c,
                                    struct fi_info **info_out)
{
    const struct ofi_candidate *mine = NULL;
    struct ofi_choice_card card = {0};
    storm_status status = STORM_OK;
    if (boot->rank == 0)
        status = choose_alone(env, c, &mine);
    status = storm_boot_agree(boot, status);
    if (status < 0)
        return status;
    if (mine) {
        snprintf(card.provider, sizeof card.provider, "%s",
                 mine->info->fabric_attr->prov_name);
        snprintf(card.network, sizeof card.network, "%s",
                 mine->info->fabric_attr->name);
    }
    status = boot->broadcast(boot->self, &card, sizeof card);
    if (status < 0)
        return status;
    struct fi_info *info = same_as(c, &card);
    struct fi_info *copy = info ? c->library.dupinfo(info) : NULL;
    if (!info) {
        char names[256];
        list_names(c, true, names, sizeof names);
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "ofi: rank 0 uses provider %s, which this machine "
                        "does not have; usable here: %s",
                        card.provider, names[0] ? names : "none");
        status = STORM_ERR_NOSUP;
    } else if (!copy) {
        status = STORM_ERR_NOMEM;
    }
    status = storm_boot_agree(boot, status);
    if (status == STORM_OK)
        *info_out = copy;
    else if (copy)
        c->library.freeinfo(copy);
    return status;
}

storm_status ofi_choose(const struct storm_env *env,
                        const struct storm_boot *boot,
                        struct ofi_library *library_out,
                        struct fi_info **info_out)
{
    struct ofi_candidates c;
    char reason[256];
    storm_status status = find_candidates(&c, reason, sizeof reason);
    if (status < 0)
        storm_log_write(&env->log, STORM_LOG_ERROR, "ofi: %s", reason);
    status = storm_boot_agree(boot, status);
    if (status == STORM_OK)
        status = choose_together(env, boot, &c, info_out);
    if (status == STORM_OK)
        *library_out = c.library;
    free_candidates(&c);
    return status;
}

/* ---- reporting
 * --------------------------------------------------------------*/

storm_status ofi_probe(char *reason_out, size_t reason_bytes)
{
    struct ofi_candidates c;
    char names[256] = "";
    storm_status status = find_candidates(&c, reason_out, reason_bytes);
    if (status == STORM_OK) {
        list_names(&c, true, names, sizeof names);
        if (names[0]) {
            snprintf(reason_out, reason_bytes, "providers: %s", names);
        } else if (c.n > 0) {
            snprintf(reason_out, reason_bytes,
                     "none of libfabric's providers can be used; %s: %s",
                     c.at[0].info->fabric_attr->prov_name, c.at[0].refused);
            status = STORM_ERR_NOSUP;
        } else {
            snprintf(reason_out, reason_bytes,
                     "libfabric finds no provider with remote memory; check "
                     "with fi_info, and FI_PROVIDER in the environment");
            status = STORM_ERR_NOSUP;
        }
    }
    free_candidates(&c);
    return status;
}

bool ofi_offloads(void)
{
    struct ofi_candidates c;
    char reason[256];
    bool found = false;
    if (find_candidates(&c, reason, sizeof reason) == STORM_OK)
        for (size_t i = 0; i < c.n && !found; i++)
            found = !c.at[i].refused && ofi_is_hardware(c.at[i].info);
    free_candidates(&c);
    return found;
}

void ofi_survey(void (*line)(void *self, const char *text), void *self)
{
    struct ofi_candidates c;
    char text[256];
    if (find_candidates(&c, text, sizeof text) == STORM_OK)
        for (size_t i = 0; i < c.n; i++) {
            const struct ofi_candidate *at = &c.at[i];
            const struct fi_info *info = at->info;
            snprintf(text, sizeof text, "%s on %s: %s%s",
                     info->fabric_attr->prov_name, info->domain_attr->name,
                     at->refused             ? "no: "
                     : ofi_is_hardware(info) ? "hardware"
                                             : "software",
                     at->refused ? at->refused : "");
            line(self, text);
        }
    free_candidates(&c);
}
