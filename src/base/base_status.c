/* SPDX-License-Identifier: BSD-3-Clause */
#include <storm/status.h>

const char *storm_status_name(storm_status status)
{
    switch (status) {
    case STORM_OK:
        return "ok";
    case STORM_AGAIN:
        return "try again";
    case STORM_DONE:
        return "done";
    case STORM_ERR_ARG:
        return "bad argument";
    case STORM_ERR_STATE:
        return "wrong moment";
    case STORM_ERR_NOMEM:
        return "no memory";
    case STORM_ERR_NOSUP:
        return "not supported";
    case STORM_ERR_IO:
        return "input or output failed";
    case STORM_ERR_FABRIC:
        return "network failed";
    case STORM_ERR_PEER:
        return "another rank failed";
    case STORM_ERR_LOST:
        return "a rank was lost";
    case STORM_ERR_DEVICE:
        return "a device failed";
    }
    return "unknown status"; /* a number that is none of them */
}
