/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/sized.h"

#include <stdbool.h>
#include <string.h>

/* The size and one field: the smallest struct there can be. */
enum { SIZED_MIN = 2 * sizeof(size_t), SIZED_MAX = 1 << 16 };

static size_t sized_bytes(const void *sized)
{
    size_t bytes;
    memcpy(&bytes, sized, sizeof bytes);
    return bytes;
}

static bool sized_is_valid(size_t bytes)
{
    return bytes >= SIZED_MIN && bytes <= SIZED_MAX;
}

static bool sized_is_zero(const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

storm_status storm_sized_read_element(const struct storm_env *env,
                                      const char *what, const void *from,
                                      size_t given, void *to, size_t bytes)
{
    const char *problem = NULL;
    storm_status status = STORM_OK;
    if (!sized_is_valid(given)) { /* SIZED-3 */
        problem = "size was not set: begin with the initialiser STORM_..._INIT";
        status = STORM_ERR_ARG;
    } else if (given > bytes &&
               !sized_is_zero((const unsigned char *)from + bytes,
                              given - bytes)) { /* SIZED-2 */
        problem = "a field is set that this version of the library lacks";
        status = STORM_ERR_NOSUP;
    }
    if (status < 0) {
        if (env != NULL && env->rank == 0)
            storm_log_write(&env->log, STORM_LOG_ERROR, "%s: %s (size is %zu)",
                            what, problem, given);
        return status;
    }
    memset(to, 0, bytes);
    memcpy(to, from, given < bytes ? given : bytes); /* SIZED-1 */
    return STORM_OK;
}

storm_status storm_sized_read(const struct storm_env *env, const char *what,
                              const void *from, void *to, size_t bytes)
{
    storm_status status =
        storm_sized_read_element(env, what, from, sized_bytes(from), to, bytes);
    if (status == STORM_OK)
        memcpy(to, &bytes, sizeof bytes);
    return status;
}

storm_status storm_sized_write(const void *from, size_t bytes, void *to)
{
    size_t given = sized_bytes(to);
    if (!sized_is_valid(given))
        return STORM_ERR_ARG;
    memcpy(to, from, given < bytes ? given : bytes); /* SIZED-1 */
    if (given > bytes)
        memset((unsigned char *)to + bytes, 0, given - bytes);
    memcpy(to, &given, sizeof given);
    return STORM_OK;
}
