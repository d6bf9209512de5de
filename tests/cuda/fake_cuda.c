/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A libcuda.so.1 without a GPU: what device/cuda calls of the driver, on this
 * processor. A kernel is the function of that name in the program, by the
 * program's table of symbols; the size of its arguments is read from the PTX.
 * As with the driver, what is put into streams happens later: when something
 * waits for it, or some at each query.
 *
 *   STORM_FAKE_CUDA_DEVICES=N    GPUs; default 1
 *   STORM_FAKE_CUDA_SM=80        their architecture; default 90
 *   STORM_FAKE_CUDA_FAIL=cuLaunchKernel_3_700
 *                                the third call returns 700; then so do all
 *                                others, if it is a code that a GPU is lost by
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define API __attribute__((visibility("default"))) int

enum {
    BAD_VALUE = 1,
    NO_MEMORY = 2,
    NO_DEVICE = 100,
    NOT_FOUND = 500,
    NOT_READY = 600,
    MAX_QUEUE = 256,
    MAX_BLOCKS = 4096,
    ARGS_BYTES = 4096,
    MEMORY_BYTES = 1 << 30
};

typedef void kernel_fn(const void *args, uint64_t i);

struct function {
    kernel_fn *call;
    size_t args_bytes;
};

struct event {
    uint64_t asked, done; /* records */
};

enum kind { RUN, RECORD, WAIT, COPY, SET };

struct operation {
    enum kind kind;
    struct event *event;
    uint64_t turn; /* of the event */
    unsigned char *to;
    const unsigned char *from;
    size_t bytes;
    const struct function *function;
    uint64_t n_threads, n_run;
    _Alignas(16) unsigned char args[ARGS_BYTES];
};

struct stream {
    struct operation *queue[MAX_QUEUE];
    size_t n;
};

static struct {
    struct stream *streams[16];
    size_t n_streams, used;
    struct {
        unsigned char *at;
        size_t bytes;
    } blocks[MAX_BLOCKS];
    size_t n_blocks, n_events, n_pins, n_contexts;
    uint64_t dice;
    int n_calls; /* of the one that fails */
    int broken;  /* the code of all calls from now on */
} fake;

/* For tests: a good driver again. What was made is to be destroyed before. */
__attribute__((visibility("default"))) void fake_cuda_repair(void);
void fake_cuda_repair(void)
{
    fake.n_calls = fake.broken = 0;
}

/* What has been made and not destroyed. */
__attribute__((visibility("default"))) size_t fake_cuda_left(void);
size_t fake_cuda_left(void)
{
    return fake.n_streams + fake.n_blocks + fake.n_events + fake.n_pins +
           fake.n_contexts;
}

/* ---- failures ----------------------------------------------------------- */

/* The code that this call must return instead; 0: none. */
static int planted(const char *call)
{
    const char *plan = getenv("STORM_FAKE_CUDA_FAIL");
    size_t n = strlen(call);
    int at = 0, code = 0;
    if (fake.broken)
        return fake.broken;
    if (!plan || strncmp(plan, call, n) != 0 ||
        sscanf(plan + n, "_%d_%d", &at, &code) != 2 || ++fake.n_calls != at)
        return 0;
    if (code >= 300 && code != 304 && code != 500 && code != 712 && code != 801)
        fake.broken = code;
    return code;
}

#define MAY_FAIL                       \
    do {                               \
        int code_ = planted(__func__); \
        if (code_)                     \
            return code_;              \
    } while (0)

/* ---- streams ------------------------------------------------------------ */

static uint64_t roll(uint64_t n)
{
    fake.dice = fake.dice * 6364136223846793005u + 1442695040888963407u;
    return (fake.dice >> 33) % n;
}

/* Some threads, in strides; true: all have run. */
static int run_some(struct operation *o)
{
    uint64_t end = o->n_run + 1 + roll(o->n_threads);
    for (; o->n_run < end && o->n_run < o->n_threads; o->n_run++) {
        uint64_t i = o->n_threads - 1 - o->n_run;
        o->function->call(o->args, i);
    }
    return o->n_run == o->n_threads;
}

/* Executes the first operation as far as possible; true: it is done. */
static int step(struct operation *o)
{
    switch (o->kind) {
    case RUN:
        return run_some(o);
    case RECORD:
        o->event->done = o->turn;
        return 1;
    case WAIT:
        return o->event->done >= o->turn;
    case COPY:
        memcpy(o->to, o->from, o->bytes);
        return 1;
    case SET:
        memset(o->to, 0, o->bytes);
        return 1;
    }
    return 1;
}

/* Progress in a stream chosen at random. */
static void advance(void)
{
    struct stream *s = fake.streams[roll(fake.n_streams)];
    if (s->n == 0 || !step(s->queue[0]))
        return;
    free(s->queue[0]);
    s->n--;
    memmove(s->queue, s->queue + 1, s->n * sizeof *s->queue);
}

static struct operation *enqueue(void *stream, enum kind kind)
{
    struct stream *s = stream;
    while (s->n == MAX_QUEUE)
        advance();
    struct operation *o = calloc(1, sizeof *o);
    if (!o)
        abort();
    o->kind = kind;
    s->queue[s->n++] = o;
    return o;
}

API cuStreamCreate(void **stream, unsigned flags)
{
    MAY_FAIL;
    if (flags != 1 || fake.n_streams == 16)
        return BAD_VALUE;
    *stream = fake.streams[fake.n_streams++] = calloc(1, sizeof(struct stream));
    return 0;
}

API cuStreamDestroy_v2(void *stream)
{
    struct stream *s = stream;
    for (size_t i = 0; i < s->n; i++)
        free(s->queue[i]);
    for (size_t i = 0; i < fake.n_streams; i++)
        if (fake.streams[i] == s)
            fake.streams[i] = fake.streams[--fake.n_streams];
    free(s);
    return 0;
}

API cuStreamSynchronize(void *stream)
{
    MAY_FAIL;
    struct stream *s = stream;
    while (s->n > 0)
        advance();
    return 0;
}

API cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    MAY_FAIL;
    (void)flags;
    struct operation *o = enqueue(stream, WAIT);
    o->event = event;
    o->turn = o->event->asked;
    return 0;
}

API cuEventCreate(void **event, unsigned flags)
{
    MAY_FAIL;
    (void)flags;
    *event = calloc(1, sizeof(struct event));
    fake.n_events++;
    return 0;
}

API cuEventDestroy_v2(void *event)
{
    free(event);
    fake.n_events--;
    return 0;
}

API cuEventRecord(void *event, void *stream)
{
    MAY_FAIL;
    struct operation *o = enqueue(stream, RECORD);
    o->event = event;
    o->turn = ++o->event->asked;
    return 0;
}

API cuEventQuery(void *event)
{
    MAY_FAIL;
    const struct event *e = event;
    if (fake.n_streams > 0)
        advance();
    return e->done == e->asked ? 0 : NOT_READY;
}

API cuEventSynchronize(void *event)
{
    MAY_FAIL;
    const struct event *e = event;
    while (e->done < e->asked)
        advance();
    return 0;
}

API cuEventElapsedTime(float *milliseconds, void *from, void *to)
{
    MAY_FAIL;
    const struct event *a = from, *b = to;
    if (a->done < a->asked || b->done < b->asked)
        return NOT_READY;
    *milliseconds = 0.25f;
    return 0;
}

/* ---- memory ------------------------------------------------------------- */

API cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    MAY_FAIL;
    if (fake.n_blocks == MAX_BLOCKS || bytes > MEMORY_BYTES - fake.used)
        return NO_MEMORY;
    unsigned char *at = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!at)
        return NO_MEMORY;
    memset(at, 0xff, bytes);
    fake.blocks[fake.n_blocks].at = at;
    fake.blocks[fake.n_blocks++].bytes = bytes;
    fake.used += bytes;
    *address = (uintptr_t)at;
    return 0;
}

static int in_block(uint64_t address, size_t bytes)
{
    for (size_t i = 0; i < fake.n_blocks; i++) {
        uint64_t at = (uintptr_t)fake.blocks[i].at;
        if (address >= at && address + bytes <= at + fake.blocks[i].bytes)
            return 1;
    }
    return 0;
}

API cuMemFree_v2(uint64_t address)
{
    for (size_t i = 0; i < fake.n_blocks; i++)
        if ((uintptr_t)fake.blocks[i].at == address) {
            fake.used -= fake.blocks[i].bytes;
            free(fake.blocks[i].at);
            fake.blocks[i] = fake.blocks[--fake.n_blocks];
            return 0;
        }
    return BAD_VALUE;
}

API cuMemGetInfo_v2(size_t *left, size_t *total)
{
    MAY_FAIL;
    *left = MEMORY_BYTES - fake.used;
    *total = MEMORY_BYTES;
    return 0;
}

API cuMemHostRegister_v2(void *host, size_t bytes, unsigned flags)
{
    MAY_FAIL;
    if (!host || bytes == 0 || flags != 3)
        return BAD_VALUE;
    fake.n_pins++;
    return 0;
}

API cuMemHostUnregister(void *host)
{
    if (!host)
        return BAD_VALUE;
    fake.n_pins--;
    return 0;
}

API cuMemHostGetDevicePointer_v2(uint64_t *address, void *host, unsigned flags)
{
    MAY_FAIL;
    (void)flags;
    *address = (uintptr_t)host;
    return 0;
}

API cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes,
                         void *stream)
{
    MAY_FAIL;
    if (!in_block(to, bytes))
        return BAD_VALUE;
    struct operation *o = enqueue(stream, COPY);
    o->to = (void *)(uintptr_t)to;
    o->from = from;
    o->bytes = bytes;
    return 0;
}

API cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
    MAY_FAIL;
    if (!in_block(from, bytes))
        return BAD_VALUE;
    struct operation *o = enqueue(stream, COPY);
    o->to = to;
    o->from = (void *)(uintptr_t)from;
    o->bytes = bytes;
    return 0;
}

API cuMemsetD8Async(uint64_t to, unsigned char byte, size_t n, void *stream)
{
    MAY_FAIL;
    if (byte != 0 || !in_block(to, n))
        return BAD_VALUE;
    struct operation *o = enqueue(stream, SET);
    o->to = (void *)(uintptr_t)to;
    o->bytes = n;
    return 0;
}

/* ---- kernels ------------------------------------------------------------ */

API cuModuleLoadDataEx(void **module, const void *image, unsigned n_options,
                       const int *options, void **values)
{
    int code = planted(__func__);
    for (unsigned i = 0; code && i + 1 < n_options; i++)
        if (options[i] == 5 && options[i + 1] == 6)
            snprintf(values[i], (size_t)(uintptr_t)values[i + 1],
                     "fake, line 1; error: planted\n");
    *module = (void *)(uintptr_t)image;
    return code;
}

API cuModuleUnload(void *module)
{
    return module ? 0 : BAD_VALUE;
}

static int first_object(struct dl_phdr_info *info, size_t bytes, void *base)
{
    (void)bytes;
    *(ElfW(Addr) *)base = info->dlpi_addr;
    return 1; /* the program comes first */
}

/* A function of the program, hidden or not; NULL: there is none. */
static kernel_fn *function_named(const char *name)
{
    ElfW(Addr) base = 0, at = 0;
    struct stat about;
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about) != 0)
        abort();
    size_t bytes = (size_t)about.st_size;
    const unsigned char *image =
        mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (image == MAP_FAILED)
        abort();
    const ElfW(Ehdr) *head = (const void *)image;
    const ElfW(Shdr) *sections = (const void *)(image + head->e_shoff);
    for (int i = 0; i < head->e_shnum; i++) {
        const ElfW(Shdr) *s = &sections[i];
        if (s->sh_type != SHT_SYMTAB)
            continue;
        const ElfW(Sym) *symbols = (const void *)(image + s->sh_offset);
        const char *names =
            (const char *)image + sections[s->sh_link].sh_offset;
        for (size_t k = 0; k < s->sh_size / sizeof *symbols; k++)
            if (ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC &&
                strcmp(names + symbols[k].st_name, name) == 0)
                at = symbols[k].st_value;
    }
    munmap((void *)(uintptr_t)image, bytes);
    dl_iterate_phdr(first_object, &base);
    uintptr_t address = at > 0 ? base + at : 0;
    kernel_fn *kernel;
    memcpy(&kernel, &address, sizeof kernel);
    return kernel;
}

/* One for each kernel; they live as long as the process. */
static struct function *function_for(kernel_fn *call)
{
    static struct function functions[256];
    size_t i = 0;
    while (functions[i].call && functions[i].call != call)
        if (++i == sizeof functions / sizeof *functions)
            abort();
    functions[i].call = call;
    return &functions[i];
}

API cuModuleGetFunction(void **function, void *module, const char *name)
{
    MAY_FAIL;
    char entry[160], parameter[160];
    snprintf(entry, sizeof entry, ".entry %s(", name);
    snprintf(parameter, sizeof parameter, " %s_param_0[", name);
    const char *at = strstr(module, entry);
    const char *size = at ? strstr(at, parameter) : NULL;
    kernel_fn *kernel = function_named(name);
    if (!size || !kernel)
        return NOT_FOUND;
    struct function *f = function_for(kernel);
    f->args_bytes = strtoul(size + strlen(parameter), NULL, 10);
    *function = f;
    return f->args_bytes <= ARGS_BYTES ? 0 : BAD_VALUE;
}

API cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y,
                   unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared_bytes, void *stream,
                   void **arguments, void **extra)
{
    MAY_FAIL;
    uint64_t n = *(uint64_t *)arguments[1];
    uint64_t n_gpu = (uint64_t)grid_x * block_x;
    if (grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1 ||
        shared_bytes != 0 || extra || n == 0 || n_gpu < n ||
        n_gpu - n >= block_x)
        return BAD_VALUE;
    struct operation *o = enqueue(stream, RUN);
    o->function = function;
    o->n_threads = n;
    memcpy(o->args, arguments[0], o->function->args_bytes);
    return 0;
}

/* ---- devices ------------------------------------------------------------ */

static int number(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : otherwise;
}

API cuInit(unsigned flags)
{
    MAY_FAIL;
    return flags == 0 ? 0 : BAD_VALUE;
}

API cuDriverGetVersion(int *version)
{
    *version = 12040;
    return 0;
}

API cuGetErrorString(int code, const char **text)
{
    *text = code == 700 ? "an illegal memory access was encountered"
                        : "a planted failure";
    return 0;
}

API cuGetErrorName(int code, const char **text)
{
    *text = code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_PLANTED";
    return 0;
}

API cuDeviceGetCount(int *n)
{
    MAY_FAIL;
    *n = number("STORM_FAKE_CUDA_DEVICES", 1);
    return 0;
}

API cuDeviceGet(int *device, int i)
{
    MAY_FAIL;
    *device = i;
    return i < number("STORM_FAKE_CUDA_DEVICES", 1) ? 0 : BAD_VALUE;
}

API cuDeviceGetName(char *name, int bytes, int device)
{
    MAY_FAIL;
    snprintf(name, (size_t)bytes, "Fake GPU %d", device);
    return 0;
}

API cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    MAY_FAIL;
    (void)device;
    *bytes = MEMORY_BYTES;
    return 0;
}

API cuDeviceGetAttribute(int *value, int which, int device)
{
    MAY_FAIL;
    (void)device;
    int sm = number("STORM_FAKE_CUDA_SM", 90);
    *value = which == 75 ? sm / 10 : sm % 10;
    return which == 75 || which == 76 ? 0 : BAD_VALUE;
}

API cuDevicePrimaryCtxRetain(void **context, int device)
{
    MAY_FAIL;
    (void)device;
    *context = &fake;
    fake.n_contexts++;
    return 0;
}

API cuDevicePrimaryCtxRelease_v2(int device)
{
    (void)device;
    fake.n_contexts--;
    return 0;
}

API cuCtxSetCurrent(void *context)
{
    (void)context;
    return fake.broken;
}
