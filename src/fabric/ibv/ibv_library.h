/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of libibverbs that this backend calls. Those of the data path
 * (ibv_post_send, ibv_post_recv, ibv_poll_cq) are inline in verbs.h: they call
 * the driver through its objects, and need no symbol of the library.
 */
#ifndef STORM_FABRIC_IBV_LIBRARY_H
#define STORM_FABRIC_IBV_LIBRARY_H

#include <infiniband/verbs.h>

#include <storm/status.h>

/* Macros of verbs.h that lead to the linked library. */
#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr

struct verbs_library {
    __typeof__(ibv_get_device_list) *get_device_list;
    __typeof__(ibv_free_device_list) *free_device_list;
    __typeof__(ibv_get_device_name) *get_device_name;
    __typeof__(ibv_open_device) *open_device;
    __typeof__(ibv_close_device) *close_device;
    __typeof__(ibv_query_device) *query_device;
    /* Writes the leading members alone: zero the rest before. */
    __typeof__(ibv_query_port) *query_port;
    __typeof__(ibv_query_gid) *query_gid;
    __typeof__(_ibv_query_gid_ex) *query_gid_ex;
    __typeof__(ibv_port_state_str) *port_state_str;
    __typeof__(ibv_wc_status_str) *wc_status_str;
    __typeof__(ibv_alloc_pd) *alloc_pd;
    __typeof__(ibv_dealloc_pd) *dealloc_pd;
    __typeof__(ibv_reg_mr) *reg_mr;
    __typeof__(ibv_dereg_mr) *dereg_mr;
    __typeof__(ibv_create_cq) *create_cq;
    __typeof__(ibv_destroy_cq) *destroy_cq;
    __typeof__(ibv_create_qp) *create_qp;
    __typeof__(ibv_modify_qp) *modify_qp;
    __typeof__(ibv_destroy_qp) *destroy_qp;
    __typeof__(ibv_create_ah) *create_ah;
    __typeof__(ibv_destroy_ah) *destroy_ah;
};

/* Loads libibverbs for the rest of the process. STORM_ERR_NOSUP and why. */
storm_status verbs_library_open(struct verbs_library *library_out,
                                char *reason_out, size_t reason_bytes);

#endif /* STORM_FABRIC_IBV_LIBRARY_H */
