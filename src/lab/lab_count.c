/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/lab_count.h"

#include <mpi.h>

#include "base/sim/sim_time.h"
#include "engine/engine_context.h"

/* What the linker makes of calls of these functions (-Wl,--wrap). */
int __real_MPI_Isend(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                     MPI_Request *);
int __wrap_MPI_Isend(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                     MPI_Request *);
int __real_MPI_Issend(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                      MPI_Request *);
int __wrap_MPI_Issend(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                      MPI_Request *);
int __real_MPI_Allreduce(const void *, void *, int, MPI_Datatype, MPI_Op,
                         MPI_Comm);
int __wrap_MPI_Allreduce(const void *, void *, int, MPI_Datatype, MPI_Op,
                         MPI_Comm);
int __real_MPI_Comm_dup(MPI_Comm, MPI_Comm *);
int __wrap_MPI_Comm_dup(MPI_Comm, MPI_Comm *);

int __wrap_MPI_Isend(const void *buffer, int n, MPI_Datatype type, int to,
                     int tag, MPI_Comm comm, MPI_Request *request)
{
    storm_sim_counts()->messages++;
    return __real_MPI_Isend(buffer, n, type, to, tag, comm, request);
}

int __wrap_MPI_Issend(const void *buffer, int n, MPI_Datatype type, int to,
                      int tag, MPI_Comm comm, MPI_Request *request)
{
    storm_sim_counts()->messages++;
    return __real_MPI_Issend(buffer, n, type, to, tag, comm, request);
}

int __wrap_MPI_Allreduce(const void *mine, void *all, int n, MPI_Datatype type,
                         MPI_Op op, MPI_Comm comm)
{
    storm_sim_counts()->collectives++;
    return __real_MPI_Allreduce(mine, all, n, type, op, comm);
}

int __wrap_MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy)
{
    storm_sim_counts()->collectives++;
    return __real_MPI_Comm_dup(comm, copy);
}

storm_status lab_count_sum(struct storm_context *context,
                           struct lab_totals *totals_out)
{
    const struct storm_sim_counts counts = *storm_sim_counts();
    uint64_t max[2] = {counts.messages, counts.collectives};
    double sum = (double)counts.messages;
    storm_status status =
        storm_context_reduce(context, max, 2, MPI_UINT64_T, MPI_MAX);
    if (status >= 0)
        status = storm_context_reduce(context, &sum, 1, MPI_DOUBLE, MPI_SUM);
    *totals_out = (struct lab_totals){
        .mean_messages = sum / storm_context_size(context),
        .max_messages = max[0],
        .max_collectives = max[1],
    };
    return status;
}
