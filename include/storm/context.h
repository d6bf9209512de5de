/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/context.h
 * The ranks that work together, their options, log and memory book.
 *
 * Lifecycle  MPI_Init, create, engines and meshes, destroy, MPI_Finalize.
 *            Several contexts may live in one process.
 * Ownership  the communicator and the options are duplicated; everything
 *            created from a context must be destroyed before it.
 * Threads    one thread at a time per context.
 */
#ifndef STORM_CONTEXT_H
#define STORM_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
/* The C++ bindings of MPI are no part of MPI-3, and a library of their own: the
 * program would not link with that of C alone. */
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#endif
#include <mpi.h>

#include <storm/log.h>
#include <storm/options.h>
#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_context; /* opaque */

/** Zero in a field means "choose for me". Copied by create. */
struct storm_context_params {
    size_t size; /**< of this struct: STORM_CONTEXT_PARAMS_INIT */
    const struct storm_options *options; /**< NULL: defaults + environment */
    storm_log_fn log;                    /**< NULL: standard error */
    void *log_self;
    storm_log_level log_level; /**< highest level that is logged; 0 means
                                    errors and warnings */
    /** Called when a rank is lost, at once and by a thread of the library,
     *  whatever this rank is doing; NULL: no call. `reason` is a text without a
     *  full stop, lent for the call. At most once; it must call
     *  neither the library nor MPI. Functions of the library return
     *  STORM_ERR_LOST afterwards, but a call of MPI or of a network library may
     *  never return: end the process here. */
    void (*lost)(void *self, int rank, const char *reason);
    void *lost_self;
};
#define STORM_CONTEXT_PARAMS_INIT STORM_INIT(struct storm_context_params)

/**
 * Build a context over the ranks of @p comm.
 *
 * Collective: same params on every rank; an error of one is an error of all.
 *
 * @param params      NULL for all defaults
 * @param[out] context_out  set only on STORM_OK; free with destroy
 * @retval STORM_ERR_ARG    an option in the environment is wrong (logged), or
 *                          the params were not initialised
 * @retval STORM_ERR_NOSUP  params have fields set that this library lacks
 * @retval STORM_ERR_NOMEM  on this rank
 * @retval STORM_ERR_PEER   only other ranks have an error
 * @retval STORM_ERR_FABRIC MPI failed
 * @retval STORM_ERR_LOST   a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_context_create(MPI_Comm comm, const struct storm_context_params *params,
                     struct storm_context **context_out);

/** The same for a communicator of Fortran; same statuses. */
STORM_API STORM_MUST_CHECK storm_status
storm_context_create_f(MPI_Fint comm, const struct storm_context_params *params,
                       struct storm_context **context_out);

/** Release. Collective. NULL is allowed. Memory still booked is logged. */
STORM_API void storm_context_destroy(struct storm_context *context);

/** Local, never blocks. */
STORM_API int storm_context_rank(const struct storm_context *context);
STORM_API int storm_context_size(const struct storm_context *context);
STORM_API const struct storm_options *
storm_context_options(const struct storm_context *context);
/** The context's own communicator; borrowed, for the caller's collectives. */
STORM_API MPI_Comm storm_context_comm(const struct storm_context *context);

/** Log a line of the application. Local. */
STORM_API void storm_context_log(const struct storm_context *context,
                                 storm_log_level level, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/** One label of the memory book. */
struct storm_memory_entry {
    size_t size; /**< of this struct: STORM_MEMORY_ENTRY_INIT */
    const char *label;
    size_t bytes;      /**< now */
    size_t peak_bytes; /**< highest so far */
};
#define STORM_MEMORY_ENTRY_INIT STORM_INIT(struct storm_memory_entry)

/** The i-th label of this rank's memory book. Local.
 *  @retval STORM_DONE     there are no more
 *  @retval STORM_ERR_ARG  @p entry_out does not begin with
 *                         STORM_MEMORY_ENTRY_INIT */
STORM_API STORM_MUST_CHECK storm_status
storm_context_memory(const struct storm_context *context, size_t i,
                     struct storm_memory_entry *entry_out);

/**
 * Agree on the worst status of all ranks. Collective, blocks.
 *
 * @return @p mine if it is an error, or if no rank has one
 * @retval STORM_ERR_PEER    only other ranks have an error
 * @retval STORM_ERR_LOST    a rank is lost (logged)
 * @retval STORM_ERR_FABRIC  MPI failed
 */
STORM_API STORM_MUST_CHECK storm_status
storm_context_agree(const struct storm_context *context, storm_status mine);

/**
 * Wait for an MPI request, yielding the core, until it is complete or a rank is
 * lost: use it with MPI's non-blocking collectives, which would otherwise wait
 * for a lost rank for ever. Blocks.
 *
 * @retval STORM_ERR_FABRIC  MPI reports an error
 * @retval STORM_ERR_LOST    a rank is lost (logged); the request is not
 *                           complete, and its buffers belong to MPI until
 *                           MPI_Abort
 */
STORM_API STORM_MUST_CHECK storm_status
storm_context_wait(const struct storm_context *context, MPI_Request *request);

/** Like MPI_Allreduce in place, but waits and returns as storm_context_wait.
 *  Collective, blocks. */
STORM_API STORM_MUST_CHECK storm_status
storm_context_reduce(const struct storm_context *context, void *inout, int n,
                     MPI_Datatype type, MPI_Op op);

/** Exclusive prefix sums over ranks, in place: zeros on rank 0. Like MPI_Exscan
 *  but waits and returns as storm_context_wait. Collective, blocks. */
STORM_API STORM_MUST_CHECK storm_status
storm_context_exscan(const struct storm_context *context, uint64_t *inout,
                     int n);

#ifdef __cplusplus
}
#endif
#endif /* STORM_CONTEXT_H */
