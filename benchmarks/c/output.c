/* A model that works and writes fields of an octahedral grid: how long it waits for its server.
 *
 *     mpiexec -n 1 output_in_c N FIELDS STEPS WORK_S write|start : -n 1 tradewind serve plan.toml
 *
 * Prints seconds of each step that it waited, of all steps, and of as many without output, as JSON. The work of a step
 * is a number of flops, which takes about WORK_S on a core that is free. "start": fields go without a copy, and are
 * waited for before the next step writes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static double timed(void) {
    const double begin = MPI_Wtime();
    work();
    return MPI_Wtime() - begin;
}

static void calibrate(double seconds) {
    double least = 1e9;
    for (int i = 0; i < SIZE; ++i)
        for (int j = 0; j < SIZE; ++j) a[i][j] = b[i][j] = 1.0 / (1 + i + j);
    products = 64;
    for (int k = 0; k < 6; ++k) {
        const double one = timed();
        if (one < least) least = one;
    }
    products = (long)(64 * seconds / least + 0.5);
    if (products < 1) products = 1;
}

/* Bands of the octahedral grid, on the ranks of the model. */
static int64_t* octahedral(int64_t n, int64_t* points) {
    int64_t* rows = malloc(sizeof *rows * (size_t)(2 * n));
    *points = 0;
    for (int64_t i = 0; i < n; ++i) rows[i] = rows[2 * n - 1 - i] = 20 + 4 * i;
    for (int64_t i = 0; i < 2 * n; ++i) *points += rows[i];
    return rows;
}

int main(int argc, char** argv) {
    tw_field_server server;
    tw_layout bands;
    int64_t points;
    char name[16];
    MPI_Init(&argc, &argv);
    if (argc < 6) MPI_Abort(MPI_COMM_WORLD, 2);
    const int64_t n = atoi(argv[1]);
    const int fields = atoi(argv[2]), steps = atoi(argv[3]), starts = strcmp(argv[5], "start") == 0;
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
    double* waited = calloc((size_t)(steps + WARM), sizeof *waited);
    double begin = 0;
    for (int step = 0; step < steps + WARM; ++step) { /* in the first ones memory is made */
        if (step == WARM) begin = MPI_Wtime();
        work();
        const double before = MPI_Wtime();
        if (starts) check(tw_field_server_wait(server, NULL));
        for (int f = 0; f < fields; ++f) {
            const tw_field field = tw_dense(values[f], TW_F8, points, 1, 1);
            snprintf(name, sizeof name, "f%d", f);
            check(starts ? tw_field_server_start(server, name, &field, step, -1)
                         : tw_field_server_write(server, name, &field, step, -1));
        }
        check(tw_field_server_end_step(server, step));
        waited[step] = MPI_Wtime() - before;
    }
    const double total = MPI_Wtime() - begin;
    begin = MPI_Wtime();
    for (int step = 0; step < steps; ++step) work();
    const double alone = MPI_Wtime() - begin;
    printf("{\"sum\": %g, \"total_s\": %.9f, \"alone_s\": %.9f, \"waited_s\": [", c[1][1], total, alone);
    for (int step = WARM; step < steps + WARM; ++step) printf("%s%.9f", step > WARM ? ", " : "", waited[step]);
    printf("]}\n");
    check(tw_field_server_close(server));
    MPI_Finalize();
    return 0;
}
