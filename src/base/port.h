/* SPDX-License-Identifier: BSD-3-Clause */
/* What differs between compilers and machines, in one place. */
#ifndef STORM_BASE_PORT_H
#define STORM_BASE_PORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { STORM_CACHE_LINE = 64 };

#if defined(__GNUC__)
#define STORM_LIKELY(_x) __builtin_expect(!!(_x), 1)
#define STORM_UNLIKELY(_x) __builtin_expect(!!(_x), 0)
#define STORM_PREFETCH(_p) __builtin_prefetch((_p))
#define STORM_PREFETCH_WRITE(_p) __builtin_prefetch((_p), 1)
#define STORM_PRINTF(_fmt, _args) __attribute__((format(printf, _fmt, _args)))
#else
#define STORM_LIKELY(_x) (_x)
#define STORM_UNLIKELY(_x) (_x)
#define STORM_PREFETCH(_p) ((void)(_p))
#define STORM_PREFETCH_WRITE(_p) ((void)(_p))
#define STORM_PRINTF(_fmt, _args)
#endif

/* For our own bugs, never for the caller's. Compiled out of release. */
#ifdef STORM_DEBUG
#define STORM_ASSERT(_x) ((_x) ? (void)0 : abort())
#else
#define STORM_ASSERT(_x) ((void)sizeof(_x))
#endif

/* Tells the core that this is a spin loop. */
static inline void storm_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif /* STORM_BASE_PORT_H */
