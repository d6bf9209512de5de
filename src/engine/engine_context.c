/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/engine_context.h"

#include <storm/info.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/idle.h"
#include "base/lifeline.h"
#include "base/sized.h"
#include "channel/channel_control.h"
#include "device/device.h"

static storm_status copy_options(const struct storm_options *from,
                                 struct storm_options **to_out)
{
    storm_status status = storm_options_create(to_out);
    const struct storm_option *row;
    for (size_t i = 0; status == STORM_OK && (row = storm_option_at(i)); i++)
        if (storm_options_is_set(from, row->key))
            status =
                storm_options_set(*to_out, row->key,
                                  storm_options_text(from, row->key), NULL, 0);
    return status;
}

static storm_status make_options(struct storm_context *context,
                                 const struct storm_options *given)
{
    if (given)
        return copy_options(given, &context->options);
    storm_status status = storm_options_create(&context->options);
    char problem[256] = "";
    if (status == STORM_OK)
        status = storm_options_set_from_env(context->options, problem,
                                            sizeof problem);
    /* The environment is the same everywhere: one rank logs it. */
    if (status < 0 && problem[0] && context->env.rank == 0)
        storm_log_write(&context->env.log, STORM_LOG_ERROR, "%s", problem);
    return status;
}

/* Ranks of this node, or of the part of it that transport.ranks_per_node treats
 * as one. */
static MPI_Comm make_node(struct storm_context *context)
{
    int per_node =
        (int)storm_options_int(context->options, "transport.ranks_per_node");
    int n = 0, rank = 0;
    MPI_Comm machine, node;
    MPI_Comm_split_type(context->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &machine);
    MPI_Comm_size(machine, &n);
    MPI_Comm_rank(machine, &rank);
    uint64_t cores[STORM_IDLE_WORDS]; /* of all ranks: each may be bound */
    storm_idle_affinity(cores);
    MPI_Allreduce(MPI_IN_PLACE, cores, STORM_IDLE_WORDS, MPI_UINT64_T, MPI_BOR,
                  machine);
    context->env.crowded = n > storm_idle_cores(cores);
    if (per_node == 0)
        return machine;
    MPI_Comm_split(machine, rank / per_node, rank, &node);
    MPI_Comm_free(&machine);
    return node;
}

/* Fills node_rank and near_out, the ranks of this node: MPI knows who is where,
 * nobody needs to be asked. */
static storm_status fill_node_ranks(struct storm_context *context,
                                    int **near_out)
{
    size_t size = (size_t)context->env.size;
    int *near = malloc((size_t)context->node_boot.size * sizeof *near);
    *near_out = near;
    context->node_rank = malloc(size * sizeof *context->node_rank);
    if (!context->node_rank || !near)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < size; i++)
        context->node_rank[i] = -1;
    MPI_Group all, node;
    MPI_Comm_group(context->comm, &all);
    MPI_Comm_group(*(const MPI_Comm *)context->node_boot.mpi_comm, &node);
    for (int i = 0; i < context->node_boot.size; i++) {
        int rank = 0;
        MPI_Group_translate_ranks(node, 1, &i, all, &rank);
        context->node_rank[rank] = i;
        near[i] = rank;
    }
    MPI_Group_free(&node);
    MPI_Group_free(&all);
    return STORM_OK;
}

/* Sums over all ranks; far_out[k] is the leader of node k. Four bytes a node,
 * for a moment: which rank leads a node is known to its own ranks alone. */
static storm_status find_leaders(struct storm_context *context,
                                 struct storm_tree_place *place, int **far_out)
{
    bool leads = place->i_near == 0;
    uint64_t before = leads;
    storm_status status = storm_boot_exscan(&context->boot, &before, 1);
    place->n_far = leads;
    if (status == STORM_OK)
        status =
            storm_context_reduce(context, &place->n_far, 1, MPI_INT, MPI_SUM);
    if (status < 0)
        return status;
    place->i_far = (int)before;
    int *far = calloc((size_t)place->n_far, sizeof *far);
    *far_out = far;
    status = storm_boot_agree(&context->boot, far ? STORM_OK : STORM_ERR_NOMEM);
    if (status < 0)
        return status;
    if (leads)
        far[before] = context->env.rank;
    return storm_context_reduce(context, far, place->n_far, MPI_INT, MPI_MAX);
}

static storm_status find_tree(struct storm_context *context, const int *near)
{
    int *far = NULL;
    struct storm_tree_place place = {.i_near = context->node_boot.rank,
                                     .n_near = context->node_boot.size,
                                     .near = near};
    storm_status status = find_leaders(context, &place, &far);
    place.far = far;
    if (status == STORM_OK)
        context->tree = storm_tree_at(&place);
    free(far);
    return status;
}

static storm_status find_nodes(struct storm_context *context)
{
    MPI_Comm node = make_node(context);
    storm_status status = storm_boot_mpi_open(node, &context->node_boot);
    MPI_Comm_free(&node);
    int lowest = 0;
    storm_boot_mpi_awake(&context->boot, !context->env.crowded);
    status = storm_boot_agree(&context->boot, status);
    if (status == STORM_OK)
        status = context->boot.minimum(context->boot.self,
                                       context->node_boot.size, &lowest);
    context->env.one_node = lowest == context->env.size;
    int *near = NULL;
    if (status == STORM_OK)
        status = fill_node_ranks(context, &near);
    status = storm_boot_agree(&context->boot, status);
    if (status == STORM_OK)
        status = find_tree(context, near);
    free(near);
    return status;
}

/* Collective waits end when a rank is lost. */
static storm_status watch(struct storm_context *context,
                          struct storm_lifeline_call call)
{
    if (!storm_options_bool(context->options, "transport.lifeline"))
        return STORM_OK;
    struct storm_lifeline_params params = {
        .silence_s =
            (int)storm_options_int(context->options, "transport.silence_s"),
        .interface =
            storm_options_text(context->options, "transport.interface"),
        .call = call,
    };
    storm_status status = storm_lifeline_open(&context->env.log, &context->boot,
                                              &params, &context->env.lifeline);
    storm_boot_mpi_watch(&context->boot, context->env.lifeline);
    storm_boot_mpi_watch(&context->node_boot, context->env.lifeline);
    return status;
}

/* The device of this rank, which shares those of its node with the others. */
static storm_status open_device(struct storm_context *context)
{
    struct storm_build build = STORM_BUILD_INIT;
    storm_status status = storm_build_info(&build);
    struct storm_device_params params = {
        .kind = storm_options_text(context->options, "transport.device"),
        .memory_max = (size_t)storm_options_int(context->options,
                                                "transport.device_memory_mb")
                      << 20,
        .node_rank = context->node_boot.rank,
        .node_ranks = context->node_boot.size,
        .has_ptx = build.ptx && build.ptx[0],
    };
    if (status == STORM_OK)
        status =
            storm_device_open(&context->env, &params, &context->env.device);
    return storm_boot_agree(&context->boot, status);
}

static void context_free(struct storm_context *context)
{
    bool lost = storm_lifeline_check(context->env.lifeline) < 0;
    storm_device_close(context->env.device);
    if (context->env.memory) {
        size_t left = storm_memory_destroy(context->env.memory);
        if (left > 0 && !lost)
            storm_log_write(
                &context->env.log, STORM_LOG_WARN,
                "%zu bytes were not freed: destroy all objects of a "
                "context before it",
                left);
    }
    storm_options_destroy(context->options);
    free(context->node_rank);
    if (context->node_boot.self)
        storm_boot_mpi_close(&context->node_boot);
    if (context->boot.self)
        storm_boot_mpi_close(&context->boot);
    if (context->comm != MPI_COMM_NULL && !lost)
        MPI_Comm_free(&context->comm);
    storm_lifeline_close(context->env.lifeline);
    free(context);
}

storm_status storm_context_create(MPI_Comm comm,
                                  const struct storm_context_params *params,
                                  struct storm_context **context_out)
{
    struct storm_context_params own = STORM_CONTEXT_PARAMS_INIT;
    struct storm_context *context = calloc(1, sizeof *context);
    storm_status status = context ? STORM_OK : STORM_ERR_NOMEM;
    if (status == STORM_OK && params)
        status = storm_sized_read(NULL, "storm_context_create", params, &own,
                                  sizeof own);
    int mine = status, worst = 0;
    MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MIN, comm);
    if (worst < 0) {
        free(context);
        return mine < 0 ? status : STORM_ERR_PEER;
    }
    params = &own;
    MPI_Comm_dup(comm, &context->comm);
    /* Failures are ours to report; duplicates of this one inherit that. */
    MPI_Comm_set_errhandler(context->comm, MPI_ERRORS_RETURN);
    status = storm_boot_mpi_open(context->comm, &context->boot);
    if (status < 0)
        goto out;
    context->env.rank = context->boot.rank;
    context->env.size = context->boot.size;
    context->env.boot = &context->boot;
    context->env.log = (struct storm_log){
        .sink = params->log ? params->log : storm_log_to_stderr,
        .self = params->log_self,
        .level = params->log_level ? params->log_level : STORM_LOG_WARN,
        .rank = context->env.rank,
        .n_errors = &context->n_errors,
    };
    status = storm_memory_create(&context->env.memory);
    if (status == STORM_OK)
        status = make_options(context, params->options);
    context->env.options = context->options;
    status = storm_boot_agree(&context->boot, status);
    if (status == STORM_OK)
        status = find_nodes(context);
    if (status == STORM_OK)
        status = watch(context, (struct storm_lifeline_call){
                                    params->lost, params->lost_self});
    if (status == STORM_OK)
        status = open_device(context);
out:
    if (status < 0) {
        context_free(context);
        return status;
    }
    *context_out = context;
    return STORM_OK;
}

storm_status storm_context_create_f(MPI_Fint comm,
                                    const struct storm_context_params *params,
                                    struct storm_context **context_out)
{
    return storm_context_create(MPI_Comm_f2c(comm), params, context_out);
}

void storm_context_destroy(struct storm_context *context)
{
    if (context)
        context_free(context);
}

const struct storm_env *storm_context_env(const struct storm_context *context)
{
    return &context->env;
}

int storm_context_rank(const struct storm_context *context)
{
    return context->env.rank;
}

int storm_context_size(const struct storm_context *context)
{
    return context->env.size;
}

const struct storm_options *
storm_context_options(const struct storm_context *context)
{
    return context->options;
}

MPI_Comm storm_context_comm(const struct storm_context *context)
{
    return context->comm;
}

void storm_context_log(const struct storm_context *context,
                       storm_log_level level, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    storm_log_write(&context->env.log, level, "%s", text);
}

storm_status storm_context_memory(const struct storm_context *context, size_t i,
                                  struct storm_memory_entry *entry_out)
{
    struct storm_memory_entry entry = STORM_MEMORY_ENTRY_INIT;
    storm_status status =
        storm_memory_entry_at(context->env.memory, i, &entry.label,
                              &entry.bytes, &entry.peak_bytes);
    return status == STORM_OK
               ? storm_sized_write(&entry, sizeof entry, entry_out)
               : status;
}

storm_status storm_context_agree(const struct storm_context *context,
                                 storm_status mine)
{
    return storm_boot_agree(&context->boot,
                            storm_env_explain(&context->env, mine));
}

storm_status storm_context_wait(const struct storm_context *context,
                                MPI_Request *request)
{
    return storm_boot_mpi_wait(&context->boot, request);
}

/* If a rank is lost a collective never completes, and MPI keeps its buffer:
 * hence a copy. Without memory for one the caller's is used, because the others
 * would wait for ever for a rank that does not join. */
static void *reduce_copy(void *inout, size_t bytes)
{
    void *copy = malloc(bytes > 0 ? bytes : 1);
    return copy ? memcpy(copy, inout, bytes) : inout;
}

/* MPICH 4.0 takes unsigned numbers for signed ones in MPI_MIN and MPI_MAX. With
 * their first bit flipped, signed ones have the order of unsigned ones: the
 * type for that, or `type` if it is not needed. */
static MPI_Datatype reduce_type(MPI_Datatype type, MPI_Op op)
{
    const struct {
        MPI_Datatype without_sign, with_sign;
    } pairs[] = {
        {MPI_UINT64_T, MPI_INT64_T},
        {MPI_UNSIGNED_LONG, MPI_LONG},
        {MPI_UNSIGNED_LONG_LONG, MPI_LONG_LONG},
        {MPI_UINT32_T, MPI_INT32_T},
        {MPI_UNSIGNED, MPI_INT},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (type == pairs[i].without_sign && (op == MPI_MIN || op == MPI_MAX))
            return pairs[i].with_sign;
    return type;
}

/* Flips the first bit of each of n numbers of `each` bytes, 4 or 8. */
static void reduce_flip(void *numbers, int n, int each)
{
    for (int i = 0; i < n; i++)
        if (each == 8)
            ((uint64_t *)numbers)[i] ^= UINT64_C(1) << 63;
        else
            ((uint32_t *)numbers)[i] ^= UINT32_C(1) << 31;
}

storm_status storm_context_reduce(const struct storm_context *context,
                                  void *inout, int n, MPI_Datatype type,
                                  MPI_Op op)
{
    MPI_Request request;
    MPI_Datatype sent = reduce_type(type, op);
    int each = 0;
    MPI_Type_size(type, &each);
    size_t bytes = (size_t)n * (size_t)each;
    void *copy = reduce_copy(inout, bytes);
    if (sent != type)
        reduce_flip(copy, n, each);
    storm_status status =
        storm_reduce_begin(copy, n, sent, op, context->comm, &request);
    if (status == STORM_OK)
        status = storm_context_wait(context, &request);
    if (status == STORM_ERR_LOST)
        return status;
    if (sent != type)
        reduce_flip(copy, n, each);
    if (copy != inout) {
        memcpy(inout, copy, bytes);
        free(copy);
    }
    return status;
}

storm_status storm_context_exscan(const struct storm_context *context,
                                  uint64_t *inout, int n)
{
    return storm_boot_exscan(&context->boot, inout, (size_t)n);
}
