/* SPDX-License-Identifier: BSD-3-Clause */
/* Which device, port and address to use, and why none can be. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fabric/ibv/ibv_fabric.h"

enum { IPV4_MARK_AT = 10, MAX_GIDS = 256 };

/* A text buffer. */
struct reason {
    char *text;
    size_t bytes;
};

/* What the kernel has; libibverbs may lack the driver for it. */
static void log_no_device(const struct reason *why)
{
    DIR *dir = opendir("/sys/class/infiniband");
    const struct dirent *entry = NULL;
    if (dir)
        do
            entry = readdir(dir);
        while (entry && entry->d_name[0] == '.');
    if (entry)
        snprintf(why->text, why->bytes,
                 "libibverbs has no driver for device %s: install "
                 "ibverbs-providers or the vendor's own",
                 entry->d_name);
    else
        snprintf(
            why->text, why->bytes,
            "no RDMA device (ibv_devices lists none): is there an adapter, "
            "its driver loaded, and in a container /dev/infiniband?");
    if (dir)
        closedir(dir);
}

static bool is_ipv4(const union ibv_gid *gid)
{
    static const unsigned char head[IPV4_MARK_AT + 2] = {
        [IPV4_MARK_AT] = 0xff, [IPV4_MARK_AT + 1] = 0xff};
    return memcmp(gid->raw, head, sizeof head) == 0;
}

/* Tables have room for more addresses than there are. */
static bool is_empty(const union ibv_gid *gid)
{
    static const union ibv_gid none;
    return memcmp(gid, &none, sizeof none) == 0;
}

/* RoCE: version 2 over IPv4 if there is one, else any of version 2. */
static int choose_gid(const struct verbs_port *port)
{
    int found = 0;
    int n =
        port->attr.gid_tbl_len < MAX_GIDS ? port->attr.gid_tbl_len : MAX_GIDS;
    for (int i = 0; i < n; i++) {
        struct ibv_gid_entry entry;
        if (port->library.query_gid_ex(port->context, port->number, (uint32_t)i,
                                       &entry, 0, sizeof entry) != 0 ||
            entry.gid_type != IBV_GID_TYPE_ROCE_V2)
            continue;
        if (is_ipv4(&entry.gid))
            return i;
        if (found == 0)
            found = i;
    }
    return found;
}

/* Takes the address asked for, or the best of the port. */
static bool take_gid(struct verbs_port *port,
                     const struct verbs_request *request,
                     const struct reason *why)
{
    bool ethernet = port->attr.link_layer == IBV_LINK_LAYER_ETHERNET;
    int64_t index = request->gid_index >= 0 ? request->gid_index
                    : ethernet              ? choose_gid(port)
                                            : 0;
    port->global = ethernet || request->gid_index >= 0 ||
                   (port->attr.flags & IBV_QPF_GRH_REQUIRED) != 0;
    if (index >= port->attr.gid_tbl_len ||
        port->library.query_gid(port->context, port->number, (int)index,
                                &port->gid) != 0 ||
        is_empty(&port->gid)) {
        snprintf(why->text, why->bytes,
                 "%s port %d has no address (gid) number %lld; `ibv_devinfo "
                 "-v` lists what it has",
                 port->name, port->number, (long long)index);
        return false;
    }
    port->gid_index = (uint8_t)index;
    return true;
}

/* Takes the partition and the service level asked for. */
static bool take_partition(struct verbs_port *port,
                           const struct verbs_request *request,
                           const struct reason *why)
{
    if (request->pkey_index >= port->attr.pkey_tbl_len) {
        snprintf(why->text, why->bytes,
                 "%s port %d has no partition key number %lld; it has %d "
                 "(/sys/class/infiniband/%s/ports/%d/pkeys)",
                 port->name, port->number, (long long)request->pkey_index,
                 port->attr.pkey_tbl_len, port->name, port->number);
        return false;
    }
    port->pkey_index = (uint16_t)request->pkey_index;
    port->service_level = (uint8_t)request->service_level;
    return true;
}

/* Takes the port asked for, or the first active one. */
static bool take_port(struct verbs_port *port,
                      const struct verbs_request *request,
                      const struct reason *why)
{
    uint8_t n = port->device.phys_port_cnt;
    if (request->port > n) {
        snprintf(why->text, why->bytes, "%s has no port %lld; it has %d",
                 port->name, (long long)request->port, n);
        return false;
    }
    uint8_t first = request->port > 0 ? (uint8_t)request->port : 1;
    uint8_t last = request->port > 0 ? (uint8_t)request->port : n;
    snprintf(why->text, why->bytes, "%s has no port", port->name);
    for (uint8_t i = first; i <= last; i++) {
        port->number = i;
        port->attr = (struct ibv_port_attr){0};
        int error =
            port->library.query_port(port->context, i, (void *)&port->attr);
        if (error != 0) {
            snprintf(why->text, why->bytes, "%s port %d cannot be queried: %s",
                     port->name, i, strerror(error));
            continue;
        }
        if (port->attr.state == IBV_PORT_ACTIVE)
            return take_partition(port, request, why) &&
                   take_gid(port, request, why);
        snprintf(why->text, why->bytes,
                 "%s port %d is not active (%s): is its network up?",
                 port->name, i, port->library.port_state_str(port->attr.state));
    }
    return false;
}

static bool take_device(const struct verbs_library *library,
                        struct ibv_device *device,
                        const struct verbs_request *request,
                        struct verbs_port *port, const struct reason *why)
{
    *port = (struct verbs_port){.library = *library,
                                .context = library->open_device(device)};
    snprintf(port->name, sizeof port->name, "%s",
             library->get_device_name(device));
    if (!port->context) {
        snprintf(why->text, why->bytes,
                 "%s cannot be opened: %s; look at the permissions of "
                 "/dev/infiniband",
                 port->name, strerror(errno));
        return false;
    }
    int error = port->library.query_device(port->context, &port->device);
    bool good = false;
    if (error != 0)
        snprintf(why->text, why->bytes, "%s cannot be queried: %s", port->name,
                 strerror(error));
    else if (port->device.atomic_cap == IBV_ATOMIC_NONE ||
             port->device.max_qp_rd_atom < 1 ||
             port->device.max_qp_init_rd_atom < 1)
        snprintf(why->text, why->bytes, "%s has no remote atomics", port->name);
    else
        good = take_port(port, request, why);
    if (!good)
        port->library.close_device(port->context);
    return good;
}

storm_status verbs_port_open(const struct verbs_request *request,
                             struct verbs_port *port_out, char *reason_out,
                             size_t reason_bytes)
{
    const struct reason why = {reason_out, reason_bytes};
    bool any = request->device[0] == '\0', seen = false;
    int n = 0;
    struct verbs_library library;
    storm_status status =
        verbs_library_open(&library, reason_out, reason_bytes);
    if (status < 0)
        return status;
    struct ibv_device **list = library.get_device_list(&n);
    if (!list) {
        snprintf(
            reason_out, reason_bytes, "%s",
            errno == ENOSYS
                ? "no RDMA device: the kernel module ib_uverbs is not loaded "
                  "(modprobe ib_uverbs, and the driver of the adapter)"
                : strerror(errno));
        return STORM_ERR_NOSUP;
    }
    if (n == 0)
        log_no_device(&why);
    struct verbs_port port;
    bool good = false;
    for (int i = 0; i < n && !good; i++)
        if (any ||
            strcmp(request->device, library.get_device_name(list[i])) == 0) {
            seen = true;
            good = take_device(&library, list[i], request, &port, &why);
        }
    if (n > 0 && !seen)
        snprintf(reason_out, reason_bytes,
                 "there is no RDMA device %s (ibv_devices lists what there is)",
                 request->device);
    library.free_device_list(list);
    if (!good)
        return STORM_ERR_NOSUP;
    *port_out = port;
    return STORM_OK;
}

void verbs_survey(void (*line)(void *self, const char *text), void *self)
{
    const struct verbs_request any = {.device = "", .gid_index = -1};
    char text[256];
    const struct reason why = {text, sizeof text};
    int n = 0;
    struct verbs_library library;
    if (verbs_library_open(&library, text, sizeof text) < 0)
        return;
    struct ibv_device **list = library.get_device_list(&n);
    for (int i = 0; list && i < n; i++) {
        struct verbs_port port;
        if (take_device(&library, list[i], &any, &port, &why)) {
            snprintf(text, sizeof text, "%s port %d: active, gid %d", port.name,
                     port.number, port.gid_index);
            verbs_port_close(&port);
        }
        line(self, text);
    }
    if (list)
        library.free_device_list(list);
}

void verbs_port_close(struct verbs_port *port)
{
    if (port->context)
        port->library.close_device(port->context);
    port->context = NULL;
}
