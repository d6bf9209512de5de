/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A child connects to its parent; the first message on a new stream names the
 * child's rank. Later messages report a lost rank, or that the sender closes.
 */
#include "base/lifeline.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/interface.h"

enum {
    N_NEIGHBOURS = 3,
    N_STRANGERS = 32, /* streams that have not said yet whose they are */
    CONNECT_MS = 2000,
    REASON_BYTES = 256,
    NO_RANK = -1
};

enum message_kind {
    MESSAGE_HELLO = 1,
    MESSAGE_LOST = 2, /* its stream has ended */
    MESSAGE_LEAVE = 3,
    MESSAGE_SILENT = 4 /* lost, too: nothing comes from its machine */
};

/* What travels on a stream. */
struct message {
    uint64_t secret; /* of this set of ranks */
    uint32_t kind;   /* enum message_kind */
    int32_t rank;    /* the sender, or who is lost */
};

struct neighbour {
    int rank;
    int fd; /* -1: no stream, or no longer */
};

struct storm_lifeline {
    const struct storm_log *log;
    int rank, size;
    uint64_t secret;
    int silence_s;
    struct storm_lifeline_call call;
    bool logged;
    bool silent;      /* how: written before `lost` */
    _Atomic int lost; /* NO_RANK: nobody */

    pthread_t thread;
    bool watched;                        /* the thread runs */
    int wake;                            /* readable: the thread must look */
    _Atomic bool end;                    /* it must end, else: LIFE-6 */
    struct neighbour near[N_NEIGHBOURS]; /* the thread's, while it runs */
};

/* Address of a rank. */
struct card {
    uint64_t machine;
    uint32_t address; /* in network order; 0: not at all */
    uint16_t port;
    uint16_t pad;
};

/* ---- addresses ------------------------------------------------------------*/

/* The same for all processes of a running system that share its loopback, else
 * different. */
static uint64_t this_machine(void)
{
    char text[64] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        (void)gethostname(text, sizeof text - 1);
    uint64_t hash = 0;
    for (const char *c = text; *c; c++)
        hash = storm_hash_fold(hash, (uint64_t)(unsigned char)*c);
    /* Containers of one system may have loopbacks of their own. */
    struct stat network;
    if (stat("/proc/thread-self/ns/net", &network) == 0)
        hash = storm_hash_fold(hash, (uint64_t)network.st_ino);
    return hash;
}

static uint64_t make_secret(void)
{
    uint64_t secret = (uint64_t)getpid() ^ storm_clock_ticks();
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t n = read(fd, &secret, sizeof secret);
        (void)n;
        close(fd);
    }
    return secret;
}

/* ---- streams --------------------------------------------------------------*/

static bool wait_for(int fd, short events, int ms)
{
    struct pollfd at = {.fd = fd, .events = events};
    return poll(&at, 1, ms) == 1;
}

static void send_message(const struct storm_lifeline *l, int fd,
                         enum message_kind kind, int rank)
{
    struct message message = {
        .secret = l->secret, .kind = (uint32_t)kind, .rank = rank};
    if (fd >= 0) /* a broken stream is noticed when it is read */
        (void)send(fd, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int listen_anywhere(uint16_t *port_out)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t bytes = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(fd, SOMAXCONN) != 0 || /* strangers need room, too */
        getsockname(fd, (struct sockaddr *)&at, &bytes) != 0) {
        close(fd);
        return -1;
    }
    *port_out = at.sin_port;
    return fd;
}

static int connect_to(uint32_t address, uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = port,
                             .sin_addr = {.s_addr = address}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error = 0;
    socklen_t bytes = sizeof error;
    if (fd < 0)
        return -1;
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    if (errno == EINPROGRESS && wait_for(fd, POLLOUT, CONNECT_MS) &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 && error == 0)
        return fd;
    close(fd);
    return -1;
}

/* A node that fails closes no stream: probe it. The system answers probes,
 * whatever the process does. LIFE-7. */
static void keep_alive(int fd, int silence_s)
{
    int on = 1, every_s = silence_s / 6 + 1, max_probes = 127;
    unsigned limit_ms = 1000 * (unsigned)silence_s;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &every_s, sizeof every_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof every_s);
    /* The limit ends it, not a count of probes. */
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &max_probes, sizeof max_probes);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof limit_ms);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static bool join_parent(struct storm_lifeline *l, uint64_t machine,
                        const struct card *to)
{
    struct neighbour *parent = &l->near[0];
    if (parent->rank < 0)
        return true;
    if (to->address == 0)
        return false;
    /* Of others the port may be a stranger's, who would get the secret. */
    if (to->machine == machine)
        parent->fd = connect_to(htonl(INADDR_LOOPBACK), to->port);
    if (parent->fd < 0)
        parent->fd = connect_to(to->address, to->port);
    if (parent->fd < 0)
        return false;
    keep_alive(parent->fd, l->silence_s);
    send_message(l, parent->fd, MESSAGE_HELLO, l->rank);
    return true;
}

/* Streams that are accepted and have sent nothing yet, the oldest first. */
struct strangers {
    int n;
    int fd[N_STRANGERS];
};

static void forget_stranger(struct strangers *s, int i)
{
    s->n--;
    memmove(&s->fd[i], &s->fd[i + 1], (size_t)(s->n - i) * sizeof s->fd[0]);
}

/* A neighbour's HELLO is there when its stream is: the oldest is none. */
static void admit_stranger(struct strangers *s, int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (s->n == N_STRANGERS) {
        close(s->fd[0]);
        forget_stranger(s, 0);
    }
    s->fd[s->n++] = fd;
}

/* The first bytes decide: a child's stream, or closed. LIFE-8. */
static void hear_stranger(struct storm_lifeline *l, struct strangers *s, int i)
{
    struct message message = {0};
    int fd = s->fd[i];
    ssize_t n = recv(fd, &message, sizeof message, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    forget_stranger(s, i);
    if (n == (ssize_t)sizeof message && message.secret == l->secret &&
        message.kind == MESSAGE_HELLO)
        for (int k = 1; k < N_NEIGHBOURS; k++)
            if (l->near[k].rank == message.rank && l->near[k].fd < 0) {
                l->near[k].fd = fd;
                keep_alive(fd, l->silence_s);
                return;
            }
    close(fd);
}

static bool children_missing(const struct storm_lifeline *l,
                             const unsigned char expected[N_NEIGHBOURS])
{
    bool missing = false;
    for (int i = 1; i < N_NEIGHBOURS; i++)
        missing = missing ||
                  (expected[i] && l->near[i].rank >= 0 && l->near[i].fd < 0);
    return missing;
}

/* Until all expected children are in, or the time is over. */
static void accept_children(struct storm_lifeline *l, int listener,
                            const unsigned char expected[N_NEIGHBOURS])
{
    struct strangers s = {0};
    double until = storm_clock_seconds() + 1e-3 * CONNECT_MS;
    while (children_missing(l, expected)) {
        struct pollfd fds[N_STRANGERS + 1];
        int n = s.n, ms = (int)(1e3 * (until - storm_clock_seconds()));
        if (ms <= 0)
            break;
        for (int i = 0; i < n; i++)
            fds[i] = (struct pollfd){.fd = s.fd[i], .events = POLLIN};
        fds[n] = (struct pollfd){.fd = listener, .events = POLLIN};
        if (poll(fds, (nfds_t)n + 1, ms) <= 0)
            continue;
        for (int i = n - 1; i >= 0; i--) /* downwards: some are forgotten */
            if (fds[i].revents != 0)
                hear_stranger(l, &s, i);
        if (fds[n].revents != 0)
            admit_stranger(&s, listener);
    }
    while (s.n > 0)
        close(s.fd[--s.n]);
}

static void close_all(struct storm_lifeline *l)
{
    for (int i = 0; i < N_NEIGHBOURS; i++) {
        if (l->near[i].fd >= 0)
            close(l->near[i].fd);
        l->near[i].fd = -1;
    }
}

/* Exchanges a few bytes with each neighbour; `mine` and `theirs_out` have
 * N_NEIGHBOURS items. Collective. */
static storm_status lifeline_swap(const struct storm_lifeline *l,
                                  const struct storm_boot *boot,
                                  const void *mine, void *theirs_out,
                                  size_t bytes)
{
    struct storm_boot_link link[N_NEIGHBOURS];
    for (size_t i = 0; i < N_NEIGHBOURS; i++)
        link[i] = (struct storm_boot_link){
            .to = l->near[i].rank,
            .mine = (const unsigned char *)mine + i * bytes,
            .from = l->near[i].rank,
            .theirs_out = (unsigned char *)theirs_out + i * bytes};
    return boot->exchange(boot->self, link, N_NEIGHBOURS, bytes);
}

/* Connects to the parent, then accepts the children. */
static storm_status join(struct storm_lifeline *l,
                         const struct storm_boot *boot, int listener,
                         const struct card *mine)
{
    struct card cards[N_NEIGHBOURS] = {*mine, *mine, *mine};
    struct card near[N_NEIGHBOURS] = {{0}};
    unsigned char joined[N_NEIGHBOURS] = {0}, theirs[N_NEIGHBOURS] = {0};
    storm_status status = lifeline_swap(l, boot, cards, near, sizeof *cards);
    if (status == STORM_OK) {
        joined[0] = join_parent(l, mine->machine, &near[0]);
        status = lifeline_swap(l, boot, joined, theirs, 1);
    }
    if (status == STORM_OK)
        accept_children(l, listener, theirs);
    for (int i = 1; i < N_NEIGHBOURS; i++)
        joined[i] = l->near[i].fd >= 0;
    if (status == STORM_OK)
        status = lifeline_swap(l, boot, joined, theirs, 1);
    struct neighbour *parent = &l->near[0];
    bool alone = parent->rank >= 0 && status == STORM_OK && !theirs[0];
    if (alone && parent->fd >= 0) {
        close(parent->fd);
        parent->fd = -1;
    }
    int first = INT_MAX;
    if (status == STORM_OK)
        status = boot->minimum(boot->self, alone ? l->rank : INT_MAX, &first);
    if (status == STORM_OK && first != INT_MAX && l->rank == 0)
        storm_log_write(l->log, STORM_LOG_WARN,
                        "ranks %d and %d%s cannot reach each other by TCP and "
                        "are not watched: the loss of a rank may go unnoticed; "
                        "name the network interface to use with "
                        "transport.interface",
                        (first - 1) / 2, first,
                        l->size > 2 ? ", perhaps others," : "");
    return status;
}

/* ---- watching -------------------------------------------------------------*/

/* Why a rank is lost. */
static const char *reason_of(const struct storm_lifeline *l,
                             char text[REASON_BYTES])
{
    if (l->silent)
        snprintf(text, REASON_BYTES,
                 "nothing has come from its machine for %d s "
                 "(transport.silence_s): the machine or the network to it has "
                 "failed",
                 l->silence_s);
    else
        snprintf(text, REASON_BYTES,
                 "its process was killed or has ended without an error "
                 "message, or it has failed while others waited for it");
    return text;
}

static void lose(struct storm_lifeline *l, int rank, bool silent)
{
    if (atomic_load_explicit(&l->lost, memory_order_relaxed) != NO_RANK)
        return;
    l->silent = silent;
    for (int i = 0; i < N_NEIGHBOURS; i++)
        if (l->near[i].rank != rank)
            send_message(l, l->near[i].fd,
                         silent ? MESSAGE_SILENT : MESSAGE_LOST, rank);
    char reason[REASON_BYTES];
    if (l->call.lost)
        l->call.lost(l->call.self, rank, reason_of(l, reason));
    /* Last: what the other thread logs from now on follows from the loss, and
     * whoever was called knows of it. E3, pairs with E4 in
     * storm_lifeline_check */
    atomic_store_explicit(&l->lost, rank, memory_order_release);
}

static void read_message(struct storm_lifeline *l, struct neighbour *near)
{
    struct message message;
    ssize_t n = recv(near->fd, &message, sizeof message, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    /* Messages are small and rare: they arrive whole. */
    bool whole = n == (ssize_t)sizeof message && message.secret == l->secret;
    bool silent = n < 0 && errno != ECONNRESET;
    if (whole &&
        (message.kind == MESSAGE_LOST || message.kind == MESSAGE_SILENT)) {
        lose(l, message.rank, message.kind == MESSAGE_SILENT);
        return;
    }
    close(near->fd);
    near->fd = -1;
    if (!whole || message.kind != MESSAGE_LEAVE)
        lose(l, near->rank, silent);
}

/* Must the thread end? Else this rank has failed. */
static bool lifeline_woken(struct storm_lifeline *l)
{
    uint64_t n;
    ssize_t got = read(l->wake, &n, sizeof n);
    /* E2, pairs with E1 in storm_lifeline_close */
    bool end = atomic_load_explicit(&l->end, memory_order_acquire);
    if (got == (ssize_t)sizeof n && !end)
        lose(l, l->rank, false);
    return end;
}

static void lifeline_wake(struct storm_lifeline *l)
{
    uint64_t one = 1;
    ssize_t n = write(l->wake, &one, sizeof one);
    (void)n; /* it fails only if the counter is full, hence readable */
}

static void *watch(void *self)
{
    struct storm_lifeline *l = self;
    struct pollfd fds[N_NEIGHBOURS + 1];
    for (;;) {
        for (int i = 0; i < N_NEIGHBOURS; i++)
            fds[i] = (struct pollfd){.fd = l->near[i].fd, .events = POLLIN};
        fds[N_NEIGHBOURS] = (struct pollfd){.fd = l->wake, .events = POLLIN};
        if (poll(fds, N_NEIGHBOURS + 1, -1) < 0)
            continue; /* interrupted */
        if (fds[N_NEIGHBOURS].revents != 0 && lifeline_woken(l))
            return NULL;
        for (int i = 0; i < N_NEIGHBOURS; i++)
            if (fds[i].revents != 0 && l->near[i].fd >= 0)
                read_message(l, &l->near[i]);
    }
}

/* Signals are for the threads of the program. */
static bool start_thread(struct storm_lifeline *l)
{
    sigset_t all, before;
    l->wake = eventfd(0, EFD_CLOEXEC);
    if (l->wake < 0)
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    l->watched = pthread_create(&l->thread, NULL, watch, l) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return l->watched;
}

/* A rank without the thread keeps its streams: its own end is noticed. */
static storm_status start_watching(struct storm_lifeline *l,
                                   const struct storm_boot *boot)
{
    int first = INT_MAX;
    bool deaf = !start_thread(l);
    storm_status status =
        boot->minimum(boot->self, deaf ? l->rank : INT_MAX, &first);
    if (status == STORM_OK && first != INT_MAX && l->rank == 0)
        storm_log_write(l->log, STORM_LOG_WARN,
                        "rank %d cannot start the thread that watches for lost "
                        "ranks: the loss of a rank may go unnoticed; raise the "
                        "limit on processes (ulimit -u) of that node",
                        first);
    return status;
}

void storm_lifeline_fail(struct storm_lifeline *l)
{
    if (l && l->watched)
        lifeline_wake(l);
    else if (l)
        lose(l, l->rank, false);
}

storm_status storm_lifeline_check(struct storm_lifeline *l)
{
    if (!l)
        return STORM_OK;
    /* E4, pairs with E3 in lose */
    int lost = atomic_load_explicit(&l->lost, memory_order_acquire);
    if (lost == NO_RANK)
        return STORM_OK;
    char reason[REASON_BYTES];
    if (!l->logged && l->rank == (lost == 0 ? 1 : 0))
        storm_log_write(l->log, STORM_LOG_ERROR,
                        "rank %d is lost: %s; all ranks stop", lost,
                        reason_of(l, reason));
    l->logged = true;
    return STORM_ERR_LOST;
}

/* ---- life -----------------------------------------------------------------*/

storm_status storm_lifeline_open(const struct storm_log *log,
                                 const struct storm_boot *boot,
                                 const struct storm_lifeline_params *params,
                                 struct storm_lifeline **lifeline_out)
{
    struct storm_lifeline *l = calloc(1, sizeof *l);
    storm_status status =
        storm_boot_agree(boot, l ? STORM_OK : STORM_ERR_NOMEM);
    if (status < 0) {
        free(l); /* nothing in it is open yet */
        return status;
    }
    *l = (struct storm_lifeline){.log = log,
                                 .rank = boot->rank,
                                 .size = boot->size,
                                 .secret = make_secret(),
                                 .silence_s = params->silence_s,
                                 .call = params->call,
                                 .lost = NO_RANK,
                                 .wake = -1};
    for (int i = 0; i < N_NEIGHBOURS; i++) {
        int rank = i == 0 ? (l->rank + 1) / 2 - 1 : 2 * l->rank + i;
        l->near[i] =
            (struct neighbour){.rank = rank < l->size ? rank : -1, .fd = -1};
    }
    struct card mine = {.machine = this_machine()};
    int listener = listen_anywhere(&mine.port);
    mine.address =
        listener < 0 ? 0 : storm_interface_address(params->interface);
    status = boot->broadcast(boot->self, &l->secret, sizeof l->secret);
    if (status == STORM_OK)
        status = join(l, boot, listener, &mine);
    if (listener >= 0)
        close(listener);
    if (status == STORM_OK)
        status = start_watching(l, boot);
    status = storm_boot_agree(boot, status);
    if (status < 0) {
        storm_lifeline_close(l);
        return status;
    }
    *lifeline_out = l;
    return STORM_OK;
}

void storm_lifeline_close(struct storm_lifeline *l)
{
    if (!l)
        return;
    if (l->watched) {
        /* E1, pairs with E2 in lifeline_woken: before the thread is woken */
        atomic_store_explicit(&l->end, true, memory_order_release);
        lifeline_wake(l);
        pthread_join(l->thread, NULL);
    }
    for (int i = 0; i < N_NEIGHBOURS; i++)
        if (atomic_load_explicit(&l->lost, memory_order_relaxed) == NO_RANK)
            send_message(l, l->near[i].fd, MESSAGE_LEAVE, l->rank);
    close_all(l);
    if (l->wake >= 0)
        close(l->wake);
    free(l);
}
