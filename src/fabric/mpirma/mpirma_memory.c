/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/mpirma/mpirma_memory.h"

#include <string.h>

#include "base/port.h"

enum { SLABS_OF_A_SIZE = 8, DEFAULT_SLAB_MB = 64 };

storm_status mpirma_failed(const struct storm_env *env, const char *what,
                           int peer, int rc)
{
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length = 0;
    if (MPI_Error_string(rc, text, &length) != MPI_SUCCESS)
        text[0] = '\0';
    if (peer < 0)
        storm_log_write(&env->log, STORM_LOG_ERROR, "mpirma: %s failed: %s",
                        what, text);
    else
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "mpirma: %s to rank %d failed: %s", what, peer, text);
    return STORM_ERR_FABRIC;
}

static uint64_t line_round(uint64_t bytes)
{
    const uint64_t line = STORM_CACHE_LINE;
    return (bytes + line - 1) / line * line;
}

/* ---- arenas ---------------------------------------------------------------*/

/* Adds memory from MPI to the list, all of it free. */
static storm_status arena_add(struct mpirma_memory *m,
                              const struct mpirma_arena *given,
                              struct mpirma_arena **arena_out)
{
    struct storm_memory *book = m->env->memory;
    void *list = m->arena;
    storm_status status =
        storm_reserve(book, "mpirma arenas", sizeof(struct mpirma_arena *),
                      m->n_arenas + 1, &list, &m->arena_capacity);
    m->arena = list;
    struct mpirma_arena *arena =
        status < 0 ? NULL : storm_alloc(book, "mpirma arenas", sizeof *arena);
    if (!arena)
        return STORM_ERR_NOMEM;
    *arena = *given;
    status = storm_extents_open(&arena->extents, book, "mpirma arenas",
                                arena->bytes);
    if (status < 0) {
        storm_free(book, arena);
        return status;
    }
    m->arena[m->n_arenas++] = arena;
    m->bytes += arena->bytes;
    *arena_out = arena;
    return STORM_OK;
}

/* Removes an arena, and returns a slab to MPI. */
static void arena_drop(struct mpirma_memory *m, struct mpirma_arena *arena)
{
    if (arena->window == MPIRMA_DYNAMIC) {
        int rc = MPI_Win_detach(m->window[MPIRMA_DYNAMIC], arena->raw);
        if (rc != MPI_SUCCESS)
            (void)mpirma_failed(m->env, "detaching memory", -1, rc);
        else
            MPI_Free_mem(arena->raw);
    }
    for (size_t i = 0; i < m->n_arenas; i++)
        if (m->arena[i] == arena) {
            m->n_arenas--;
            memmove(&m->arena[i], &m->arena[i + 1],
                    (m->n_arenas - i) * sizeof(struct mpirma_arena *));
            break;
        }
    m->bytes -= arena->bytes;
    storm_extents_close(&arena->extents);
    storm_free(m->env->memory, arena);
}

/* ---- windows --------------------------------------------------------------*/

/* WINDOW-1, WINDOW-2 for a window just created. */
static storm_status window_begin(const struct storm_env *env, MPI_Win window)
{
    int *model = NULL, found = 0;
    int rc = MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    if (rc == MPI_SUCCESS)
        rc = MPI_Win_get_attr(window, MPI_WIN_MODEL, (void *)&model, &found);
    if (rc == MPI_SUCCESS && (!found || *model != MPI_WIN_UNIFIED)) {
        if (env->rank == 0)
            storm_log_write(&env->log, STORM_LOG_ERROR,
                            "mpirma: this MPI keeps a second copy of windows "
                            "(memory model separate); use --backend p2p");
        return STORM_ERR_NOSUP;
    }
    if (rc == MPI_SUCCESS)
        rc = MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    return rc == MPI_SUCCESS ? STORM_OK
                             : mpirma_failed(env, "locking a window", -1, rc);
}

/* Agrees on a window that all ranks have just made. Where only some have one it
 * cannot be freed, which is collective: it is leaked. */
static storm_status window_made(const struct storm_boot *boot, MPI_Win *window,
                                int rc)
{
    if (rc != MPI_SUCCESS)
        *window = MPI_WIN_NULL;
    storm_status status =
        storm_boot_agree(boot, rc == MPI_SUCCESS ? STORM_OK : STORM_ERR_NOMEM);
    if (status < 0)
        *window = MPI_WIN_NULL;
    return status;
}

static storm_status make_allocated(struct mpirma_memory *m,
                                   const struct storm_boot *boot,
                                   uint64_t bytes)
{
    MPI_Win *window = &m->window[MPIRMA_ALLOCATED];
    MPI_Info info = MPI_INFO_NULL;
    void *raw = NULL;
    /* Only hints: they may be missing. */
    if (MPI_Info_create(&info) == MPI_SUCCESS) {
        MPI_Info_set(info, "same_size", "true");
        MPI_Info_set(info, "same_disp_unit", "true");
    }
    int rc = MPI_Win_allocate((MPI_Aint)(bytes + STORM_CACHE_LINE), 1, info,
                              *(const MPI_Comm *)boot->mpi_comm, &raw, window);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    if (rc != MPI_SUCCESS)
        storm_log_write(&m->env->log, STORM_LOG_ERROR,
                        "mpirma: cannot create a window of %llu MiB; lower "
                        "transport.rma_window_mb",
                        (unsigned long long)(bytes >> 20));
    storm_status status = window_made(boot, window, rc);
    if (status == STORM_OK)
        status = window_begin(m->env, *window);
    if (status < 0)
        return status;
    uint64_t skip = line_round((uintptr_t)raw) - (uintptr_t)raw;
    struct mpirma_arena *arena;
    return arena_add(m,
                     &(struct mpirma_arena){
                         .window = MPIRMA_ALLOCATED,
                         .raw = raw,
                         .base = (unsigned char *)raw + skip,
                         .at = (MPI_Aint)skip,
                         .bytes = bytes,
                     },
                     &arena);
}

static storm_status make_dynamic(struct mpirma_memory *m,
                                 const struct storm_boot *boot)
{
    MPI_Win *window = &m->window[MPIRMA_DYNAMIC];
    int rc = MPI_Win_create_dynamic(MPI_INFO_NULL,
                                    *(const MPI_Comm *)boot->mpi_comm, window);
    storm_status status = window_made(boot, window, rc);
    return status == STORM_OK ? window_begin(m->env, *window) : status;
}

static void window_end(const struct storm_env *env, MPI_Win *window)
{
    if (*window == MPI_WIN_NULL)
        return;
    int rc = MPI_Win_unlock_all(*window);
    /* Collective: in any case, because the others call it. */
    int freed = MPI_Win_free(window);
    if (rc == MPI_SUCCESS)
        rc = freed;
    if (rc != MPI_SUCCESS)
        (void)mpirma_failed(env, "closing a window", -1, rc);
    *window = MPI_WIN_NULL;
}

storm_status mpirma_memory_open(struct mpirma_memory *m,
                                const struct storm_env *env,
                                const struct storm_boot *boot)
{
    uint64_t mb =
        (uint64_t)storm_options_int(env->options, "transport.rma_window_mb");
    *m = (struct mpirma_memory){
        .env = env,
        .window = {MPI_WIN_NULL, MPI_WIN_NULL},
        .slab_bytes = (mb > 0 ? mb : DEFAULT_SLAB_MB) << 20,
    };
    storm_status status = mb > 0 ? make_allocated(m, boot, mb << 20) : STORM_OK;
    status = storm_boot_agree(boot, status);
    if (status < 0)
        return status;
    status = storm_boot_agree(boot, make_dynamic(m, boot));
    if (status == STORM_OK || status == STORM_ERR_LOST)
        return status;
    /* The same decision everywhere: with one window less, or not at all. */
    window_end(env, &m->window[MPIRMA_DYNAMIC]);
    if (mb > 0)
        return STORM_OK;
    storm_log_write(&env->log, STORM_LOG_ERROR,
                    "mpirma: this MPI has no dynamic windows; set "
                    "transport.rma_window_mb");
    return STORM_ERR_NOSUP;
}

void mpirma_memory_close(struct mpirma_memory *m)
{
    while (m->n_arenas > 0)
        arena_drop(m, m->arena[m->n_arenas - 1]);
    for (int i = MPIRMA_N_WINDOWS - 1; i >= 0; i--)
        window_end(m->env, &m->window[i]);
    storm_free(m->env->memory, m->arena);
    m->arena = NULL;
}

/* ---- regions --------------------------------------------------------------*/

/* Memory for at least `need` more bytes, attached to the dynamic window. */
static storm_status add_slab(struct mpirma_memory *m, uint64_t need,
                             struct mpirma_arena **arena_out)
{
    MPI_Win window = m->window[MPIRMA_DYNAMIC];
    if (window == MPI_WIN_NULL)
        return STORM_ERR_NOMEM;
    /* Few slabs, however much there is. */
    uint64_t bytes = m->slab_bytes << (m->n_arenas / SLABS_OF_A_SIZE);
    bytes = bytes > need ? bytes : need;
    void *raw = NULL;
    MPI_Aint raw_bytes = (MPI_Aint)(bytes + STORM_CACHE_LINE);
    if (MPI_Alloc_mem(raw_bytes, MPI_INFO_NULL, &raw) != MPI_SUCCESS)
        return STORM_ERR_NOMEM;
    if (MPI_Win_attach(window, raw, raw_bytes) != MPI_SUCCESS) {
        MPI_Free_mem(raw);
        return STORM_ERR_NOMEM;
    }
    struct mpirma_arena arena = {
        .window = MPIRMA_DYNAMIC,
        .raw = raw,
        .base =
            (unsigned char *)raw + line_round((uintptr_t)raw) - (uintptr_t)raw,
        .bytes = bytes,
    };
    storm_status status = STORM_ERR_NOMEM;
    if (MPI_Get_address(arena.base, &arena.at) == MPI_SUCCESS)
        status = arena_add(m, &arena, arena_out);
    if (status < 0) {
        MPI_Win_detach(window, raw);
        MPI_Free_mem(raw);
    }
    return status;
}

storm_status mpirma_memory_carve(struct mpirma_memory *m, uint64_t bytes,
                                 storm_log_level refusal,
                                 struct mpirma_arena **arena_out,
                                 struct storm_extent *extent_out)
{
    uint64_t need = line_round(bytes > 0 ? bytes : 1);
    struct mpirma_arena *arena = NULL;
    for (size_t i = 0; i < m->n_arenas && !arena; i++)
        if (storm_extents_take(&m->arena[i]->extents, need, extent_out))
            arena = m->arena[i];
    if (!arena && (add_slab(m, need, &arena) < 0 ||
                   !storm_extents_take(&arena->extents, need, extent_out))) {
        storm_log_write(&m->env->log, refusal,
                        "mpirma: no memory for a ring of %llu bytes besides "
                        "the %llu MiB there are; raise "
                        "transport.rma_window_mb or set "
                        "transport.ring_memory_mb",
                        (unsigned long long)bytes,
                        (unsigned long long)(m->bytes >> 20));
        return STORM_ERR_NOMEM;
    }
    memset(arena->base + extent_out->offset, 0, extent_out->bytes);
    *arena_out = arena;
    return STORM_OK;
}

void mpirma_memory_return(struct mpirma_memory *m, struct mpirma_arena *arena,
                          struct storm_extent extent)
{
    storm_extents_give(&arena->extents, extent);
    if (arena->window != MPIRMA_DYNAMIC ||
        !storm_extents_unused(&arena->extents))
        return;
    /* One empty slab is kept: a ring may be growing. */
    for (size_t i = 0; i < m->n_arenas; i++)
        if (m->arena[i] != arena && m->arena[i]->window == MPIRMA_DYNAMIC &&
            storm_extents_unused(&m->arena[i]->extents)) {
            arena_drop(m, arena);
            return;
        }
}

bool mpirma_memory_has(const struct mpirma_memory *m, enum mpirma_window window)
{
    /* Slabs come behind the arena of the allocated window. */
    return m->n_arenas > 0 && (m->arena[0]->window == window ||
                               m->arena[m->n_arenas - 1]->window == window);
}
