/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 16; backend: p2p; timeout: 60;
 * env: OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp; label: slow-asan slow-mpich */
/* TEST ranks: 8 16 32 64; backend: shm p2p ofi-tcp; timeout: 300;
 * env: OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp; label: long */
/*
 * BOOT-2, FABRIC-14: what a rank sends to start a context and an engine, and
 * the sockets that are then open, grow as the logarithm of the number of ranks;
 * a scan sends one message per doubling. Of MPI's collectives only broadcasts,
 * allreduces and barriers are used, which MPI does in log P; they count by
 * their sockets, since MPI uses TCP here. Creating communicators is
 * left to MPI: a constant number.
 */
#include <dirent.h>
#include <unistd.h>

#include "harness.h"

/* ---- counting -------------------------------------------------------------*/

enum { MAX_RANKS = 64 };

/* Calls of this process so far. */
static struct counts {
    int sends, collectives, communicators, forbidden;
    bool partner[MAX_RANKS];
} n_calls;

#define COUNTED(_what, _name, _params, _args) \
    int MPI_##_name _params                   \
    {                                         \
        n_calls._what++;                      \
        return PMPI_##_name _args;            \
    }

#define SENT(_name, _params, _args) \
    int MPI_##_name _params         \
    {                               \
        n_calls.sends++;            \
        n_calls.partner[to] = true; \
        return PMPI_##_name _args;  \
    }

#define SENT_NOW(_name)                                                       \
    SENT(_name,                                                               \
         (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), \
         (b, n, t, to, tag, c))
#define SENT_LATER(_name)                                                    \
    SENT(_name,                                                              \
         (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, \
          MPI_Request *r),                                                   \
         (b, n, t, to, tag, c, r))

SENT_NOW(Send)
SENT_NOW(Bsend)
SENT_NOW(Rsend)
SENT_NOW(Ssend)
SENT_LATER(Isend)
SENT_LATER(Ibsend)
SENT_LATER(Irsend)
SENT_LATER(Issend)
SENT(Sendrecv,
     (const void *b, int n, MPI_Datatype t, int to, int tag, void *in, int m,
      MPI_Datatype u, int from, int of, MPI_Comm c, MPI_Status *s),
     (b, n, t, to, tag, in, m, u, from, of, c, s))
COUNTED(sends, Start, (MPI_Request * r), (r))

COUNTED(collectives, Barrier, (MPI_Comm c), (c))
COUNTED(collectives, Ibarrier, (MPI_Comm c, MPI_Request *r), (c, r))
COUNTED(collectives, Bcast,
        (void *b, int n, MPI_Datatype t, int root, MPI_Comm c),
        (b, n, t, root, c))
COUNTED(collectives, Ibcast,
        (void *b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request *r),
        (b, n, t, root, c, r))
COUNTED(collectives, Allreduce,
        (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
        (a, b, n, t, o, c))
COUNTED(collectives, Iallreduce,
        (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c,
         MPI_Request *r),
        (a, b, n, t, o, c, r))

COUNTED(communicators, Comm_dup, (MPI_Comm c, MPI_Comm *out), (c, out))
COUNTED(communicators, Comm_idup, (MPI_Comm c, MPI_Comm *out, MPI_Request *r),
        (c, out, r))
COUNTED(communicators, Comm_split, (MPI_Comm c, int k, int i, MPI_Comm *out),
        (c, k, i, out))
COUNTED(communicators, Comm_split_type,
        (MPI_Comm c, int k, int i, MPI_Info info, MPI_Comm *out),
        (c, k, i, info, out))

/* A collective, blocking and not. */
#define ALL(...) __VA_ARGS__
#define FORBIDDEN(_name, _later, _params, _args)                           \
    COUNTED(forbidden, _name, (ALL _params, MPI_Comm c), (ALL _args, c))   \
    COUNTED(forbidden, _later, (ALL _params, MPI_Comm c, MPI_Request * r), \
            (ALL _args, c, r))

/* Parameters: one piece from each rank, or one of a size of its own. */
#define PIECE const void *a, int n, MPI_Datatype t
#define PIECES const void *a, const int *n, const int *i, MPI_Datatype t
#define INTO void *b, int m, MPI_Datatype u
#define INTO_PIECES void *b, const int *m, const int *k, MPI_Datatype u

FORBIDDEN(Reduce, Ireduce,
          (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, int root),
          (a, b, n, t, o, root))
FORBIDDEN(Reduce_scatter, Ireduce_scatter,
          (const void *a, void *b, const int *n, MPI_Datatype t, MPI_Op o),
          (a, b, n, t, o))
FORBIDDEN(Scan, Iscan,
          (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o),
          (a, b, n, t, o))
FORBIDDEN(Exscan, Iexscan,
          (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o),
          (a, b, n, t, o))
FORBIDDEN(Gather, Igather, (PIECE, INTO, int root), (a, n, t, b, m, u, root))
FORBIDDEN(Gatherv, Igatherv, (PIECE, INTO_PIECES, int root),
          (a, n, t, b, m, k, u, root))
FORBIDDEN(Scatter, Iscatter, (PIECE, INTO, int root), (a, n, t, b, m, u, root))
FORBIDDEN(Scatterv, Iscatterv, (PIECES, INTO, int root),
          (a, n, i, t, b, m, u, root))
FORBIDDEN(Allgather, Iallgather, (PIECE, INTO), (a, n, t, b, m, u))
FORBIDDEN(Allgatherv, Iallgatherv, (PIECE, INTO_PIECES), (a, n, t, b, m, k, u))
FORBIDDEN(Alltoall, Ialltoall, (PIECE, INTO), (a, n, t, b, m, u))
FORBIDDEN(Alltoallv, Ialltoallv, (PIECES, INTO_PIECES),
          (a, n, i, t, b, m, k, u))
FORBIDDEN(Alltoallw, Ialltoallw,
          (const void *a, const int *n, const int *i, const MPI_Datatype *t,
           void *b, const int *m, const int *k, const MPI_Datatype *u),
          (a, n, i, t, b, m, k, u))
FORBIDDEN(Neighbor_allgather, Ineighbor_allgather, (PIECE, INTO),
          (a, n, t, b, m, u))
FORBIDDEN(Neighbor_allgatherv, Ineighbor_allgatherv, (PIECE, INTO_PIECES),
          (a, n, t, b, m, k, u))
FORBIDDEN(Neighbor_alltoall, Ineighbor_alltoall, (PIECE, INTO),
          (a, n, t, b, m, u))
FORBIDDEN(Neighbor_alltoallv, Ineighbor_alltoallv, (PIECES, INTO_PIECES),
          (a, n, i, t, b, m, k, u))

static int open_sockets(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;
    CHECK(dir != NULL);
    for (const struct dirent *at; (at = readdir(dir)) != NULL;) {
        char path[300], target[64] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%s", at->d_name);
        if (readlink(path, target, sizeof target - 1) > 0)
            n += strncmp(target, "socket:", 7) == 0;
    }
    closedir(dir);
    return n;
}

static int doublings(int n)
{
    int k = 0;
    while (1 << k < n)
        k++;
    return k;
}

static void stay(void *self, struct storm_step *step, void *packet,
                 struct storm_outcome *outcome)
{
    (void)self, (void)step, (void)packet;
    outcome->fate = STORM_FATE_CENSUS;
}

/* ---- checking -------------------------------------------------------------*/

static size_t booked_bytes(const struct harness *h, const char *label)
{
    struct storm_memory_entry entry = STORM_MEMORY_ENTRY_INIT;
    size_t peak_bytes = 0;
    for (size_t i = 0; storm_context_memory(h->context, i, &entry) == STORM_OK;
         i++)
        if (strcmp(entry.label, label) == 0)
            peak_bytes = entry.peak_bytes;
    return peak_bytes;
}

enum { SENDS, PARTNERS, COLLECTIVES, COMMUNICATORS, SOCKETS, SCAN, N_FIGURES };

static void print_table(const struct harness *h, const int *mine)
{
    static const char *const name[N_FIGURES] = {
        "sends",         "partners", "collectives",
        "communicators", "sockets",  "sends of a scan"};
    int max[N_FIGURES], sum[N_FIGURES];
    PMPI_Reduce(mine, max, N_FIGURES, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    PMPI_Reduce(mine, sum, N_FIGURES, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int i = 0; h->rank == 0 && i < N_FIGURES; i++)
        printf("%d ranks: %s: max %d, mean %.1f\n", h->size, name[i], max[i],
               (double)sum[i] / h->size);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    struct harness h;
    struct storm_engine_params params = {
        .size = sizeof params,
        .record_bytes = 64,
        .physics = &(struct storm_physics){.size = sizeof(struct storm_physics),
                                           .step = stay}};
    int before = open_sockets();
    CHECK_OK(harness_open(&h, &params, NULL));
    struct counts start = n_calls;
    int figures[N_FIGURES] = {
        [SENDS] = start.sends,
        [COLLECTIVES] = start.collectives,
        [COMMUNICATORS] = start.communicators,
        [SOCKETS] = open_sockets() - before,
    };
    for (int i = 0; i < h.size; i++)
        figures[PARTNERS] += start.partner[i];
    uint64_t word = 1;
    CHECK_OK(storm_context_exscan(h.context, &word, 1));
    CHECK_EQ(word, h.rank);
    figures[SCAN] = n_calls.sends - start.sends;
    print_table(&h, figures);

    int d = doublings(h.size);
    const char *backend = getenv("STORM_BACKEND");
    bool is_network = backend != NULL && strcmp(backend, "ofi") == 0;
    check_where("rank %d of %d", h.rank, h.size);
    CHECK_EQ(n_calls.forbidden, 0);
    /* An agreement sends one message for each doubling. */
    CHECK(figures[SENDS] > 0 && figures[SENDS] <= 14 + 40 * d);
    CHECK(figures[PARTNERS] <= 5 + 2 * d);
    CHECK(figures[COLLECTIVES] <= 10);
    CHECK(figures[COMMUNICATORS] <= 4);
    /* One for each of 16 ranks would be more; libfabric has nine of its own. */
    CHECK(figures[SOCKETS] <= 3 * d + (is_network ? 11 : 2));
    CHECK(figures[SCAN] <= d);
    CHECK_EQ(n_calls.collectives, figures[COLLECTIVES]);
    CHECK(booked_bytes(&h, "ofi peers") <= 512);
    CHECK_EQ(booked_bytes(&h, "ofi cards"), 0);
    harness_close(&h);
    MPI_Finalize();
    return CHECK_PASS;
}
