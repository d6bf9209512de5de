/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/sim/sim_time.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>
#include <simgrid/zone.h>

#include "base/clock.h"
#include "base/idle.h"
#include "base/port.h"
#include "base/sim/sim_timer.h"

struct storm_sim_rank {
    double ahead_s;   /* SIMTIME-1 */
    bool woken;       /* since its last wait */
    bool waits;       /* for the semaphore */
    uint32_t n_waits; /* an alarm is for one of them */
    uint32_t n_holds; /* SIMTIME-4 */
    bool gone;        /* its actor has ended */
    sg_sem_t sem;
    struct storm_sim_node *node;
    void *queue;
    struct storm_sim_costs costs;
    struct storm_sim_counts counts;
};

/* The end of a wait, if nothing wakes it before. */
struct sim_alarm {
    struct storm_sim_rank *rank;
    uint32_t n_waits;
};

/* ---- costs ----------------------------------------------------------------*/

static double cost_of(const char *name, double otherwise)
{
    const char *text = sg_zone_get_property_value(sg_zone_get_root(), name);
    return text ? strtod(text, NULL) : otherwise;
}

/* Without properties: an adapter of 100 Gbit/s, as of HDR100 InfiniBand. */
static struct storm_sim_costs costs_of_platform(void)
{
    return (struct storm_sim_costs){
        .latency_s = cost_of("storm/latency_s", 1.3e-6),
        .bandwidth = cost_of("storm/bandwidth", 12.5e9),
        .message_s = cost_of("storm/message_s", 5e-9),
        .near_latency_s = cost_of("storm/near_latency_s", 0.5e-6),
        .near_bandwidth = cost_of("storm/near_bandwidth", 8e9),
        .post_s = cost_of("storm/post_s", 0.15e-6),
        .poll_s = cost_of("storm/poll_s", 0.1e-6),
        .atomic_s = cost_of("storm/atomic_s", 20e-9),
        .send_s = cost_of("storm/send_s", 0.4e-6),
        .receive_s = cost_of("storm/receive_s", 0.3e-6),
        .test_s = cost_of("storm/test_s", 0.1e-6),
        .copy_bandwidth = cost_of("storm/copy_bandwidth", 8e9),
        .eager_bytes = cost_of("storm/eager_bytes", 8192),
        .slow_node = cost_of("storm/slow_node", -1),
        .slow_factor = cost_of("storm/slow_factor", 1),
    };
}

/* ---- ranks ----------------------------------------------------------------*/

/* SIMTIME-4 */
static void rank_free(struct storm_sim_rank *rank)
{
    if (!rank->gone || rank->n_holds > 0)
        return;
    sg_sem_destroy(rank->sem);
    free(rank->queue);
    free(rank);
}

void storm_sim_hold(struct storm_sim_rank *rank)
{
    rank->n_holds++;
}

void storm_sim_release(struct storm_sim_rank *rank)
{
    rank->n_holds--;
    rank_free(rank);
}

static void rank_forget(int failed, void *data)
{
    struct storm_sim_rank *rank = data;
    (void)failed;
    rank->gone = true;
    rank_free(rank);
}

/* That of the host, which is called node-I (tools/lab/platform). */
static struct storm_sim_node *node_of_self(const struct storm_sim_costs *costs)
{
    sg_host_t host = sg_host_self();
    struct storm_sim_node *node = sg_host_get_data(host);
    if (node)
        return node;
    node = calloc(1, sizeof *node);
    if (!node)
        abort();
    const char *number = strrchr(sg_host_get_name(host), '-');
    bool slow = number && strtod(number + 1, NULL) == costs->slow_node;
    node->slowness = slow ? costs->slow_factor : 1;
    sg_host_set_data(host, node);
    return node;
}

struct storm_sim_rank *storm_sim_self(void)
{
    struct storm_sim_rank *rank = sg_actor_self_get_data();
    if (STORM_LIKELY(rank != NULL))
        return rank;
    rank = calloc(1, sizeof *rank);
    if (!rank)
        abort(); /* a simulator without memory cannot go on */
    rank->sem = sg_sem_init(0);
    rank->costs = costs_of_platform();
    rank->node = node_of_self(&rank->costs);
    sg_actor_self_set_data(rank);
    sg_actor_on_exit(rank_forget, rank);
    return rank;
}

const struct storm_sim_costs *storm_sim_costs(void)
{
    return &storm_sim_self()->costs;
}

struct storm_sim_counts *storm_sim_counts(void)
{
    return &storm_sim_self()->counts;
}

const struct storm_sim_costs *
storm_sim_costs_of(const struct storm_sim_rank *rank)
{
    return &rank->costs;
}

struct storm_sim_node *storm_sim_node_of(const struct storm_sim_rank *rank)
{
    return rank->node;
}

/* smpirun numbers its actors from 1. */
int storm_sim_world_rank(void)
{
    return (int)sg_actor_self_get_pid() - 1;
}

struct storm_sim_rank *storm_sim_rank_at(int world_rank)
{
    return sg_actor_get_data(sg_actor_by_pid(world_rank + 1));
}

void **storm_sim_queue(struct storm_sim_rank *rank)
{
    return &rank->queue;
}

/* ---- time -----------------------------------------------------------------*/

double storm_sim_now(void)
{
    return simgrid_get_clock() + storm_sim_self()->ahead_s;
}

double storm_sim_date(void)
{
    return simgrid_get_clock();
}

void storm_sim_at(double date_s, void (*action)(void *data), void *data)
{
    double now = simgrid_get_clock();
    storm_sim_timer(date_s > now ? date_s : now, action, data);
}

void storm_sim_wake(struct storm_sim_rank *rank)
{
    rank->woken = true;
    if (!rank->waits)
        return;
    rank->waits = false;
    sg_sem_release(rank->sem);
}

static void ring_alarm(void *data)
{
    struct sim_alarm alarm = *(struct sim_alarm *)data;
    free(data);
    if (alarm.rank->waits && alarm.rank->n_waits == alarm.n_waits) {
        alarm.rank->waits = false;
        sg_sem_release(alarm.rank->sem);
    }
    storm_sim_release(alarm.rank);
}

/* Others run until then; sooner if `until_woken` and something wakes this. */
static void sleep_for(struct storm_sim_rank *rank, double seconds,
                      bool until_woken)
{
    double until = simgrid_get_clock() + seconds;
    if (!until_woken) {
        sg_actor_sleep_for(seconds);
        return;
    }
    struct sim_alarm *alarm = malloc(sizeof *alarm);
    if (!alarm)
        abort();
    *alarm = (struct sim_alarm){rank, ++rank->n_waits};
    rank->waits = true;
    storm_sim_hold(rank);
    storm_sim_timer(until, ring_alarm, alarm);
    sg_sem_acquire(rank->sem);
}

void storm_sim_meet(void)
{
    struct storm_sim_rank *rank = storm_sim_self();
    double ahead = rank->ahead_s;
    rank->ahead_s = 0;
    if (ahead > 0)
        sleep_for(rank, ahead, false);
}

void storm_sim_spend(double seconds)
{
    struct storm_sim_rank *rank = storm_sim_self();
    rank->ahead_s += seconds;
    if (rank->ahead_s >= STORM_SIM_AHEAD_S)
        storm_sim_meet();
}

void storm_sim_wait(double seconds)
{
    struct storm_sim_rank *rank = storm_sim_self();
    double ahead = rank->ahead_s;
    rank->ahead_s = 0;
    if (rank->woken) /* there is something already: no more than its own time */
        seconds = 0;
    if (ahead > 0)
        sleep_for(rank, ahead, false);
    if (seconds > 0 && !rank->woken)
        sleep_for(rank, seconds, true);
    rank->woken = false;
}

/* ---- idle.h ---------------------------------------------------------------*/

/* The longest nap; what arrives ends it. */
static const double max_nap_s = 20e-6;

void storm_idle(uint64_t n_empty)
{
    double poll = storm_sim_costs()->poll_s;
    double nap = poll * (1.0 + (double)n_empty);
    if (nap < STORM_SIM_MIN_S) /* polls may cost nothing */
        nap = STORM_SIM_MIN_S;
    storm_sim_wait(nap < max_nap_s ? nap : max_nap_s);
}

/* Each rank has a core of its own. */
int storm_idle_cores(const uint64_t set[STORM_IDLE_WORDS])
{
    (void)set;
    return 1 << 20;
}
