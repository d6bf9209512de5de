/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMPI's non-blocking reductions give wrong results in place, and cost the
 * square of the number of ranks: here they block and have a copy.
 */
#include <stdlib.h>
#include <string.h>

#include "channel/channel_control.h"

storm_status storm_reduce_begin(void *inout, int n, MPI_Datatype type,
                                MPI_Op op, MPI_Comm comm,
                                MPI_Request *request_out)
{
    int each = 0;
    MPI_Type_size(type, &each);
    size_t bytes = (size_t)n * (size_t)each;
    void *copy = malloc(bytes > 0 ? bytes : 1);
    if (!copy)
        return STORM_ERR_NOMEM;
    memcpy(copy, inout, bytes);
    int rc = MPI_Allreduce(copy, inout, n, type, op, comm);
    free(copy);
    *request_out = MPI_REQUEST_NULL;
    return rc == MPI_SUCCESS ? STORM_OK : STORM_ERR_FABRIC;
}
