/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3 5; timeout: 30 */
/*
 * H5-1 to H5-7: rows that all ranks write give the same bytes however they are
 * shared, and are read back in any pieces; a changed bit is found in its block
 * and in no other; a file that fails on one rank fails on all, and the one from
 * before is as it was; rank 0 renames after all ranks have synced. A limit on
 * the size of files makes writes of one rank fail.
 * H5-10, H5-11: nodes of one or two ranks write the bytes that one rank writes,
 * and no two of them to one page; a write that is lost is found.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <hdf5.h>

#include <storm/context.h>

#include "io/io_h5.h"
#include "io/io_h5_sums.h"
#include "support/check.h"

enum { WIDE = 3, N_WIDE = 50000, N_LONG = 3, LONG = IO_H5_BLOCK_WORDS + 7 };

static char dir[CHECK_PATH];

/* ---- calls of the library: they replace those of the C library ----------- */

static int world_size;

/* Nodes of so many ranks; 0: one of all. */
static int per_node;

/* Pages that this rank has written to, and whether writes are lost. */
enum { PAGE_BYTES = 4096, MAX_PAGES = 512 };
static int written[MAX_PAGES];
static bool records, loses;

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
    if (records)
        for (off_t i = offset / PAGE_BYTES; i * PAGE_BYTES < offset + (off_t)n;
             i++)
            written[i] = 1;
    if (loses && offset < 2 * PAGE_BYTES)
        return (ssize_t)n;
    const struct iovec piece = {(void *)(uintptr_t)bytes, n};
    return pwritev(fd, &piece, 1, offset);
}

static void synced_path(int rank, char out[256])
{
    snprintf(out, 256, "%s/synced-%d", dir, rank);
}

/* Ranks but the first take their time, and leave a mark. */
int fsync(int fd)
{
    char path[256];
    int rank, status = fdatasync(fd);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank > 0) {
        usleep(50000);
        synced_path(rank, path);
        int mark = open(path, O_CREAT | O_WRONLY, 0666);
        CHECK(mark >= 0);
        close(mark);
    }
    return status;
}

/* H5-6, on rank 0 */
int rename(const char *from, const char *to)
{
    char path[256];
    for (int r = 1; r < world_size; r++) {
        synced_path(r, path);
        CHECK(unlink(path) == 0); /* rank r has synced */
    }
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

/* Rows [first, end) of this rank. */
struct share {
    uint64_t first, end;
    size_t columns;
};

static int64_t word(uint64_t row, uint64_t column)
{
    return (int64_t)storm_hash_fold(row, column);
}

static void fill(void *self, size_t first, size_t n, void *rows_out)
{
    const struct share *share = self;
    int64_t *at = rows_out;
    for (uint64_t i = 0; i < n; i++)
        for (uint64_t k = 0; k < share->columns; k++)
            *at++ = word(share->first + first + i, k);
}

/* The rows up to the end of rank r: equal parts, or all for the last. */
static uint64_t end_of(int r, int n_ranks, uint64_t n, bool equal)
{
    if (r < 0)
        return 0;
    return equal || r + 1 == n_ranks ? n * (uint64_t)(r + 1) / (uint64_t)n_ranks
                                     : 0;
}

static storm_status put(struct storm_context *context,
                        struct io_h5_writer *file, const char *name,
                        size_t columns, uint64_t n, bool equal)
{
    int rank = storm_context_rank(context), size = storm_context_size(context);
    struct share share = {end_of(rank - 1, size, n, equal),
                          end_of(rank, size, n, equal), columns};
    const struct io_h5_share array = {.name = name,
                                      .kind = IO_H5_INTEGER,
                                      .columns = columns,
                                      .n = (size_t)(share.end - share.first),
                                      .self = &share,
                                      .fill = fill};
    return io_h5_put(file, &array);
}

/* `mine` is what this rank thinks of it at the end. */
static storm_status write_file(struct storm_context *context, const char *name,
                               bool equal, storm_status mine)
{
    static const double real[2] = {0.1, -1e300};
    struct io_h5_writer *file = NULL;
    size_t n = storm_context_rank(context) == 0 ? 2 : 0;
    storm_status status = io_h5_create(context, dir, name, &file);
    if (status == STORM_OK)
        status = io_h5_put_number(file, "time", 0.25);
    if (status == STORM_OK)
        status = put(context, file, "wide", WIDE, N_WIDE, equal);
    if (status == STORM_OK)
        status = put(context, file, "none", 1, 0, equal);
    if (status == STORM_OK)
        status = put(context, file, "long", LONG, N_LONG, equal);
    if (status == STORM_OK)
        status = io_h5_put_plain(file, "real", IO_H5_REAL, 1, real, n);
    return io_h5_finish(file, status < 0 ? status : mine);
}

/* H5-10: no page has been written to by two nodes. */
static void check_pages(const struct storm_context *context)
{
    int rank = storm_context_rank(context), size = storm_context_size(context);
    int node = per_node == 0 ? 0 : rank / per_node, n_pages = 0;
    int first[MAX_PAGES], last[MAX_PAGES];
    for (int i = 0; i < MAX_PAGES; i++) {
        first[i] = written[i] ? node : size;
        last[i] = written[i] ? node : -1;
    }
    MPI_Allreduce(MPI_IN_PLACE, first, MAX_PAGES, MPI_INT, MPI_MIN,
                  MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, last, MAX_PAGES, MPI_INT, MPI_MAX,
                  MPI_COMM_WORLD);
    for (int i = 0; i < MAX_PAGES; i++) {
        CHECK(last[i] <= first[i]);
        n_pages += last[i] >= 0;
    }
    CHECK(n_pages > 300);
}

/* A file by all ranks, with a record of who writes to which page. */
static void write_pages(struct storm_context *context, const char *name,
                        bool equal)
{
    memset(written, 0, sizeof written);
    records = true;
    CHECK_OK(write_file(context, name, equal, STORM_OK));
    records = false;
    check_pages(context);
}

/* The same file by one rank. */
static void write_alone(const char *name)
{
    struct storm_context *alone;
    int all = world_size;
    world_size = 1;
    CHECK_OK(storm_context_create(MPI_COMM_SELF, NULL, &alone));
    CHECK_OK(write_file(alone, name, true, STORM_OK));
    storm_context_destroy(alone);
    world_size = all;
}

/* ---- what is in the file ------------------------------------------------- */

static void path_of(const char *name, char out[256])
{
    snprintf(out, 256, "%s/%s", dir, name);
}

static size_t read_all(const char *name, unsigned char **bytes_out)
{
    char path[256];
    struct stat info;
    path_of(name, path);
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && fstat(fd, &info) == 0);
    *bytes_out = malloc((size_t)info.st_size);
    CHECK(*bytes_out != NULL);
    CHECK(read(fd, *bytes_out, (size_t)info.st_size) == info.st_size);
    close(fd);
    return (size_t)info.st_size;
}

static void check_same(const char *a, const char *b)
{
    unsigned char *one, *two;
    size_t n = read_all(a, &one);
    CHECK_EQ(read_all(b, &two), n);
    CHECK(memcmp(one, two, n) == 0);
    free(one);
    free(two);
}

static storm_status get(const char *name, const char *array, uint64_t columns,
                        uint64_t first, uint64_t n)
{
    char path[256];
    path_of(name, path);
    int64_t *rows = malloc((size_t)(n * columns + 1) * sizeof *rows);
    io_h5_file file = io_h5_open(path);
    CHECK(file >= 0 && rows != NULL);
    CHECK(io_h5_has_checksums(file));
    storm_status status =
        io_h5_get_rows(file, array, IO_H5_INTEGER, columns, first, n, rows);
    for (uint64_t i = 0; i < n * columns && status == STORM_OK; i++)
        CHECK(rows[i] == word(first + i / columns, i % columns));
    io_h5_close(file);
    free(rows);
    return status;
}

static void check_content(const char *name)
{
    const uint64_t block = io_h5_block_rows(WIDE);
    double value;
    char path[256];
    CHECK_OK(get(name, "wide", WIDE, 0, N_WIDE));
    CHECK_OK(get(name, "wide", WIDE, block - 1, 2));
    CHECK_OK(get(name, "wide", WIDE, 5, 3 * block));
    CHECK_OK(get(name, "wide", WIDE, N_WIDE - 1, 1));
    CHECK_OK(get(name, "long", LONG, 1, 2));
    CHECK_OK(get(name, "none", 1, 0, 0));
    CHECK_EQ(get(name, "wide", WIDE, N_WIDE - 1, 2), STORM_ERR_ARG);
    CHECK_EQ(get(name, "wide", WIDE + 1, 0, 1), STORM_ERR_ARG);
    CHECK_EQ(get(name, "real", 1, 0, 1), STORM_ERR_ARG);
    CHECK_EQ(get(name, "other", 1, 0, 1), STORM_ERR_ARG);
    path_of(name, path);
    io_h5_file file = io_h5_open(path);
    CHECK(io_h5_get_number(file, "time", &value) && value == 0.25);
    CHECK_OK(io_h5_get_rows(file, "real", IO_H5_REAL, 1, 1, 1, &value));
    CHECK(value == -1e300);
    io_h5_close(file);
}

/* ---- damage -------------------------------------------------------------- */

static uint64_t offset_of(const char *name, const char *array)
{
    char path[256];
    path_of(name, path);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, array, H5P_DEFAULT);
    uint64_t offset = H5Dget_offset(set);
    CHECK(file >= 0 && set >= 0 && offset != HADDR_UNDEF);
    H5Dclose(set);
    H5Fclose(file);
    return offset;
}

static void flip(const char *name, uint64_t offset)
{
    char path[256];
    unsigned char byte;
    path_of(name, path);
    int fd = open(path, O_RDWR);
    CHECK(fd >= 0 && pread(fd, &byte, 1, (off_t)offset) == 1);
    byte ^= 0x10;
    CHECK(pwrite(fd, &byte, 1, (off_t)offset) == 1);
    close(fd);
}

/* Two words that follow each other. */
static void swap(const char *name, uint64_t offset)
{
    char path[256];
    uint64_t words[2];
    path_of(name, path);
    int fd = open(path, O_RDWR);
    CHECK(fd >= 0 && pread(fd, words, sizeof words, (off_t)offset) == 16);
    CHECK(pwrite(fd, &words[1], 8, (off_t)offset) == 8);
    CHECK(pwrite(fd, &words[0], 8, (off_t)offset + 8) == 8);
    close(fd);
}

static void check_damage(const char *name)
{
    const uint64_t block = io_h5_block_rows(WIDE), row = 2 * block + 17;
    uint64_t at = offset_of(name, "wide") + (row * WIDE + 1) * 8 + 3;
    flip(name, at);
    CHECK_EQ(get(name, "wide", WIDE, 0, N_WIDE), STORM_ERR_IO);
    CHECK_EQ(get(name, "wide", WIDE, row, 1), STORM_ERR_IO);
    CHECK_EQ(get(name, "wide", WIDE, 2 * block, 1), STORM_ERR_IO);
    CHECK_OK(get(name, "wide", WIDE, 0, 2 * block));
    CHECK_OK(get(name, "wide", WIDE, 3 * block, 5));
    flip(name, at);
    CHECK_OK(get(name, "wide", WIDE, 0, N_WIDE));
    swap(name, at - 3);
    CHECK_EQ(get(name, "wide", WIDE, row, 1), STORM_ERR_IO);
    swap(name, at - 3);
    at = offset_of(name, "checksums/long") + 8;
    flip(name, at);
    CHECK_OK(get(name, "long", LONG, 0, 1));
    CHECK_EQ(get(name, "long", LONG, 1, 1), STORM_ERR_IO);
    flip(name, at);
}

/* ---- failures ------------------------------------------------------------ */

static void limit(rlim_t bytes)
{
    struct rlimit now;
    CHECK(getrlimit(RLIMIT_FSIZE, &now) == 0);
    now.rlim_cur = bytes;
    CHECK(setrlimit(RLIMIT_FSIZE, &now) == 0);
}

/* H5-11: writes of rank 0 seem to succeed and are lost. */
static void check_lost_write(struct storm_context *context)
{
    loses = true;
    CHECK_EQ(write_file(context, "a.h5", true, STORM_OK), STORM_ERR_IO);
    loses = false;
}

/* Only the last rank fails; there is no second file. */
static void check_failures(struct storm_context *context)
{
    bool last = storm_context_rank(context) + 1 == storm_context_size(context);
    storm_status status =
        write_file(context, "a.h5", true, last ? STORM_ERR_STATE : STORM_OK);
    CHECK_EQ(status, last ? STORM_ERR_STATE : STORM_ERR_PEER);
    limit(last ? 100000 : RLIM_INFINITY);
    CHECK_EQ(write_file(context, "a.h5", true, STORM_OK), STORM_ERR_IO);
    CHECK_EQ(write_file(context, "c.h5", false, STORM_OK), STORM_ERR_IO);
    limit(RLIM_INFINITY);
    check_lost_write(context);
    if (storm_context_rank(context) == 0) {
        char path[256];
        check_same("a.h5", "b.h5");
        path_of("a.h5.part", path);
        CHECK(access(path, F_OK) != 0);
        path_of("c.h5", path);
        CHECK(access(path, F_OK) != 0);
    }
}

static void check_all(struct storm_context *context)
{
    bool is_root = storm_context_rank(context) == 0;
    write_pages(context, "a.h5", true);
    write_pages(context, "b.h5", false);
    if (is_root) {
        write_alone("alone.h5");
        check_same("a.h5", "b.h5");
        check_same("a.h5", "alone.h5");
        check_content("a.h5");
        check_damage("a.h5");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_failures(context);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Nothing else is left. */
static void remove_all(void)
{
    static const char *const names[] = {"a.h5", "b.h5", "alone.h5"};
    char path[256];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        path_of(names[i], path);
        CHECK(unlink(path) == 0);
    }
    for (int r = 1; r < world_size; r++) {
        synced_path(r, path); /* of a file that failed elsewhere */
        unlink(path);
    }
    CHECK(rmdir(dir) == 0);
}

static void check_nodes(int ranks)
{
    struct storm_options *options;
    struct storm_context_params params = STORM_CONTEXT_PARAMS_INIT;
    struct storm_context *context;
    char text[16];
    per_node = ranks;
    snprintf(text, sizeof text, "%d", ranks);
    CHECK_OK(storm_options_create(&options));
    CHECK_OK(storm_options_set(options, "transport.ranks_per_node", text, NULL,
                               0));
    params.options = options;
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &params, &context));
    check_all(context);
    storm_context_destroy(context);
    storm_options_destroy(options);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    signal(SIGXFSZ, SIG_IGN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (rank == 0)
        check_scratch(dir);
    MPI_Bcast(dir, sizeof dir, MPI_CHAR, 0, MPI_COMM_WORLD);
    check_scratch_share(dir);
    for (int ranks = 0; ranks <= 2 && (ranks == 0 || world_size > ranks);
         ranks++)
        check_nodes(ranks);
    if (rank == 0)
        remove_all();
    MPI_Finalize();
    return CHECK_PASS;
}
