/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/grow.h"

#include <stdint.h>
#include <stdlib.h>

bool storm_grow(void **array_inout, size_t *capacity_inout, size_t n,
                size_t element_bytes)
{
    enum { FIRST = 1024 };
    size_t wanted = *capacity_inout > 0 ? 2 * *capacity_inout : FIRST;
    if (n <= *capacity_inout)
        return true;
    wanted = wanted > n ? wanted : n;
    void *larger = wanted <= SIZE_MAX / element_bytes
                       ? realloc(*array_inout, wanted * element_bytes)
                       : NULL;
    if (larger == NULL)
        return false;
    *array_inout = larger;
    *capacity_inout = wanted;
    return true;
}
