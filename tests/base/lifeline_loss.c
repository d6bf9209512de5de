/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 60 */
/* TEST args: cut-off; timeout: 60 */
/*
 * LIFE-1, LIFE-2: a process that is killed, or ends without closing, is noticed
 * by all others, wherever in the tree they are, at once and by its number; one
 * that closes does not count as lost. Ranks are children of this program,
 * without MPI.
 *
 * LIFE-4: whoever cannot be watched is named, and nothing else fails. LIFE-7: a
 * stopped process is not lost; a machine is, after its time of silence and not
 * before (in a network of this program's own, whose loopback is taken down).
 * LIFE-8: strangers on the port change nothing, and a rank with a loopback of
 * its own sends nothing to strangers there.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/lifeline.h"
#include "support/check.h"
#include "support/forks.h"

enum { NO_RANK = -1, MAX_FD = 256 };

/* At once is some milliseconds; a busy machine may take its time. */
static const double timeout_s = 30.0;
static const double quiet_s = 0.3;

typedef enum end { KILLED, FELL_SILENT, TOOK_LEAVE, STOPPED, CUT_OFF } end;

struct report {
    _Atomic int called;        /* times the thread has called */
    _Atomic int lost;          /* whom it named */
    _Atomic int reason_silent; /* and why */
    _Atomic int errors;        /* lines in the log */
    _Atomic int named;         /* whom they name */
    _Atomic int silent;        /* they speak of silence */
    _Atomic int warned;        /* warnings in the log */
    _Atomic int unheard;       /* whom they name */
    _Atomic int is_ready;      /* it is watching */
    _Atomic int may_end;       /* the victim is to go; others: stop waiting */
};

struct scene {
    struct forks *forks;
    struct report *report; /* by rank; shared */
    int size, victim;
    end how;
    int silence_s;  /* 0: longer than the test */
    int deaf;       /* this rank can start no thread; NO_RANK: all can */
    int mute;       /* this one has no address */
    bool apart;     /* the victim has a network of its own */
    int strangers;  /* of each kind that connect to every port */
    double quiet_s; /* how long nobody may notice anything */
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

/* Set on a rank whose loopback is not that of the others. */
static bool is_apart;

/* Takes the place of the system's, whose type differs between C libraries. */
int own_connect(int fd, const void *to, socklen_t bytes) __asm__("connect");

int own_connect(int fd, const void *to, socklen_t bytes)
{
    const struct sockaddr_in *at = to;
    if (is_apart && at->sin_family == AF_INET)
        CHECK(at->sin_addr.s_addr != htonl(INADDR_LOOPBACK));
    return (int)syscall(SYS_connect, fd, to, bytes);
}

/* ---- strangers ----------------------------------------------------------- */

/* Boot with strangers. */
struct boot_self {
    struct forks_rank rank;
    storm_status (*broadcast)(void *self, void *inout, size_t bytes);
    int strangers;
};

/* One stranger; its stream stays open. */
static void disturb(uint16_t port, const void *bytes, size_t n)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = port,
                             .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(fd >= 0);
    CHECK_EQ(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    if (n > 0)
        CHECK_EQ(send(fd, bytes, n, MSG_NOSIGNAL), (ssize_t)n);
}

/* Once the rank listens, strangers are there before its neighbours: some say
 * nothing, some a little, some what looks like a message, some far more. */
static void let_strangers_in(struct boot_self *b)
{
    static const uint32_t hello[4] = {0, 0, 1, 1};
    static const char noise[4096] = {1};
    for (int fd = 3; fd < MAX_FD && b->strangers > 0; fd++) {
        int listens = 0;
        socklen_t bytes = sizeof listens;
        struct sockaddr_in at;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) != 0 ||
            !listens)
            continue;
        bytes = sizeof at;
        CHECK_EQ(getsockname(fd, (struct sockaddr *)&at, &bytes), 0);
        for (; b->strangers > 0; b->strangers--) {
            disturb(at.sin_port, NULL, 0);
            disturb(at.sin_port, hello, 1);
            disturb(at.sin_port, hello, sizeof hello);
            disturb(at.sin_port, noise, sizeof noise);
        }
    }
}

static storm_status broadcast_among_strangers(void *self, void *inout,
                                              size_t bytes)
{
    struct boot_self *b = self;
    let_strangers_in(b);
    return b->broadcast(&b->rank, inout, bytes);
}

/* ---- one rank ------------------------------------------------------------ */

static void on_lost(void *self, int rank, const char *reason)
{
    struct report *report = self;
    atomic_store(&report->reason_silent,
                 strstr(reason, "nothing has come") != NULL);
    atomic_store(&report->lost, rank);
    atomic_fetch_add(&report->called, 1);
}

static void on_log(void *self, storm_log_level level, int rank,
                   const char *message)
{
    struct report *report = self;
    int named = NO_RANK, parent = NO_RANK;
    (void)rank;
    if (level == STORM_LOG_WARN) {
        CHECK(sscanf(message, "ranks %d and %d", &parent, &named) == 2 ||
              sscanf(message, "rank %d cannot start", &named) == 1);
        atomic_store(&report->unheard, named);
        atomic_fetch_add(&report->warned, 1);
    }
    if (level != STORM_LOG_ERROR)
        return;
    CHECK(sscanf(message, "rank %d is lost", &named) == 1);
    atomic_store(&report->silent, strstr(message, "nothing has come") != NULL);
    atomic_store(&report->named, named);
    atomic_fetch_add(&report->errors, 1);
}

/* The rest of a rank's life; the victim's is short. */
static void live(const struct scene *scene, int rank,
                 struct storm_lifeline *lifeline)
{
    struct report *report = &scene->report[rank];
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

/* Threads of this process are to have a stack that no machine has. */
static void forbid_threads(void)
{
    pthread_attr_t attributes;
    CHECK_EQ(pthread_attr_init(&attributes), 0);
    CHECK_EQ(pthread_attr_setstacksize(&attributes, (size_t)1 << 50), 0);
    CHECK_EQ(pthread_setattr_default_np(&attributes), 0);
}

static void be_rank(void *director, int rank)
{
    const struct scene *scene = director;
    /* Whoever waits for a rank that has failed ends with the director. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (rank == scene->deaf)
        forbid_threads();
    struct boot_self self = {.rank = {scene->forks, rank},
                             .strangers = scene->strangers};
    struct storm_boot boot = forks_boot(&self.rank);
    self.broadcast = boot.broadcast;
    boot.broadcast = broadcast_among_strangers;
    struct report *report = &scene->report[rank];
    struct storm_log log = {
        .sink = on_log, .self = report, .level = STORM_LOG_WARN, .rank = rank};
    struct storm_lifeline *lifeline;
    check_where("rank %d of %d, victim %d, how %d", rank, scene->size,
                scene->victim, (int)scene->how);
    struct storm_lifeline_params params = {
        .silence_s = scene->silence_s > 0 ? scene->silence_s : 600,
        .interface = rank == scene->mute ? "none at all" : "",
        .call = {on_lost, report}};
    if (scene->apart && rank == scene->victim) {
        CHECK_EQ(unshare(CLONE_NEWNET), 0);
        is_apart = true;
    }
    CHECK_OK(storm_lifeline_open(&log, &boot, &params, &lifeline));
    live(scene, rank, lifeline);
    _exit(CHECK_PASS);
}

/* ---- the director -------------------------------------------------------- */

static struct report *make_reports(void)
{
    struct report *report = forks_share(FORKS_MAX * sizeof *report);
    for (int i = 0; i < FORKS_MAX; i++) {
        atomic_store(&report[i].lost, NO_RANK);
        atomic_store(&report[i].named, NO_RANK);
        atomic_store(&report[i].unheard, NO_RANK);
    }
    return report;
}

/* Until all but the victim have it, or for so long; false if they have not. */
static bool wait_for_all(const struct scene *scene, bool victim_too,
                         bool (*has)(struct report *), double seconds)
{
    for (double late = now_s() + seconds;; nap()) {
        bool all = true;
        for (int i = 0; i < scene->size; i++)
            if ((i != scene->victim && i != scene->deaf) || victim_too)
                all = all && has(&scene->report[i]);
        if (all || now_s() > late)
            return all;
    }
}

/* Has anybody but the victim noticed a loss in so many seconds? */
static bool wait_for_any(const struct scene *scene, double seconds)
{
    for (double late = now_s() + seconds; now_s() < late; nap())
        for (int i = 0; i < scene->size; i++)
            if (i != scene->victim && atomic_load(&scene->report[i].called) > 0)
                return true;
    return false;
}

static bool is_ready(struct report *report)
{
    return atomic_load(&report->is_ready);
}

static bool has_noticed(struct report *report)
{
    return atomic_load(&report->called) > 0;
}

static bool is_loss(end how)
{
    return how == KILLED || how == FELL_SILENT || how == CUT_OFF;
}

/* LIFE-2: the lowest rank that is left logs it, once. */
static void check_reports(const struct scene *scene)
{
    int reporter = scene->victim == 0 ? 1 : 0;
    bool lost = is_loss(scene->how);
    for (int i = 0; i < scene->size; i++) {
        struct report *report = &scene->report[i];
        if (i == scene->victim || i == scene->deaf)
            continue;
        check_where("rank %d of %d, victim %d, how %d", i, scene->size,
                    scene->victim, (int)scene->how);
        CHECK_EQ(atomic_load(&report->called), lost ? 1 : 0);
        CHECK_EQ(atomic_load(&report->lost), lost ? scene->victim : NO_RANK);
        CHECK_EQ(atomic_load(&report->errors), lost && i == reporter ? 1 : 0);
        CHECK_EQ(atomic_load(&report->named),
                 lost && i == reporter ? scene->victim : NO_RANK);
        CHECK_EQ(atomic_load(&report->reason_silent), scene->how == CUT_OFF);
        CHECK_EQ(atomic_load(&report->silent),
                 scene->how == CUT_OFF && i == reporter);
    }
}

/* LIFE-4: rank 0 names whom nobody watches, once; else there is no warning. */
static void check_warnings(const struct scene *scene)
{
    int unheard = scene->apart             ? scene->victim
                  : scene->deaf != NO_RANK ? scene->deaf
                  : scene->mute != NO_RANK ? 2 * scene->mute + 1
                                           : NO_RANK;
    for (int i = 0; i < scene->size; i++) {
        struct report *report = &scene->report[i];
        bool warns = unheard != NO_RANK && i == 0;
        CHECK_EQ(atomic_load(&report->warned), warns ? 1 : 0);
        CHECK_EQ(atomic_load(&report->unheard), warns ? unheard : NO_RANK);
    }
}

/* The network of this program, without which nothing comes from anybody. */
static void set_loopback(bool up)
{
    struct ifreq request = {.ifr_name = "lo",
                            .ifr_flags = up ? IFF_UP | IFF_RUNNING : 0};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    CHECK(fd >= 0);
    CHECK_EQ(ioctl(fd, SIOCSIFFLAGS, &request), 0);
    close(fd);
}

static void strike(const struct scene *scene, pid_t victim)
{
    if (scene->how == KILLED)
        kill(victim, SIGKILL);
    else if (scene->how == STOPPED)
        kill(victim, SIGSTOP);
    else if (scene->how == CUT_OFF)
        set_loopback(false);
    else
        atomic_store(&scene->report[scene->victim].may_end, 1);
}

static void check_end(const struct scene *scene, int rank, pid_t child)
{
    int status = 0;
    CHECK_EQ(waitpid(child, &status, 0), child);
    if (rank == scene->victim && scene->how == KILLED)
        CHECK(WIFSIGNALED(status));
    else
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == CHECK_PASS);
}

static void play_scene(struct scene scene)
{
    int size = scene.size;
    pid_t child[FORKS_MAX];
    scene.forks = forks_make(size);
    scene.report = make_reports();
    forks_start(size, be_rank, &scene, child);
    check_where("%d ranks, victim %d, how %d", size, scene.victim,
                (int)scene.how);
    CHECK(wait_for_all(&scene, true, is_ready, 30.0));
    strike(&scene, child[scene.victim]);
    if (scene.quiet_s > 0)
        CHECK(!wait_for_any(&scene, scene.quiet_s));
    if (is_loss(scene.how))
        CHECK(wait_for_all(&scene, false, has_noticed,
                           timeout_s + 3 * scene.silence_s));
    if (scene.how == CUT_OFF)
        set_loopback(true);
    kill(child[scene.victim], SIGCONT);
    for (int k = 0; k < 20; k++) /* check says so where it is called */
        nap();
    for (int i = 0; i < size; i++)
        atomic_store(&scene.report[i].may_end, 1);
    for (int i = 0; i < size; i++)
        check_end(&scene, i, child[i]);
    check_reports(&scene);
    check_warnings(&scene);
    munmap(scene.report, FORKS_MAX * sizeof *scene.report);
    forks_free(scene.forks);
}

static void play(int size, int victim, end how)
{
    play_scene((struct scene){.size = size,
                              .victim = victim,
                              .how = how,
                              .quiet_s = how == TOOK_LEAVE ? quiet_s : 0,
                              .deaf = NO_RANK,
                              .mute = NO_RANK});
}

/* LIFE-8 */
static void play_strangers(void)
{
    play_scene((struct scene){.size = 3,
                              .victim = 2,
                              .how = KILLED,
                              .deaf = NO_RANK,
                              .mute = NO_RANK,
                              .strangers = 40});
}

/* LIFE-4: rank 1 has no thread; nobody can reach rank 1. */
static void play_unwatched(void)
{
    play_scene((struct scene){
        .size = 3, .victim = 2, .how = KILLED, .deaf = 1, .mute = NO_RANK});
    play_scene((struct scene){
        .size = 4, .victim = 3, .how = TOOK_LEAVE, .deaf = NO_RANK, .mute = 1});
    pid_t probe = fork();
    if (probe == 0)
        _exit(unshare(CLONE_NEWNET) == 0 ? CHECK_PASS : CHECK_SKIP);
    int status = 0;
    CHECK_EQ(waitpid(probe, &status, 0), probe);
    if (status == 0)
        play_scene((struct scene){.size = 4,
                                  .victim = 3,
                                  .how = TOOK_LEAVE,
                                  .deaf = NO_RANK,
                                  .mute = NO_RANK,
                                  .apart = true});
}

/* LIFE-7 */
static void play_stopped(void)
{
    play_scene((struct scene){.size = 3,
                              .victim = 1,
                              .how = STOPPED,
                              .silence_s = 1,
                              .quiet_s = 4,
                              .deaf = NO_RANK,
                              .mute = NO_RANK});
}

/* LIFE-7 */
static int play_cut_off(void)
{
    if (unshare(CLONE_NEWNET) != 0) {
        printf("skipped: no network of its own\n");
        return CHECK_SKIP;
    }
    set_loopback(true);
    play_scene((struct scene){.size = 2,
                              .victim = 1,
                              .how = CUT_OFF,
                              .silence_s = 9,
                              .quiet_s = 6, /* probes are 2 s apart */
                              .deaf = NO_RANK,
                              .mute = NO_RANK});
    return CHECK_PASS;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "cut-off") == 0)
        return play_cut_off();
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
    play_strangers();
    play_unwatched();
    play_stopped();
    return CHECK_PASS;
}
