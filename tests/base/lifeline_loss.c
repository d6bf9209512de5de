/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 60 */
/*
 * LIFE-1, LIFE-2: a process that is killed, or ends without closing, is noticed
 * by all others, wherever in the tree they are, at once and by its number; one
 * that closes does not count as lost. Ranks are children of this program,
 * without MPI.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/lifeline.h"
#include "support/check.h"

enum { MAX_RANKS = 8, CARD_BYTES = 64, NO_RANK = -1 };

/* At once is some milliseconds; a busy machine may take its time. */
static const double timeout_s = 5.0;
static const double quiet_s = 0.3;

typedef enum end { KILLED, FELL_SILENT, TOOK_LEAVE } end;

struct report {
    _Atomic int called;   /* times the thread has called */
    _Atomic int lost;     /* whom it named */
    _Atomic int errors;   /* lines in the log */
    _Atomic int named;    /* whom they name */
    _Atomic int is_ready; /* it is watching */
    _Atomic int may_end;  /* the victim is to go; others: stop waiting */
};

/* What all processes see. */
struct shared {
    pthread_barrier_t barrier;
    unsigned char cards[MAX_RANKS][MAX_RANKS][CARD_BYTES]; /* from, to */
    int number[MAX_RANKS];
    struct report report[MAX_RANKS];
};

struct scene {
    struct shared *shared;
    int size, victim;
    end how;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void nap(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    nanosleep(&pause, NULL);
}

/* ---- ranks that share memory --------------------------------------------- */

struct boot_self {
    struct shared *shared;
    int rank, size;
};

static storm_status boot_broadcast(void *self, void *inout, size_t bytes)
{
    const struct boot_self *b = self;
    CHECK(bytes <= CARD_BYTES);
    if (b->rank == 0)
        memcpy(b->shared->cards[0][0], inout, bytes);
    pthread_barrier_wait(&b->shared->barrier);
    memcpy(inout, b->shared->cards[0][0], bytes);
    pthread_barrier_wait(&b->shared->barrier);
    return STORM_OK;
}

static storm_status boot_exchange(void *self,
                                  const struct storm_boot_link *link,
                                  int n_links, size_t bytes)
{
    const struct boot_self *b = self;
    CHECK(bytes <= CARD_BYTES);
    for (int i = 0; i < n_links; i++)
        if (link[i].to >= 0)
            memcpy(b->shared->cards[b->rank][link[i].to], link[i].mine, bytes);
    pthread_barrier_wait(&b->shared->barrier);
    for (int i = 0; i < n_links; i++)
        if (link[i].from >= 0)
            memcpy(link[i].theirs_out, b->shared->cards[link[i].from][b->rank],
                   bytes);
    pthread_barrier_wait(&b->shared->barrier);
    return STORM_OK;
}

static storm_status boot_minimum(void *self, int mine, int *min_out)
{
    const struct boot_self *b = self;
    b->shared->number[b->rank] = mine;
    pthread_barrier_wait(&b->shared->barrier);
    *min_out = mine;
    for (int i = 0; i < b->size; i++)
        if (b->shared->number[i] < *min_out)
            *min_out = b->shared->number[i];
    pthread_barrier_wait(&b->shared->barrier);
    return STORM_OK;
}

static storm_status boot_barrier_try(void *self)
{
    const struct boot_self *b = self;
    pthread_barrier_wait(&b->shared->barrier);
    return STORM_OK;
}

/* ---- one rank ------------------------------------------------------------ */

static void on_lost(void *self, int rank)
{
    struct report *report = self;
    atomic_store(&report->lost, rank);
    atomic_fetch_add(&report->called, 1);
}

static void on_log(void *self, storm_log_level level, int rank,
                   const char *message)
{
    struct report *report = self;
    int named = NO_RANK;
    (void)rank;
    if (level != STORM_LOG_ERROR)
        return;
    CHECK(sscanf(message, "rank %d is lost", &named) == 1);
    atomic_store(&report->named, named);
    atomic_fetch_add(&report->errors, 1);
}

/* The rest of a rank's life; the victim's is short. */
static void live(const struct scene *scene, int rank,
                 struct storm_lifeline *lifeline)
{
    struct report *report = &scene->shared->report[rank];
    atomic_store(&report->is_ready, 1);
    while (!atomic_load(&report->may_end)) {
        if (rank != scene->victim && storm_lifeline_check(lifeline) < 0)
            CHECK_EQ(storm_lifeline_check(lifeline),
                     STORM_ERR_LOST); /* LIFE-2 */
        nap();
    }
    if (rank == scene->victim && scene->how == FELL_SILENT)
        _exit(CHECK_PASS);
    storm_lifeline_close(lifeline);
}

static void be_rank(const struct scene *scene, int rank)
{
    /* Whoever waits for a rank that has failed ends with the director. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct boot_self self = {scene->shared, rank, scene->size};
    struct storm_boot boot = {.self = &self,
                              .rank = rank,
                              .size = scene->size,
                              .broadcast = boot_broadcast,
                              .exchange = boot_exchange,
                              .minimum = boot_minimum,
                              .barrier_try = boot_barrier_try};
    struct report *report = &scene->shared->report[rank];
    struct storm_log log = {
        .sink = on_log, .self = report, .level = STORM_LOG_WARN, .rank = rank};
    struct storm_lifeline *lifeline;
    check_where("rank %d of %d, victim %d, how %d", rank, scene->size,
                scene->victim, (int)scene->how);
    CHECK_OK(storm_lifeline_open(&log, &boot,
                                 (struct storm_lifeline_call){on_lost, report},
                                 &lifeline));
    live(scene, rank, lifeline);
    _exit(CHECK_PASS);
}

/* ---- the director -------------------------------------------------------- */

static struct shared *make_shared(int size)
{
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    pthread_barrierattr_t attributes;
    CHECK_EQ(pthread_barrierattr_init(&attributes), 0);
    CHECK_EQ(pthread_barrierattr_setpshared(&attributes,
                                            PTHREAD_PROCESS_SHARED),
             0);
    CHECK_EQ(pthread_barrier_init(&shared->barrier, &attributes,
                                  (unsigned)size),
             0);
    for (int i = 0; i < MAX_RANKS; i++) {
        atomic_store(&shared->report[i].lost, NO_RANK);
        atomic_store(&shared->report[i].named, NO_RANK);
    }
    return shared;
}

/* Until all but the victim have it, or for so long; false if they have not. */
static bool wait_for_all(const struct scene *scene, bool victim_too,
                         bool (*has)(struct report *), double seconds)
{
    for (double late = now_s() + seconds;; nap()) {
        bool all = true;
        for (int i = 0; i < scene->size; i++)
            if (i != scene->victim || victim_too)
                all = all && has(&scene->shared->report[i]);
        if (all || now_s() > late)
            return all;
    }
}

static bool is_ready(struct report *report)
{
    return atomic_load(&report->is_ready);
}

static bool has_noticed(struct report *report)
{
    return atomic_load(&report->called) > 0;
}

/* LIFE-2: the lowest rank that is left logs it, once. */
static void check_reports(const struct scene *scene)
{
    int reporter = scene->victim == 0 ? 1 : 0;
    bool lost = scene->how != TOOK_LEAVE;
    for (int i = 0; i < scene->size; i++) {
        struct report *report = &scene->shared->report[i];
        if (i == scene->victim)
            continue;
        check_where("rank %d of %d, victim %d, how %d", i, scene->size,
                    scene->victim, (int)scene->how);
        CHECK_EQ(atomic_load(&report->called), lost ? 1 : 0);
        CHECK_EQ(atomic_load(&report->lost), lost ? scene->victim : NO_RANK);
        CHECK_EQ(atomic_load(&report->errors), lost && i == reporter ? 1 : 0);
        CHECK_EQ(atomic_load(&report->named),
                 lost && i == reporter ? scene->victim : NO_RANK);
    }
}

static void play(int size, int victim, end how)
{
    struct scene scene = {make_shared(size), size, victim, how};
    pid_t child[MAX_RANKS];
    fflush(NULL);
    for (int i = 0; i < size; i++) {
        child[i] = fork();
        CHECK(child[i] >= 0);
        if (child[i] == 0)
            be_rank(&scene, i);
    }
    check_where("%d ranks, victim %d, how %d", size, victim, (int)how);
    CHECK(wait_for_all(&scene, true, is_ready, 30.0));
    if (how == KILLED)
        kill(child[victim], SIGKILL);
    else
        atomic_store(&scene.shared->report[victim].may_end, 1);
    if (how == TOOK_LEAVE)
        CHECK(!wait_for_all(&scene, false, has_noticed, quiet_s));
    else
        CHECK(wait_for_all(&scene, false, has_noticed, timeout_s));
    for (int k = 0; k < 20; k++) /* check says so where it is called */
        nap();
    for (int i = 0; i < size; i++)
        atomic_store(&scene.shared->report[i].may_end, 1);
    for (int i = 0; i < size; i++) {
        int status = 0;
        CHECK_EQ(waitpid(child[i], &status, 0), child[i]);
        if (i == victim && how == KILLED)
            CHECK(WIFSIGNALED(status));
        else
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == CHECK_PASS);
    }
    check_reports(&scene);
    munmap(scene.shared, sizeof *scene.shared);
}

int main(void)
{
    play(2, 1, KILLED);
    play(2, 0, KILLED);
    play(3, 2, FELL_SILENT);
    /* A tree of three levels: root, inner rank and leaf. */
    play(7, 0, KILLED);
    play(7, 1, FELL_SILENT);
    play(7, 6, KILLED);
    play(2, 0, TOOK_LEAVE);
    play(7, 1, TOOK_LEAVE);
    play(7, 6, TOOK_LEAVE);
    return CHECK_PASS;
}
