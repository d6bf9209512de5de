/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/forks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/check.h"

struct forks {
    int size;
    pthread_barrier_t barrier;
    unsigned char message[FORKS_MAX][FORKS_MAX]
                         [STORM_BOOT_BYTES]; /* from, to */
    int number[FORKS_MAX];
};

static struct forks *forks_of(void *self)
{
    return ((struct forks_rank *)self)->forks;
}

static int rank_of(void *self)
{
    return ((struct forks_rank *)self)->rank;
}

static storm_status boot_broadcast(void *self, void *inout, size_t bytes)
{
    struct forks *f = forks_of(self);
    CHECK(bytes <= STORM_BOOT_BYTES);
    if (rank_of(self) == 0)
        memcpy(f->message[0][0], inout, bytes);
    pthread_barrier_wait(&f->barrier);
    memcpy(inout, f->message[0][0], bytes);
    pthread_barrier_wait(&f->barrier);
    return STORM_OK;
}

static storm_status boot_exchange(void *self,
                                  const struct storm_boot_link *link,
                                  int n_links, size_t bytes)
{
    struct forks *f = forks_of(self);
    CHECK(bytes <= STORM_BOOT_BYTES);
    for (int i = 0; i < n_links; i++)
        if (link[i].to >= 0)
            memcpy(f->message[rank_of(self)][link[i].to], link[i].mine, bytes);
    pthread_barrier_wait(&f->barrier);
    for (int i = 0; i < n_links; i++)
        if (link[i].from >= 0)
            memcpy(link[i].theirs_out, f->message[link[i].from][rank_of(self)],
                   bytes);
    pthread_barrier_wait(&f->barrier);
    return STORM_OK;
}

static storm_status boot_minimum(void *self, int mine, int *min_out)
{
    struct forks *f = forks_of(self);
    f->number[rank_of(self)] = mine;
    pthread_barrier_wait(&f->barrier);
    *min_out = mine;
    for (int i = 0; i < f->size; i++)
        if (f->number[i] < *min_out)
            *min_out = f->number[i];
    pthread_barrier_wait(&f->barrier);
    return STORM_OK;
}

static storm_status boot_barrier_try(void *self)
{
    pthread_barrier_wait(&forks_of(self)->barrier);
    return STORM_OK;
}

struct storm_boot forks_boot(struct forks_rank *rank)
{
    return (struct storm_boot){.self = rank,
                               .rank = rank->rank,
                               .size = rank->forks->size,
                               .broadcast = boot_broadcast,
                               .exchange = boot_exchange,
                               .minimum = boot_minimum,
                               .barrier_try = boot_barrier_try};
}

void forks_start(int size, void (*body)(void *self, int rank), void *self,
                 pid_t child_out[FORKS_MAX])
{
    fflush(NULL); /* or each child would print it again */
    for (int i = 0; i < size; i++) {
        child_out[i] = fork();
        CHECK(child_out[i] >= 0);
        if (child_out[i] == 0) {
            body(self, i);
            abort();
        }
    }
}

void *forks_share(size_t bytes)
{
    void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    return shared;
}

struct forks *forks_make(int size)
{
    struct forks *f = forks_share(sizeof *f);
    pthread_barrierattr_t attributes;
    CHECK(size <= FORKS_MAX);
    f->size = size;
    CHECK_EQ(pthread_barrierattr_init(&attributes), 0);
    CHECK_EQ(pthread_barrierattr_setpshared(&attributes,
                                            PTHREAD_PROCESS_SHARED),
             0);
    CHECK_EQ(pthread_barrier_init(&f->barrier, &attributes, (unsigned)size), 0);
    return f;
}

void forks_free(struct forks *forks)
{
    munmap(forks, sizeof *forks);
}
