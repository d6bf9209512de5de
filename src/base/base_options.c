/* SPDX-License-Identifier: BSD-3-Clause */
#include <storm/options.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm_backends.h>

#include "base/port.h"
#include "base/text.h"

/* The flag is the last part of the key with '-' for '_', the variable the same
 * in capitals. Written out, so that a search for any of the three finds it
 * here; tests/base/options_table.c checks the rule. */
static const struct storm_option option_table[] = {
    {
        .size = sizeof(struct storm_option),
        .key = "seed",
        .flag = "--seed",
        .env = "STORM_SEED",
        .type = STORM_OPTION_INT,
        .default_value = "1",
        .min = 0,
        .max = 1e18,
        .help = "seed of all random numbers of the run",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.device",
        .flag = "--device",
        .env = "STORM_DEVICE",
        .type = STORM_OPTION_WORD,
        .default_value = "auto",
        .choices = "auto|none|gpu|emulated",
        .help = "device that computes physics: auto takes a GPU if there is "
                "one; emulated runs kernels for GPUs on the processor, for "
                "tests",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.device_memory_mb",
        .flag = "--device-memory-mb",
        .env = "STORM_DEVICE_MEMORY_MB",
        .type = STORM_OPTION_INT,
        .default_value = "0",
        .min = 0,
        .max = 1e9,
        .help = "max memory of the device for one rank, in MiB; 0 sets no "
                "limit",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.backend",
        .flag = "--backend",
        .env = "STORM_BACKEND",
        .type = STORM_OPTION_WORD,
        .default_value = "auto",
        .choices = STORM_BACKEND_WORDS,
        .help =
            "backend that carries packets between ranks; auto takes the best "
            "that works here",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.provider",
        .flag = "--provider",
        .env = "STORM_PROVIDER",
        .type = STORM_OPTION_TEXT,
        .default_value = "",
        .help = "libfabric's provider for the backend ofi, such as "
                "tcp;ofi_rxm; the best that works unless set",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.ibv_device",
        .flag = "--ibv-device",
        .env = "STORM_IBV_DEVICE",
        .type = STORM_OPTION_TEXT,
        .default_value = "",
        .help = "RDMA device of the backend ibv, as ibv_devices names it; the "
                "first with an active port unless set",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.ibv_port",
        .flag = "--ibv-port",
        .env = "STORM_IBV_PORT",
        .type = STORM_OPTION_INT,
        .default_value = "0",
        .min = 0,
        .max = 254,
        .help = "port of that device, from 1; 0 takes the first active one",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.ibv_gid_index",
        .flag = "--ibv-gid-index",
        .env = "STORM_IBV_GID_INDEX",
        .type = STORM_OPTION_INT,
        .default_value = "-1",
        .min = -1,
        .max = 255,
        .help = "address (gid) of that port; -1 takes 0 on InfiniBand and the "
                "first of RoCE version 2 over IPv4 on Ethernet",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.ibv_pkey_index",
        .flag = "--ibv-pkey-index",
        .env = "STORM_IBV_PKEY_INDEX",
        .type = STORM_OPTION_INT,
        .default_value = "0",
        .min = 0,
        .max = 65535,
        .help = "partition of that port, by its place in the port's table of "
                "partition keys; 0 is the default partition",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.ibv_service_level",
        .flag = "--ibv-service-level",
        .env = "STORM_IBV_SERVICE_LEVEL",
        .type = STORM_OPTION_INT,
        .default_value = "0",
        .min = 0,
        .max = 15,
        .help = "service level of all connections of the backend ibv; on "
                "Ethernet their priority (up to 7)",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.shm",
        .flag = "--shm",
        .env = "STORM_SHM",
        .type = STORM_OPTION_BOOL,
        .default_value = "true",
        .help =
            "use shared memory between ranks of the same node, whatever the "
            "backend between nodes",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.ranks_per_node",
        .flag = "--ranks-per-node",
        .env = "STORM_RANKS_PER_NODE",
        .type = STORM_OPTION_INT,
        .default_value = "0",
        .min = 0,
        .max = 1e9,
        .help = "treat every N ranks of a node as a node, to test hybrid runs; "
                "0 takes the real nodes",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.lifeline",
        .flag = "--lifeline",
        .env = "STORM_LIFELINE",
        .type = STORM_OPTION_BOOL,
        .default_value = "true",
        .help = "detect lost ranks by TCP streams between pairs of them",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.silence_s",
        .flag = "--silence-s",
        .env = "STORM_SILENCE_S",
        .type = STORM_OPTION_INT,
        .default_value = "30",
        .min = 1,
        .max = 3600,
        .help =
            "seconds without a sign of life from another node's system after "
            "which its ranks are lost; a process that ends is lost at once",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.interface",
        .flag = "--interface",
        .env = "STORM_INTERFACE",
        .type = STORM_OPTION_TEXT,
        .default_value = "",
        .help =
            "network interface of those streams, such as eth0; the first that "
            "is up and running and not a bridge unless set",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.batch",
        .flag = "--batch",
        .env = "STORM_BATCH",
        .type = STORM_OPTION_INT,
        .default_value = "64",
        .min = 1,
        .max = 1e6,
        .help = "records published at once; adapts to traffic unless set",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.ring_slots",
        .flag = "--ring-slots",
        .env = "STORM_RING_SLOTS",
        .type = STORM_OPTION_INT,
        .default_value = "1024",
        .min = 1,
        .max = 16777216,
        .help = "records that fit into a new ring, rounded up to a power of "
                "two, at least 8; rings grow when full",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.ring_memory_mb",
        .flag = "--ring-memory-mb",
        .env = "STORM_RING_MEMORY_MB",
        .type = STORM_OPTION_INT,
        .default_value = "0",
        .min = 0,
        .max = 1e9,
        .help =
            "max memory for the rings into one rank, in MiB; 0 sets no limit",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.rma_window_mb",
        .flag = "--rma-window-mb",
        .env = "STORM_RMA_WINDOW_MB",
        .type = STORM_OPTION_INT,
        .default_value = "64",
        .min = 0,
        .max = 1e6,
        .help = "backend mpirma: memory for rings that each rank allocates at "
                "the start, in MiB; rings beyond it are slower",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.protocol",
        .flag = "--protocol",
        .env = "STORM_PROTOCOL",
        .type = STORM_OPTION_WORD,
        .default_value = "auto",
        .choices = "auto|fast|paper",
        .help =
            "protocol of rings: fast (auto) needs no round trip, paper is the "
            "published algorithm",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.growth",
        .flag = "--growth",
        .env = "STORM_GROWTH",
        .type = STORM_OPTION_WORD,
        .default_value = "async",
        .choices = "async|sync",
        .help =
            "while a full ring is replaced by a larger one: continue (async) "
            "or wait for it (sync)",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.growth_factor",
        .flag = "--growth-factor",
        .env = "STORM_GROWTH_FACTOR",
        .type = STORM_OPTION_REAL,
        .default_value = "2",
        .min = 1.1,
        .max = 64,
        .help = "growth factor of a full ring, which is at least doubled, to a "
                "power of two",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.control_every",
        .flag = "--control-every",
        .env = "STORM_CONTROL_EVERY",
        .type = STORM_OPTION_INT,
        .default_value = "64",
        .min = 1,
        .max = 1e9,
        .help =
            "loop iterations between two polls for control messages, or half a "
            "millisecond if that is shorter; a rank without work polls when it "
            "wakes up",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.connect",
        .flag = "--connect",
        .env = "STORM_CONNECT",
        .type = STORM_OPTION_WORD,
        .default_value = "lazy",
        .choices = "lazy|neighbours",
        .help =
            "create rings when first needed (lazy), or before the first step "
            "for all ranks that own a neighbouring cell (neighbours), as after "
            "every new partition",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.max_events",
        .flag = "--max-events",
        .env = "STORM_MAX_EVENTS",
        .type = STORM_OPTION_INT,
        .default_value = "10000000",
        .min = 1,
        .max = 1e18,
        .help =
            "max events of one packet in one step; more end the run with an "
            "error",
    },
    {
        .size = sizeof(struct storm_option),
        .key = "transport.statistics",
        .flag = "--statistics",
        .env = "STORM_STATISTICS",
        .type = STORM_OPTION_BOOL,
        .default_value = "true",
        .help = "measure the time of each part of the transport loop",
    },
};

enum {
    N_OPTIONS = sizeof option_table / sizeof option_table[0],
    OPTION_TEXT_BYTES = 32 /* numbers in full; words are checked when set */
};

/* Value of an option. Text has one form: 1e6 becomes 1000000. */
struct option_value {
    bool is_set;
    bool boolean;
    int64_t integer;
    double real;
    char text[OPTION_TEXT_BYTES];
};

struct storm_options {
    struct option_value values[N_OPTIONS];
};

/* ---- table ----------------------------------------------------------------*/

const struct storm_option *storm_option_at(size_t i)
{
    return i < N_OPTIONS ? &option_table[i] : NULL;
}

const struct storm_option *storm_option_find(const char *name)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const struct storm_option *row = &option_table[i];
        if (strcmp(name, row->key) == 0 || strcmp(name, row->flag) == 0 ||
            strcmp(name, row->env) == 0)
            return row;
    }
    return NULL;
}

/* The name a user may have meant, or NULL. A key also matches by its last
 * part. */
static const char *option_nearest(const char *name)
{
    size_t best = 1 + strlen(name) / 3;
    const char *nearest = NULL;
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const struct storm_option *row = &option_table[i];
        const char *dot = strrchr(row->key, '.');
        const struct {
            const char *like, *answer;
        } names[] = {
            {row->key, row->key},
            {dot != NULL ? dot + 1 : row->key, row->key},
            {row->flag, row->flag},
            {row->env, row->env},
        };
        for (size_t j = 0; j < sizeof names / sizeof names[0]; j++) {
            size_t d = storm_text_distance(name, names[j].like, best);
            if (d < best) {
                best = d;
                nearest = names[j].answer;
            }
        }
    }
    return nearest;
}

/* ---- reading --------------------------------------------------------------*/

/* A text buffer, which may have no room. */
struct option_problem {
    char *text;
    size_t size, length;
};

static void option_print(struct option_problem *problem, const char *format,
                         ...) STORM_PRINTF(2, 3);

static void option_print(struct option_problem *problem, const char *format,
                         ...)
{
    if (problem->text == NULL || problem->length >= problem->size)
        return;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(problem->text + problem->length,
                      problem->size - problem->length, format, args);
    va_end(args);
    problem->length += n > 0 ? (size_t)n : 0;
}

static bool option_read_word(const char *choices, const char *text,
                             char word_out[OPTION_TEXT_BYTES])
{
    size_t length = strlen(text);
    while (*choices != '\0') {
        size_t n = strcspn(choices, "|");
        if (n == length && n < OPTION_TEXT_BYTES &&
            memcmp(choices, text, n) == 0) {
            memcpy(word_out, text, n + 1);
            return true;
        }
        choices += n + (choices[n] == '|');
    }
    return false;
}

/* Is `text` a value this row takes? */
static bool option_read(const struct storm_option *row, const char *text,
                        struct option_value *value_out)
{
    struct option_value v = {0};
    switch (row->type) {
    case STORM_OPTION_BOOL:
        if (!storm_text_to_bool(text, &v.boolean))
            return false;
        snprintf(v.text, sizeof v.text, "%s", v.boolean ? "true" : "false");
        break;
    case STORM_OPTION_INT:
        if (!storm_text_to_int(text, &v.integer) ||
            v.integer < (int64_t)row->min || v.integer > (int64_t)row->max)
            return false;
        snprintf(v.text, sizeof v.text, "%" PRId64, v.integer);
        break;
    case STORM_OPTION_REAL:
        if (!storm_text_to_real(text, &v.real) ||
            !(v.real >= row->min && v.real <= row->max))
            return false;
        storm_text_from_real(v.real, v.text);
        break;
    case STORM_OPTION_WORD:
        if (!option_read_word(row->choices, text, v.text))
            return false;
        break;
    case STORM_OPTION_TEXT:
        if (strlen(text) >= sizeof v.text)
            return false;
        snprintf(v.text, sizeof v.text, "%s", text);
        break;
    }
    *value_out = v;
    return true;
}

static void option_print_expected(struct option_problem *problem,
                                  const struct storm_option *row)
{
    char low[STORM_TEXT_REAL_BYTES], high[STORM_TEXT_REAL_BYTES];
    switch (row->type) {
    case STORM_OPTION_BOOL:
        option_print(problem, "true or false");
        break;
    case STORM_OPTION_INT:
        option_print(problem, "an integer from %" PRId64 " to %" PRId64,
                     (int64_t)row->min, (int64_t)row->max);
        break;
    case STORM_OPTION_REAL:
        storm_text_from_real(row->min, low);
        storm_text_from_real(row->max, high);
        option_print(problem, "a number from %s to %s", low, high);
        break;
    case STORM_OPTION_WORD:
        option_print(problem, "one of");
        for (const char *c = row->choices; *c != '\0';) {
            int n = (int)strcspn(c, "|");
            option_print(problem, " %.*s%s", n, c, c[n] == '|' ? "," : "");
            c += n + (c[n] == '|');
        }
        break;
    case STORM_OPTION_TEXT:
        option_print(problem, "at most %d characters", OPTION_TEXT_BYTES - 1);
        break;
    }
}

/* ---- object ---------------------------------------------------------------*/

storm_status storm_options_create(struct storm_options **options_out)
{
    struct storm_options *options = calloc(1, sizeof *options);
    if (options == NULL)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const struct storm_option *row = &option_table[i];
        bool good = option_read(row, row->default_value, &options->values[i]);
        STORM_ASSERT(good);
        (void)good;
    }
    *options_out = options;
    return STORM_OK;
}

void storm_options_destroy(struct storm_options *options)
{
    free(options);
}

/* What the user called it goes into the message if it is not the key. */
static void option_print_name(struct option_problem *problem,
                              const struct storm_option *row, const char *name)
{
    if (strcmp(name, row->key) == 0)
        option_print(problem, "%s", row->key);
    else
        option_print(problem, "%s (%s)", name, row->key);
}

storm_status storm_options_set(struct storm_options *options, const char *name,
                               const char *value, char *problem,
                               size_t problem_size)
{
    struct option_problem out = {.text = problem, .size = problem_size};
    const struct storm_option *row = storm_option_find(name);
    if (row == NULL) {
        const char *nearest = option_nearest(name);
        option_print(&out, "there is no option '%s'", name);
        if (nearest != NULL)
            option_print(&out, "; did you mean '%s'?", nearest);
        return STORM_ERR_ARG;
    }
    struct option_value read;
    if (value == NULL || !option_read(row, value, &read)) {
        option_print_name(&out, row, name);
        option_print(&out, ": expected ");
        option_print_expected(&out, row);
        if (value == NULL)
            option_print(&out, ", got nothing");
        else
            option_print(&out, ", got '%s'", value);
        return STORM_ERR_ARG;
    }
    read.is_set = true;
    options->values[row - option_table] = read;
    return STORM_OK;
}

storm_status storm_options_set_from_env(struct storm_options *options,
                                        char *problem, size_t problem_size)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const char *value = getenv(option_table[i].env);
        if (value == NULL)
            continue;
        storm_status status = storm_options_set(options, option_table[i].env,
                                                value, problem, problem_size);
        if (status < 0)
            return status;
    }
    return STORM_OK;
}

/* NULL, and an assertion in debug builds, if there is no such key. */
static const struct option_value *
option_value(const struct storm_options *options, const char *key)
{
    const struct storm_option *row = storm_option_find(key);
    STORM_ASSERT(row != NULL);
    return row != NULL ? &options->values[row - option_table] : NULL;
}

bool storm_options_is_set(const struct storm_options *options, const char *key)
{
    const struct option_value *value = option_value(options, key);
    return value != NULL && value->is_set;
}

bool storm_options_bool(const struct storm_options *options, const char *key)
{
    const struct option_value *value = option_value(options, key);
    return value != NULL && value->boolean;
}

int64_t storm_options_int(const struct storm_options *options, const char *key)
{
    const struct option_value *value = option_value(options, key);
    return value != NULL ? value->integer : 0;
}

double storm_options_real(const struct storm_options *options, const char *key)
{
    const struct option_value *value = option_value(options, key);
    return value != NULL ? value->real : 0.0;
}

const char *storm_options_text(const struct storm_options *options,
                               const char *key)
{
    const struct option_value *value = option_value(options, key);
    return value != NULL ? value->text : "";
}
