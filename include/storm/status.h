/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/status.h
 * What every function of the library returns, and how symbols are exported.
 *
 * Zero is success, a positive value an outcome to act on, a negative value an
 * error: test `status < 0`. The function that finds the cause logs it once;
 * callers only pass the status up.
 */
#ifndef STORM_STATUS_H
#define STORM_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define STORM_API __attribute__((visibility("default")))
#define STORM_MUST_CHECK __attribute__((warn_unused_result))
#else
#define STORM_API
#define STORM_MUST_CHECK
#endif

/**
 * Structs that can grow begin with their own size. Begin with the initialiser
 * of the struct, such as STORM_CART_PARAMS_INIT, then set fields: those that
 * are left zero mean "choose for me" or are filled by the library. Programs
 * compiled with older headers work with a newer library.
 *
 * Elements of arrays have no size of their own where their parent carries it
 * (storm_problem). Packets and their ids, outcomes, exact sums, and small
 * values inside other structs or in arrays (storm_progress, storm_times,
 * storm_shape, storm_power_law, storm_curve, storm_wall, storm_imc_flow,
 * storm_trace_event) never grow once they are released. storm_power_law
 * got rho_exp before the first release: programs were to be compiled anew.
 */
#ifdef __cplusplus
extern "C++" {
template <class storm_type> inline storm_type storm_sized_init()
{
    storm_type value = storm_type();
    value.size = sizeof(storm_type);
    return value;
}
}
#define STORM_INIT(_type) storm_sized_init<_type>()
#else
#define STORM_INIT(_type)     \
    {                         \
        .size = sizeof(_type) \
    }
#endif

typedef enum storm_status {
    STORM_OK = 0,
    STORM_AGAIN = 1,       /**< not now or not here: call later, or elsewhere */
    STORM_DONE = 2,        /**< nothing left to do */
    STORM_ERR_ARG = -1,    /**< the caller broke the documented contract */
    STORM_ERR_STATE = -2,  /**< right call, wrong moment */
    STORM_ERR_NOMEM = -3,  /**< out of memory */
    STORM_ERR_NOSUP = -4,  /**< this build or this machine cannot do it */
    STORM_ERR_IO = -5,     /**< file system, input file */
    STORM_ERR_FABRIC = -6, /**< MPI or a network reported a failure */
    STORM_ERR_PEER = -7,   /**< another rank failed and has logged the cause */
    STORM_ERR_LOST = -8,   /**< a rank is lost; of MPI only MPI_Abort is safe */
    STORM_ERR_DEVICE = -9  /**< a device (GPU) failed; its packets are lost */
} storm_status;

/** The name of a status, such as "no memory". Local; never NULL. */
STORM_API const char *storm_status_name(storm_status status);

#ifdef __cplusplus
}
#endif
#endif /* STORM_STATUS_H */
