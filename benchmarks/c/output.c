/* A model that works and writes fields of an octahedral grid: how long it waits for its server, and how long its work
 * takes beside it.
 *
 *     mpiexec -n 1 output_in_c N FIELDS STEPS WORK_S write|start NEIGHBOUR : -n 1 tradewind serve plan.toml
 *
 * Prints seconds as JSON: of all steps, and what each waited. Then, of as many steps more, the work after an output
 * (what the output waited, and the work, beside a server that writes), the work alone, and the work beside the process
 * NEIGHBOUR, which stands still else and stops itself when it has written a step: these three in turns, as the speed of
 * a virtual machine's cores changes within seconds. Of each also the time of the core. The work of a step is a number
 * of flops, which takes about WORK_S on a core that is free. "start": fields go without a copy, and are waited for
 * before the next step writes.
 */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tradewind/tradewind.h>

enum { SIZE = 128, WARM = 3 };

static double a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];
static long products;

static void check(tw_status status) {
    if (status == TW_OK) return;
    fprintf(stderr, "status %d: %s\n", (int)status, tw_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void work(void) {
    for (long n = 0; n < products; ++n)
        for (int i = 0; i < SIZE; ++i)
            for (int k = 0; k < SIZE; ++k) {
                const double x = a[i][k];
                for (int j = 0; j < SIZE; ++j) c[i][j] = 0.5 * c[i][j] + x * b[k][j];
            }
}

typedef struct {
    double wall, core;
} seconds;

static double core_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static seconds timed(void) {
    const seconds begin = {MPI_Wtime(), core_s()};
    work();
    return (seconds){MPI_Wtime() - begin.wall, core_s() - begin.core};
}

static void calibrate(double work_s) {
    double least = 1e9;
    for (int i = 0; i < SIZE; ++i)
        for (int j = 0; j < SIZE; ++j) a[i][j] = b[i][j] = 1.0 / (1 + i + j);
    products = 64;
    for (int k = 0; k < 6; ++k) {
        const double one = timed().wall;
        if (one < least) least = one;
    }
    products = (long)(64 * work_s / least + 0.5);
    if (products < 1) products = 1;
}

static void send_signal(pid_t process, int what) {
    if (kill(process, what) == 0) return;
    perror("the process beside the model");
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void print_list(const char* name, const seconds* list, int count) {
    printf(", \"%s_s\": [", name);
    for (int i = 0; i < count; ++i) printf("%s%.9f", i ? ", " : "", list[i].wall);
    printf("], \"%s_core_s\": [", name);
    for (int i = 0; i < count; ++i) printf("%s%.9f", i ? ", " : "", list[i].core);
    printf("]");
}

/* Bands of the octahedral grid, on the ranks of the model. */
static int64_t* octahedral(int64_t n, int64_t* points) {
    int64_t* rows = malloc(sizeof *rows * (size_t)(2 * n));
    *points = 0;
    for (int64_t i = 0; i < n; ++i) rows[i] = rows[2 * n - 1 - i] = 20 + 4 * i;
    for (int64_t i = 0; i < 2 * n; ++i) *points += rows[i];
    return rows;
}

typedef struct {
    tw_field_server server;
    int fields, starts;
    int64_t points;
    double** values;
} output;

/* Write a step; returns what it waited. */
static seconds written(const output* out, int step) {
    char name[16];
    const seconds begin = {MPI_Wtime(), core_s()};
    if (out->starts) check(tw_field_server_wait(out->server, NULL));
    for (int f = 0; f < out->fields; ++f) {
        const tw_field field = tw_dense(out->values[f], TW_F8, out->points, 1, 1);
        snprintf(name, sizeof name, "f%d", f);
        check(out->starts ? tw_field_server_start(out->server, name, &field, step, -1)
                          : tw_field_server_write(out->server, name, &field, step, -1));
    }
    check(tw_field_server_end_step(out->server, step));
    return (seconds){MPI_Wtime() - begin.wall, core_s() - begin.core};
}

int main(int argc, char** argv) {
    tw_field_server server;
    tw_layout bands;
    int64_t points;
    char name[16];
    MPI_Init(&argc, &argv);
    if (argc < 7) MPI_Abort(MPI_COMM_WORLD, 2);
    const int64_t n = atoi(argv[1]);
    const int fields = atoi(argv[2]), steps = atoi(argv[3]), starts = strcmp(argv[5], "start") == 0;
    const pid_t neighbour = (pid_t)atoi(argv[6]);
    check(tw_field_server_open(MPI_COMM_WORLD, &server));
    int64_t* rows = octahedral(n, &points);
    const tw_geometry grid = tw_gaussian(2 * n, rows);
    check(tw_bands(2 * n, rows, 1, 1, 1, 1, &bands));
    double** values = malloc(sizeof *values * (size_t)fields);
    for (int f = 0; f < fields; ++f) {
        snprintf(name, sizeof name, "f%d", f);
        check(tw_field_server_define(server, name, bands, &grid, NULL));
        values[f] = malloc(sizeof **values * (size_t)points);
        for (int64_t i = 0; i < points; ++i) values[f][i] = 280 + 20 * (rand() / (double)RAND_MAX);
    }
    calibrate(atof(argv[4]));
    const output out = {server, fields, starts, points, values};
    seconds *waited = calloc((size_t)(steps + WARM), sizeof *waited), *turns[4];
    for (int k = 0; k < 4; ++k) turns[k] = calloc((size_t)(steps + 1), sizeof **turns);
    double begin = 0;
    for (int step = 0; step < steps + WARM; ++step) { /* in the first ones memory is made */
        if (step == WARM) begin = MPI_Wtime();
        work();
        waited[step] = written(&out, step);
    }
    const double total = MPI_Wtime() - begin;
    for (int step = 0; step < steps + 1; ++step) { /* in the first one the server writes what it still has */
        turns[0][step] = written(&out, steps + WARM + step);
        turns[1][step] = timed();
        turns[2][step] = timed();
        send_signal(neighbour, SIGCONT);
        turns[3][step] = timed();
        send_signal(neighbour, SIGSTOP);
    }
    printf("{\"sum\": %g, \"total_s\": %.9f", c[1][1], total);
    print_list("waited", waited + WARM, steps);
    print_list("output", turns[0] + 1, steps);
    print_list("served", turns[1] + 1, steps);
    print_list("alone", turns[2] + 1, steps);
    print_list("neighbour", turns[3] + 1, steps);
    printf("}\n");
    check(tw_field_server_close(server));
    MPI_Finalize();
    return 0;
}
