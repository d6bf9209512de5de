/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel/channel_control.h"

storm_status storm_reduce_begin(void *inout, int n, MPI_Datatype type,
                                MPI_Op op, MPI_Comm comm,
                                MPI_Request *request_out)
{
    return MPI_Iallreduce(MPI_IN_PLACE, inout, n, type, op, comm,
                          request_out) == MPI_SUCCESS
               ? STORM_OK
               : STORM_ERR_FABRIC;
}
