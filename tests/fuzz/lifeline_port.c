/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST args: 2 1; timeout: 60 */
/* TEST args: 600 0; timeout: 700; label: long */
/*
 * LIFE-8: strangers at the port of a lifeline, many at once, that send random
 * bytes, too few, too many, messages that are almost right, slowly or nothing,
 * and stay, leave or break off: all ranks open within LIFE-5, all are watched,
 * none is lost; no growth of memory or open files. Ranks and strangers are
 * threads of this program, which knows the ports.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "base/lifeline.h"
#include "fuzz/mutants.h"
#include "support/threads.h"

enum {
    STRANGERS = 3,
    HELD = 32,       /* streams that a stranger holds open */
    MAX_FD = 256,    /* where to look for ports */
    MAX_OPEN_S = 10, /* LIFE-5: a few seconds, and a busy machine */
    MAX_RANKS = 7,
    N_KINDS = 6, /* of messages, and some that are none */
    MAX_DELAY_US = 20000
};

struct scene {
    _Atomic int stop;
    _Atomic uint64_t n_streams;
    _Atomic uint64_t n_trouble; /* losses and warnings */
    struct dice delays[MAX_RANKS];
    double max_open_s[MAX_RANKS];
};

struct stranger {
    struct scene *scene;
    struct dice dice;
    pthread_t thread;
    int held[HELD];
};

static void nap_us(uint64_t us)
{
    const struct timespec pause = {.tv_nsec = (long)us * 1000};
    nanosleep(&pause, NULL);
}

/* ---- strangers ----------------------------------------------------------- */

/* A port that this process listens at; 0: none now. */
static in_port_t find_port(struct dice *dice)
{
    int first = (int)dice_roll(dice, MAX_FD);
    for (int i = 0; i < MAX_FD; i++) {
        struct sockaddr_in at = {0};
        int fd = (first + i) % MAX_FD, listens = 0;
        socklen_t bytes = sizeof listens, length = sizeof at;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) == 0 &&
            listens != 0 &&
            getsockname(fd, (struct sockaddr *)&at, &length) == 0)
            return at.sin_port;
    }
    return 0;
}

/* As a rank would write it, but for the secret: a kind and a rank. */
static size_t almost_right(struct stranger *s, unsigned char *bytes_out)
{
    const uint64_t secret = dice_word(&s->dice);
    const int32_t words[2] = {(int32_t)dice_roll(&s->dice, N_KINDS),
                              (int32_t)dice_roll(&s->dice, MAX_RANKS)};
    memcpy(bytes_out, &secret, sizeof secret);
    memcpy(bytes_out + sizeof secret, words, sizeof words);
    return sizeof secret + sizeof words;
}

/* Random bytes, or zeros with a few of them, of any length; or a message that
 * is almost right. */
static void speak(struct stranger *s, int fd)
{
    unsigned char bytes[4096] = {0};
    size_t n = dice_roll(&s->dice, 2) ? dice_roll(&s->dice, 40)
                                      : dice_roll(&s->dice, sizeof bytes);
    for (size_t i = 0; i < n; i++)
        if (dice_roll(&s->dice, 4) != 0)
            bytes[i] = (unsigned char)dice_roll(&s->dice, 256);
    if (dice_roll(&s->dice, 3) == 0)
        n = almost_right(s, bytes);
    size_t cut = dice_roll(&s->dice, n + 1); /* in two pieces */
    (void)!send(fd, bytes, cut, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (dice_roll(&s->dice, 2))
        nap_us(dice_roll(&s->dice, 500));
    (void)!send(fd, bytes + cut, n - cut, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Closes properly, or with a reset. */
static void hang_up(struct stranger *s, int *fd)
{
    const struct linger reset = {.l_onoff = 1};
    if (*fd >= 0 && dice_roll(&s->dice, 2))
        setsockopt(*fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void call_on(struct stranger *s, in_port_t port)
{
    const struct sockaddr_in to = {
        .sin_family = AF_INET,
        .sin_port = port,
        .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    int *fd = &s->held[dice_roll(&s->dice, HELD)];
    hang_up(s, fd);
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd < 0)
        return;
    if (connect(*fd, (const struct sockaddr *)&to, sizeof to) == 0 ||
        errno == EINPROGRESS)
        atomic_fetch_add(&s->scene->n_streams, 1);
    if (dice_roll(&s->dice, 4) != 0)
        speak(s, *fd);
    if (dice_roll(&s->dice, 2))
        hang_up(s, fd);
}

static void *be_stranger(void *self)
{
    struct stranger *s = self;
    for (int i = 0; i < HELD; i++)
        s->held[i] = -1;
    while (!atomic_load(&s->scene->stop)) {
        in_port_t port = find_port(&s->dice);
        if (port != 0)
            call_on(s, port);
        else
            nap_us(100);
    }
    for (int i = 0; i < HELD; i++)
        hang_up(s, &s->held[i]);
    return NULL;
}

/* ---- ranks --------------------------------------------------------------- */

static void on_lost(void *self, int rank, const char *reason)
{
    (void)reason;
    struct scene *scene = self;
    (void)rank;
    atomic_fetch_add(&scene->n_trouble, 1);
}

static void on_log(void *self, storm_log_level level, int rank,
                   const char *message)
{
    struct scene *scene = self;
    (void)level;
    fprintf(stderr, "rank %d: %s\n", rank, message);
    atomic_fetch_add(&scene->n_trouble, 1);
}

/* Opens, is watched for a moment, closes. Ranks come at different times: the
 * first listen and wait for the others. */
static void be_rank(void *self, const struct storm_env *env,
                    const struct storm_boot *boot)
{
    struct scene *scene = self;
    const struct storm_log log = {.sink = on_log,
                                  .self = scene,
                                  .level = STORM_LOG_WARN,
                                  .rank = boot->rank};
    const struct storm_lifeline_params params = {
        .silence_s = 30, .interface = "", .call = {on_lost, scene}};
    struct storm_lifeline *lifeline;
    (void)env;
    nap_us(dice_roll(&scene->delays[boot->rank], MAX_DELAY_US));
    double start = mutants_now_s();
    CHECK_OK(storm_lifeline_open(&log, boot, &params, &lifeline));
    double took = mutants_now_s() - start;
    if (took > scene->max_open_s[boot->rank])
        scene->max_open_s[boot->rank] = took;
    nap_us(2000);
    CHECK_OK(storm_lifeline_check(lifeline));
    CHECK_OK(storm_boot_barrier(boot));
    storm_lifeline_close(lifeline);
}

int main(int argc, char **argv)
{
    static struct scene scene;
    struct stranger strangers[STRANGERS] = {0};
    struct mutants *m = mutants_begin(argc, argv, "none");
    for (int i = 0; i < MAX_RANKS; i++)
        scene.delays[i] = dice_make(dice_word(&m->dice), 1);
    for (int i = 0; i < STRANGERS; i++) {
        strangers[i].scene = &scene;
        strangers[i].dice = dice_make(dice_word(&m->dice), 2);
        CHECK_EQ(pthread_create(&strangers[i].thread, NULL, be_stranger,
                                &strangers[i]),
                 0);
    }
    while (mutants_next(m)) {
        threads_run(2 + (int)dice_roll(&m->dice, MAX_RANKS - 1), be_rank,
                    &scene);
        CHECK_EQ(atomic_load(&scene.n_trouble), 0);
    }
    atomic_store(&scene.stop, 1);
    for (int i = 0; i < STRANGERS; i++)
        CHECK_EQ(pthread_join(strangers[i].thread, NULL), 0);
    double longest = 0.0;
    for (int i = 0; i < MAX_RANKS; i++)
        if (scene.max_open_s[i] > longest)
            longest = scene.max_open_s[i];
    printf("%llu streams of strangers, longest open %.3f s\n",
           (unsigned long long)atomic_load(&scene.n_streams), longest);
    CHECK(longest < MAX_OPEN_S);
    CHECK(atomic_load(&scene.n_streams) > 0);
    mutants_end(m);
    return CHECK_PASS;
}
