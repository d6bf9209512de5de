/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What messages of MPI cost a rank here, for the file of costs of simulated
 * ranks (docs/scale.md, tools/lab).
 *
 *   mpicc -std=c11 -D_GNU_SOURCE -O2 bench/message_costs.c -o message_costs
 *   mpiexec -n 2 message_costs
 *
 * Prints NAME=VALUE: the time of rank 0 for a send of a short message, of rank
 * 1 for a receive, of a test that finds nothing, the latency beyond these, and
 * the bytes per second of long messages, in both directions at once. Medians of
 * the repeats; all of them with "all".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mpi.h>

enum {
    N_REPEATS = 25,
    N_TESTS = 20000,
    N_MESSAGES = 16, /* on their way together, as receives that are posted */
    N_ROUNDS = 200,
    N_TURNS = 2000,
    SHORT = 192, /* a record and its header */
    LONG = 65536
};

static const double arrive_s = 30e-6; /* all of a round have arrived by then */

enum cost { TEST, SEND, RECEIVE, TURN, STREAM, N_COSTS };

struct sample {
    double seconds[N_COSTS];
};

static unsigned char out[N_MESSAGES][LONG], in[N_MESSAGES][LONG];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A test of a receive for which nothing comes. */
static double measure_test(int other)
{
    MPI_Request request;
    int done = 0;
    MPI_Irecv(in[0], SHORT, MPI_BYTE, other, 9, MPI_COMM_WORLD, &request);
    double began = now();
    for (int i = 0; i < N_TESTS; i++)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    double seconds = (now() - began) / N_TESTS;
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return seconds;
}

/* Without a call of MPI, which would receive. */
static void spin(double seconds)
{
    double until = now() + seconds;
    while (now() < until)
        continue;
}

static void wait_for(MPI_Request *request)
{
    for (int done = 0; !done;)
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
}

/* Rank 0 sends and completes; rank 1 takes what is there already and posts
 * again, as the channel does. Their own times. */
static void measure_short(int rank, struct sample *sample)
{
    MPI_Request request[N_MESSAGES];
    double seconds = 0;
    for (int i = 0; i < N_MESSAGES && rank == 1; i++)
        MPI_Irecv(in[i], SHORT, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                  &request[i]);
    for (int round = 0; round < N_ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double began = now();
        for (int i = 0; i < N_MESSAGES && rank == 0; i++)
            MPI_Isend(out[i], SHORT, MPI_BYTE, 1, 1, MPI_COMM_WORLD,
                      &request[i]);
        for (int i = 0; i < N_MESSAGES && rank == 0; i++)
            wait_for(&request[i]);
        if (rank == 0)
            seconds += now() - began;
        spin(arrive_s);
        began = now();
        for (int i = 0; i < N_MESSAGES && rank == 1; i++) {
            wait_for(&request[i]);
            MPI_Irecv(in[i], SHORT, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                      &request[i]);
        }
        if (rank == 1)
            seconds += now() - began;
    }
    for (int i = 0; i < N_MESSAGES && rank == 1; i++) {
        MPI_Cancel(&request[i]);
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    sample->seconds[rank == 0 ? SEND : RECEIVE] =
        seconds / N_ROUNDS / N_MESSAGES;
}

/* From one rank to the other and back. */
static double measure_turn(int rank, int other)
{
    MPI_Request receive, send;
    MPI_Barrier(MPI_COMM_WORLD);
    double began = now();
    for (int i = 0; i < N_TURNS; i++) {
        MPI_Irecv(in[0], SHORT, MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD,
                  &receive);
        if (rank == 0)
            MPI_Isend(out[0], SHORT, MPI_BYTE, other, 2, MPI_COMM_WORLD, &send);
        wait_for(&receive);
        if (rank == 1)
            MPI_Isend(out[0], SHORT, MPI_BYTE, other, 2, MPI_COMM_WORLD, &send);
        wait_for(&send);
    }
    return 0.5 * (now() - began) / N_TURNS;
}

/* Long messages in both directions: seconds for one. */
static double measure_stream(int other)
{
    MPI_Request receive[N_MESSAGES], send[N_MESSAGES];
    MPI_Barrier(MPI_COMM_WORLD);
    double began = now();
    for (int round = 0; round < N_ROUNDS / 10; round++) {
        for (int i = 0; i < N_MESSAGES; i++)
            MPI_Irecv(in[i], LONG, MPI_BYTE, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD,
                      &receive[i]);
        for (int i = 0; i < N_MESSAGES; i++)
            MPI_Isend(out[i], LONG, MPI_BYTE, other, 3, MPI_COMM_WORLD,
                      &send[i]);
        for (int i = 0; i < N_MESSAGES; i++) {
            wait_for(&receive[i]);
            wait_for(&send[i]);
        }
    }
    return (now() - began) / (N_ROUNDS / 10) / N_MESSAGES;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const struct sample *samples, enum cost cost)
{
    double sorted[N_REPEATS];
    for (int i = 0; i < N_REPEATS; i++)
        sorted[i] = samples[i].seconds[cost];
    qsort(sorted, N_REPEATS, sizeof *sorted, by_size);
    return sorted[N_REPEATS / 2];
}

static void print(const struct sample *samples)
{
    double test = median(samples, TEST), send = median(samples, SEND);
    double receive = median(samples, RECEIVE);
    double beyond = median(samples, TURN) - send - receive;
    printf("test_s=%.3g\nsend_s=%.3g\nreceive_s=%.3g\n", test, send, receive);
    printf("near_latency_s=%.3g\n", beyond > 0 ? beyond : 0);
    printf("copy_bandwidth=%.3g\n", LONG / median(samples, STREAM));
}

int main(int argc, char **argv)
{
    struct sample samples[N_REPEATS];
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) {
        fprintf(stderr, "message_costs: two ranks are needed\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    memset(out, 1, sizeof out);
    for (int i = -1; i < N_REPEATS; i++) { /* the first to warm up */
        struct sample *sample = &samples[i < 0 ? 0 : i];
        MPI_Barrier(MPI_COMM_WORLD);
        sample->seconds[TEST] = measure_test(1 - rank);
        measure_short(rank, sample);
        sample->seconds[TURN] = measure_turn(rank, 1 - rank);
        sample->seconds[STREAM] = measure_stream(1 - rank);
        double *received = &sample->seconds[RECEIVE];
        if (rank == 1)
            MPI_Send(received, 1, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD);
        else
            MPI_Recv(received, 1, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < N_REPEATS && rank == 0 && argc > 1; i++)
        printf("# %.3g %.3g %.3g %.3g %.3g\n", samples[i].seconds[TEST],
               samples[i].seconds[SEND], samples[i].seconds[RECEIVE],
               samples[i].seconds[TURN], samples[i].seconds[STREAM]);
    if (rank == 0)
        print(samples);
    MPI_Finalize();
    return 0;
}
