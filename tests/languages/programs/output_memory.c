/* Memory that a model takes to hand one large field over, beside a server.
 *
 *     mpiexec -n 1 output_memory_c write|start : -n 1 tradewind serve plan.toml
 *
 * Prints how much its largest resident memory has grown, and the size of the field, in bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <tradewind/tradewind.h>

enum { NX = 2048, NY = 2048 };

static void check(tw_status status) {
    if (status == TW_OK) return;
    fprintf(stderr, "status %d: %s\n", (int)status, tw_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static long peak(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return 1024 * usage.ru_maxrss;
}

int main(int argc, char** argv) {
    const int64_t points[3] = {NX, NY, 1}, split[2] = {1, 1};
    const tw_geometry grid = tw_regular(NX, NY, 0, -60, 0.1, 0.05);
    tw_field_server server;
    tw_layout layout;
    MPI_Init(&argc, &argv);
    check(tw_field_server_open(MPI_COMM_WORLD, &server));
    check(tw_blocks(points, split, "xy", &layout));
    check(tw_field_server_define(server, "t", layout, &grid, NULL));
    double* values = malloc(sizeof *values * NX * NY);
    for (int i = 0; i < NX * NY; ++i) values[i] = i;
    const tw_field field = tw_dense(values, TW_F8, NX, NY, 1);
    const long before = peak();
    if (argc > 1 && strcmp(argv[1], "start") == 0) {
        check(tw_field_server_start(server, "t", &field, 0, -1));
        check(tw_field_server_end_step(server, 0));
        check(tw_field_server_wait(server, "t"));
    } else {
        check(tw_field_server_write(server, "t", &field, 0, -1));
        check(tw_field_server_end_step(server, 0));
    }
    check(tw_field_server_finish(server));
    printf("grown %ld of %ld\n", peak() - before, (long)(sizeof *values * NX * NY));
    check(tw_field_server_close(server));
    MPI_Finalize();
    return 0;
}
