/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program storm, linked so that a few calls pass through this file (ld
 * --wrap). They mark the phases of a run, and one rank sends itself a signal in
 * the phase, and at the moment in it, that STORM_TEST_KILL names:
 *
 *   FILE                               no signal; append to FILE the length of
 *                                      every phase of rank 0
 *   FILE SIGNAL RANK PHASE K DELAY_US  in the K-th PHASE of RANK, so long after
 *                                      its beginning, at its end at the latest
 *
 * Lines of FILE:
 *
 *   process RANK PID               every rank, when its mesh is built
 *   phase PHASE K LENGTH_US        rank 0
 *   signal PHASE RANK PID TIME_NS  of the system's clock, just before it
 *
 * campaign.sh chooses signals, ranks, phases and moments.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <mpi.h>

#include <storm/engine.h>
#include <storm/voronoi.h>

#include "io/io_checkpoint.h"
#include "io/io_fields.h"

enum phase { MESH, FIRST, TRANSPORT, POPULATION, OUTPUT, CHECKPOINT, PHASES };

static const char *const phase_names[PHASES] = {
    "mesh", "first-step", "transport", "population", "output", "checkpoint"};

/* A process has one run, and this is not the library: statics are fine. */
static struct {
    bool ready; /* the variable has been read */
    char file[512];
    int rank;
    int signal; /* 0: only measure */
    enum phase phase;
    unsigned count;
    long delay_us;
    pthread_t main;
    unsigned counts[PHASES];
    struct storm_population population; /* what control is passed to */
} plan;

static _Atomic int plan_armed; /* 1: the signal is still to come */

static void report(const char *format, ...)
{
    char line[256];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    int fd = open(plan.file, O_WRONLY | O_APPEND | O_CREAT, 0666);
    ssize_t written = write(fd, line, (size_t)n);
    (void)written;
    close(fd);
}

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static enum phase phase_of(const char *name)
{
    for (int i = 0; i < PHASES; i++)
        if (strcmp(name, phase_names[i]) == 0)
            return (enum phase)i;
    fprintf(stderr, "STORM_TEST_KILL: no phase '%s'\n", name);
    exit(2);
}

static void read_plan(void)
{
    const char *text = getenv("STORM_TEST_KILL");
    char phase[32] = "mesh";
    int victim = -1, rank = 0;
    plan.ready = true;
    plan.main = pthread_self();
    if (text == NULL)
        return;
    int n = sscanf(text, "%511s %d %d %31s %u %ld", plan.file, &plan.signal,
                   &victim, phase, &plan.count, &plan.delay_us);
    if (n != 1 && n != 6) {
        fprintf(stderr, "STORM_TEST_KILL: cannot read '%s'\n", text);
        exit(2);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    plan.rank = rank;
    plan.phase = phase_of(phase);
    if (rank != victim)
        plan.signal = 0;
    report("process %d %d\n", rank, (int)getpid());
}

/* Once. A crash is the main thread's; a stop is of the whole process. */
static void fire(void)
{
    if (atomic_exchange(&plan_armed, 0) == 0)
        return;
    report("signal %s %d %d %lld\n", phase_names[plan.phase], plan.rank,
           (int)getpid(), (long long)now_ns(CLOCK_REALTIME));
    if (plan.signal == SIGSEGV)
        pthread_kill(plan.main, SIGSEGV);
    else
        kill(getpid(), plan.signal);
}

static void *fire_later(void *self)
{
    (void)self;
    struct timespec delay = {.tv_sec = plan.delay_us / 1000000,
                             .tv_nsec = plan.delay_us % 1000000 * 1000};
    nanosleep(&delay, NULL);
    fire();
    return NULL;
}

static int64_t enter(enum phase phase)
{
    pthread_t thread;
    if (!plan.ready)
        read_plan();
    plan.counts[phase]++;
    if (plan.signal != 0 && phase == plan.phase &&
        plan.counts[phase] == plan.count) {
        atomic_store(&plan_armed, 1);
        if (pthread_create(&thread, NULL, fire_later, NULL) == 0)
            pthread_detach(thread);
    }
    return now_ns(CLOCK_MONOTONIC);
}

static void leave(enum phase phase, int64_t began_ns)
{
    if (phase == plan.phase && atomic_load(&plan_armed) != 0) {
        fire();
        if (plan.signal == SIGSEGV)
            pause(); /* until it is delivered */
    }
    if (plan.file[0] != '\0' && plan.rank == 0)
        report("phase %s %u %lld\n", phase_names[phase], plan.counts[phase],
               (long long)(now_ns(CLOCK_MONOTONIC) - began_ns) / 1000);
}

/* ---- the calls ----------------------------------------------------------- */

storm_status
__real_storm_mesh_create_voronoi(struct storm_context *context,
                                 const struct storm_voronoi_params *params,
                                 struct storm_mesh **mesh_out);
storm_status
__wrap_storm_mesh_create_voronoi(struct storm_context *context,
                                 const struct storm_voronoi_params *params,
                                 struct storm_mesh **mesh_out);
storm_status __real_storm_engine_step(struct storm_engine *engine);
storm_status __wrap_storm_engine_step(struct storm_engine *engine);
storm_status __real_storm_engine_use(struct storm_engine *engine,
                                     const struct storm_physics *physics,
                                     const struct storm_boundary *boundary,
                                     const struct storm_population *population);
storm_status __wrap_storm_engine_use(struct storm_engine *engine,
                                     const struct storm_physics *physics,
                                     const struct storm_boundary *boundary,
                                     const struct storm_population *population);
storm_status __real_io_write_fields(const struct io_source *source,
                                    struct io_series *series);
storm_status __wrap_io_write_fields(const struct io_source *source,
                                    struct io_series *series);
storm_status __real_io_checkpoint_write(const struct io_source *source,
                                        const struct io_series *series,
                                        const struct io_checkpoint_head *head,
                                        const struct io_checkpoint_mesh *mesh);
storm_status __wrap_io_checkpoint_write(const struct io_source *source,
                                        const struct io_series *series,
                                        const struct io_checkpoint_head *head,
                                        const struct io_checkpoint_mesh *mesh);

storm_status
__wrap_storm_mesh_create_voronoi(struct storm_context *context,
                                 const struct storm_voronoi_params *params,
                                 struct storm_mesh **mesh_out)
{
    int64_t began = enter(MESH);
    storm_status status =
        __real_storm_mesh_create_voronoi(context, params, mesh_out);
    leave(MESH, began);
    return status;
}

storm_status __wrap_storm_engine_step(struct storm_engine *engine)
{
    enum phase phase = plan.counts[FIRST] == 0 ? FIRST : TRANSPORT;
    int64_t began = enter(phase);
    storm_status status = __real_storm_engine_step(engine);
    leave(phase, began);
    return status;
}

static storm_status control(void *self, struct storm_step *step)
{
    int64_t began = enter(POPULATION);
    storm_status status = plan.population.control(self, step);
    leave(POPULATION, began);
    return status;
}

storm_status __wrap_storm_engine_use(struct storm_engine *engine,
                                     const struct storm_physics *physics,
                                     const struct storm_boundary *boundary,
                                     const struct storm_population *population)
{
    struct storm_population mine;
    if (population != NULL) {
        plan.population = mine = *population;
        mine.control = control;
    }
    return __real_storm_engine_use(engine, physics, boundary,
                                   population != NULL ? &mine : NULL);
}

storm_status __wrap_io_write_fields(const struct io_source *source,
                                    struct io_series *series)
{
    int64_t began = enter(OUTPUT);
    storm_status status = __real_io_write_fields(source, series);
    leave(OUTPUT, began);
    return status;
}

storm_status __wrap_io_checkpoint_write(const struct io_source *source,
                                        const struct io_series *series,
                                        const struct io_checkpoint_head *head,
                                        const struct io_checkpoint_mesh *mesh)
{
    int64_t began = enter(CHECKPOINT);
    storm_status status =
        __real_io_checkpoint_write(source, series, head, mesh);
    leave(CHECKPOINT, began);
    return status;
}
