/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/ibv/ibv_library.h"

#include <stddef.h>

#include "base/library.h"

/* The versions that verbs.h declares: a newer one may take other arguments. */
#define V1 "IBVERBS_1.1"
#define GID "IBVERBS_1.11"

storm_status verbs_library_open(struct verbs_library *library_out,
                                char *reason_out, size_t reason_bytes)
{
    static const struct storm_library_symbol symbols[] = {
        {"ibv_get_device_list", V1,
         offsetof(struct verbs_library, get_device_list)},
        {"ibv_free_device_list", V1,
         offsetof(struct verbs_library, free_device_list)},
        {"ibv_get_device_name", V1,
         offsetof(struct verbs_library, get_device_name)},
        {"ibv_open_device", V1, offsetof(struct verbs_library, open_device)},
        {"ibv_close_device", V1, offsetof(struct verbs_library, close_device)},
        {"ibv_query_device", V1, offsetof(struct verbs_library, query_device)},
        {"ibv_query_port", V1, offsetof(struct verbs_library, query_port)},
        {"ibv_query_gid", V1, offsetof(struct verbs_library, query_gid)},
        {"ibv_port_state_str", V1,
         offsetof(struct verbs_library, port_state_str)},
        {"ibv_wc_status_str", V1,
         offsetof(struct verbs_library, wc_status_str)},
        {"ibv_alloc_pd", V1, offsetof(struct verbs_library, alloc_pd)},
        {"ibv_dealloc_pd", V1, offsetof(struct verbs_library, dealloc_pd)},
        {"ibv_reg_mr", V1, offsetof(struct verbs_library, reg_mr)},
        {"ibv_dereg_mr", V1, offsetof(struct verbs_library, dereg_mr)},
        {"ibv_create_cq", V1, offsetof(struct verbs_library, create_cq)},
        {"ibv_destroy_cq", V1, offsetof(struct verbs_library, destroy_cq)},
        {"ibv_create_qp", V1, offsetof(struct verbs_library, create_qp)},
        {"ibv_modify_qp", V1, offsetof(struct verbs_library, modify_qp)},
        {"ibv_destroy_qp", V1, offsetof(struct verbs_library, destroy_qp)},
        {"ibv_create_ah", V1, offsetof(struct verbs_library, create_ah)},
        {"ibv_destroy_ah", V1, offsetof(struct verbs_library, destroy_ah)},
        {"_ibv_query_gid_ex", GID,
         offsetof(struct verbs_library, query_gid_ex)},
        {NULL, NULL, 0},
    };
    static const struct storm_library libibverbs = {
        .name = "libibverbs", .file = "libibverbs.so.1", .symbols = symbols};
    return storm_library_load(&libibverbs, library_out, reason_out,
                              reason_bytes);
}
