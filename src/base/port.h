/* SPDX-License-Identifier: BSD-3-Clause */
/* What differs between compilers and machines, in one place. */
#ifndef STORM_BASE_PORT_H
#define STORM_BASE_PORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ThreadSanitizer cannot see stores around the cache. */
#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
#define STORM_HAVE_STREAM 1
#include <emmintrin.h>
#endif
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef STORM_HAVE_STREAM
#endif
#endif

enum { STORM_CACHE_LINE = 64 };

/* What differs on a GPU. Between BEGIN and END all functions are inlined there:
 * then a packet stays in registers. STORM_RARE: elsewhere not. */
#if defined(__NVPTX__)
#define STORM_ON_GPU(_gpu, _other) _gpu
#define STORM_RARE
#define STORM_GPU_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define STORM_GPU_INLINE_BEGIN                                            \
    STORM_GPU_PRAGMA(clang attribute push(__attribute__((always_inline)), \
                                          apply_to = function))
#define STORM_GPU_INLINE_END _Pragma("clang attribute pop")
#else
#define STORM_ON_GPU(_gpu, _other) _other
#define STORM_GPU_INLINE_BEGIN
#define STORM_GPU_INLINE_END
#if defined(__GNUC__)
#define STORM_RARE __attribute__((noinline))
#else
#define STORM_RARE
#endif
#endif

#if defined(__GNUC__)
#define STORM_LIKELY(_x) __builtin_expect(!!(_x), 1)
#define STORM_UNLIKELY(_x) __builtin_expect(!!(_x), 0)
#define STORM_PREFETCH(_p) STORM_ON_GPU((void)(_p), __builtin_prefetch((_p)))
#define STORM_PREFETCH_WRITE(_p) \
    STORM_ON_GPU((void)(_p), __builtin_prefetch((_p), 1))
#define STORM_PRINTF(_fmt, _args) __attribute__((format(printf, _fmt, _args)))
#define STORM_PRIVATE __attribute__((visibility("default")))
#define STORM_APART __attribute__((noinline))
#else
#define STORM_LIKELY(_x) (_x)
#define STORM_UNLIKELY(_x) (_x)
#define STORM_PREFETCH(_p) ((void)(_p))
#define STORM_PREFETCH_WRITE(_p) ((void)(_p))
#define STORM_PRINTF(_fmt, _args)
#define STORM_PRIVATE
#define STORM_APART
#endif
/* STORM_PRIVATE: libstorm_run uses it too; src/storm.map lists these. */

/* For our own bugs, never for the caller's. Compiled out of release. */
#ifdef STORM_DEBUG
#define STORM_ASSERT(_x) ((_x) ? (void)0 : abort())
#else
#define STORM_ASSERT(_x) ((void)sizeof(_x))
#endif

/* Files *_avx2.c and *_avx512.c are in the build if the compiler can make them:
 * the first of the two, else the second. */
#ifdef STORM_AVX2_FILES
#define STORM_IF_AVX2(_with, _without) (_with)
#else
#define STORM_IF_AVX2(_with, _without) (_without)
#endif
#ifdef STORM_AVX512_FILES
#define STORM_IF_AVX512(_with, _without) (_with)
#else
#define STORM_IF_AVX512(_with, _without) (_without)
#endif

/* May they run here? */
static inline int storm_cpu_has_avx512(void)
{
#ifdef STORM_AVX512_FILES
    return __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#else
    return 0;
#endif
}

static inline int storm_cpu_has_avx2(void)
{
#ifdef STORM_AVX2_FILES
    return __builtin_cpu_supports("avx2") != 0;
#else
    return 0;
#endif
}

/*
 * A kernel for devices (device/device.h): thread i of a launch does
 * _thread(args, i). On a GPU the build makes this function one that can be
 * launched; on the emulated device it is a storm_device_fn.
 */
#if defined(__NVPTX__)
#define STORM_KERNEL(_name, _args, _thread)                               \
    void _name(struct _args args, uint64_t n_threads);                    \
    void _name(struct _args args, uint64_t n_threads)                     \
    {                                                                     \
        uint64_t i = (uint64_t)(uint32_t)__nvvm_read_ptx_sreg_ctaid_x() * \
                         (uint32_t)__nvvm_read_ptx_sreg_ntid_x() +        \
                     (uint32_t)__nvvm_read_ptx_sreg_tid_x();              \
        if (i < n_threads)                                                \
            _thread(&args, i);                                            \
    }
#else
#define STORM_KERNEL(_name, _args, _thread)   \
    void _name(const void *args, uint64_t i); \
    void _name(const void *args, uint64_t i)  \
    {                                         \
        const struct _args *own = args;       \
        _thread(own, i);                      \
    }
#endif

/* The number of these bits. */
static inline float storm_port_float(uint32_t bits)
{
    float x = 0.0f;
#if defined(__NVPTX__) /* from memory clang would fetch it */
    x = __nvvm_bitcast_i2f((int)bits);
#else
    memcpy(&x, &bits, sizeof x);
#endif
    return x;
}

/* Components of vectors by number. What is in registers has no address: a
 * thread of a GPU chooses among them. */
static inline double storm_port_get(const double v[3], int d)
{
#if defined(__NVPTX__) /* all are read: else clang chooses an address */
    const double x = v[0], y = v[1], z = v[2];
    return d == 0 ? x : d == 1 ? y : z;
#else
    return v[d];
#endif
}

static inline void storm_port_set(double v[3], int d, double x)
{
    STORM_ON_GPU((v[0] = d == 0 ? x : v[0], v[1] = d == 1 ? x : v[1],
                  v[2] = d == 2 ? x : v[2]),
                 v[d] = x);
}

/* The same of what is in registers by direction: the statement is executed with
 * _d equal to _axis. */
#if defined(__NVPTX__)
#define STORM_AT_AXIS(_d, _axis)        \
    for (uint32_t _d = 0; _d < 3; _d++) \
        if (_d == (_axis))
#else
#define STORM_AT_AXIS(_d, _axis) \
    for (uint32_t _d = (_axis), _d##_more = 1; _d##_more > 0; _d##_more--)
#endif

/* Adds to a number that threads of a kernel share; what it was before. Relaxed:
 * pairs with nothing, DEVICE-2. */
static inline uint64_t storm_thread_add(void *number, uint64_t term)
{
#if defined(__NVPTX__)
    return (uint64_t)__nvvm_atom_add_gen_ll((long long *)number,
                                            (long long)term);
#else
    return __atomic_fetch_add((uint64_t __attribute__((may_alias)) *)number,
                              term, __ATOMIC_RELAXED);
#endif
}

/* Raises such a number. */
static inline void storm_thread_max(void *number, uint64_t x)
{
#if defined(__NVPTX__)
    (void)__nvvm_atom_max_gen_ull((unsigned long long *)number, x);
#else
    uint64_t __attribute__((may_alias)) *at = number;
    uint64_t old = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (old < x &&
           !__atomic_compare_exchange_n(at, &old, x, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
        continue;
#endif
}

/* A hint to the core: this is a spin loop. */
static inline void storm_pause(void)
{
#if defined(__x86_64__) && !defined(__NVPTX__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#ifdef STORM_HAVE_STREAM
static inline void storm_stream_line(__m128i to[4], const __m128i from[4])
{
    _mm_stream_si128(to, _mm_load_si128(from));
    _mm_stream_si128(to + 1, _mm_load_si128(from + 1));
    _mm_stream_si128(to + 2, _mm_load_si128(from + 2));
    _mm_stream_si128(to + 3, _mm_load_si128(from + 3));
}
#endif

/*
 * Copies to memory that another core will read and that its cache may hold:
 * around our own cache, which saves fetching the line from over there first.
 * Both ends aligned to 16 bytes, bytes a multiple of 16. storm_stream_fence
 * orders these stores before all later ones; a release store alone does not.
 */
static inline void storm_stream_copy(void *to, const void *from, size_t bytes)
{
#ifdef STORM_HAVE_STREAM
    __m128i *t = to;
    const __m128i *f = from;
    if (STORM_LIKELY(bytes == 128)) {
        storm_stream_line(t, f);
        storm_stream_line(t + 4, f + 4);
        return;
    }
    for (; bytes > 0; bytes -= 16)
        _mm_stream_si128(t++, _mm_load_si128(f++));
#else
    memcpy(to, from, bytes);
#endif
}

static inline void storm_stream_fence(void)
{
#ifdef STORM_HAVE_STREAM
    _mm_sfence();
#endif
}

#endif /* STORM_BASE_PORT_H */
