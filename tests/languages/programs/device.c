/* A halo of a field on a device beside the same on the host, on two ranks: the same bits, and the path of the messages
 * in words. With "output" a field on a device that is written, started and read beside a field server. The driver is
 * the one that the process finds by its name; see tests/fake_device.py.
 *
 *     mpiexec -n 2 device_c [TRANSPORT]
 *     mpiexec -n 1 device_c output : -n 1 tradewind serve plan.toml
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tradewind/tradewind.h>

enum { nx = 10, ny = 12, nz = 3, values = nx * ny * nz };

static void* const stream = (void*)1; /* the default one */
static int rank;
static double host[values], got[values];
static void* device;
static int (*to_device)(void*, const void*, size_t, void*);
static int (*to_host)(void*, const void*, size_t, void*);
static int (*wait_for)(void*);

static void check(tw_status status) {
    if (status == TW_OK) return;
    fprintf(stderr, "%s\n", tw_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void* function(void* driver, const char* name) {
    void* const found = dlsym(driver, name);
    if (!found) MPI_Abort(MPI_COMM_WORLD, 2);
    return found;
}

static void open_driver(void) {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) MPI_Abort(MPI_COMM_WORLD, 3);
    int (*const allocate)(void**, size_t) = (int (*)(void**, size_t))function(driver, "cuMemAlloc_v2");
    to_device = (int (*)(void*, const void*, size_t, void*))function(driver, "cuMemcpyHtoDAsync_v2");
    to_host = (int (*)(void*, const void*, size_t, void*))function(driver, "cuMemcpyDtoHAsync_v2");
    wait_for = (int (*)(void*))function(driver, "cuStreamSynchronize");
    for (int i = 0; i < values; ++i) host[i] = 1000 * rank + 0.1 * i;
    allocate(&device, sizeof host);
    to_device(device, host, sizeof host, stream);
}

static void exchange(const char* transport) {
    const int64_t points[3] = {12, 8, nz}, split[2] = {2, 1};
    const int periodic[2] = {1, 1};
    tw_layout blocks;
    tw_pattern halo;
    check(tw_blocks(points, split, "xy", &blocks));
    check(tw_halo(blocks, 2, periodic, &halo));

    const char* staging = NULL;
    tw_options options = tw_default_options();
    options.stream = stream;
    for (int on_device = 0; on_device < 2; ++on_device) {
        /* The work before is still to be done: the copy to the device comes when the plan asks for its order. */
        double* const before = malloc(sizeof host);
        memcpy(before, host, sizeof host);
        const tw_field field = tw_dense(on_device ? device : host, TW_F8, nx, ny, nz);
        if (!on_device) to_device(device, before, sizeof host, stream);
        if (on_device) options.transport = transport;
        tw_plan plan;
        check(tw_plan_make(halo, MPI_COMM_WORLD, 1, &field, 0, NULL, &options, &plan));
        check(tw_plan_call(plan));
        check(tw_plan_staging(plan, &staging));
        if (rank == 0) printf("%s|%s\n", on_device ? "device" : "host", staging);
        if (on_device) {
            to_host(got, device, sizeof got, stream);
            wait_for(stream);
        }
        check(tw_plan_free(plan));
    }
    if (memcmp(got, host, sizeof host) != 0) {
        printf("rank %d has other bits\n", rank);
        MPI_Abort(MPI_COMM_WORLD, 4);
    }

    const tw_field both[2] = {tw_dense(device, TW_F8, nx, ny, nz), tw_dense(host, TW_F8, nx, ny, nz)};
    tw_plan plan;
    if (tw_plan_make(halo, MPI_COMM_WORLD, 2, both, 0, NULL, NULL, &plan) == TW_OK) MPI_Abort(MPI_COMM_WORLD, 5);
    if (rank == 0) printf("%s\n", tw_last_error());
}

/* Levels 1 and 2 of an array of the device are a field, first as they are and then negative. */
static void output(void) {
    const int64_t points[3] = {nx, ny, 2}, split[2] = {1, 1};
    const tw_geometry grid = tw_regular(nx, ny, 0, 0, 1, 1);
    double* const field_on_device = (double*)device + nx * ny;
    const tw_field field = tw_dense(field_on_device, TW_F8, nx, ny, 2);
    tw_field_server server;
    tw_layout layout;
    check(tw_field_server_open(MPI_COMM_WORLD, &server));
    check(tw_blocks(points, split, "xy", &layout));
    check(tw_field_server_define(server, "t", layout, &grid, NULL));
    static double negative[values];
    for (int i = 0; i < values; ++i) negative[i] = -host[i];
    check(tw_field_server_write(server, "t", &field, 0, -1));
    check(tw_field_server_end_step(server, 0));
    to_device(device, negative, sizeof negative, stream);
    check(tw_field_server_start(server, "t", &field, 1, -1));
    to_device(device, host, sizeof host, stream); /* what was started has been copied */
    check(tw_field_server_wait(server, "t"));
    check(tw_field_server_end_step(server, 1));
    check(tw_field_server_finish(server));
    for (int step = 0; step < 2; ++step) {
        char path[32];
        snprintf(path, sizeof path, "output/%d.nc", step);
        const char* const paths[1] = {path};
        check(tw_field_server_prefetch(server, 1, paths));
        check(tw_field_server_read(server, "t", &field, path));
        to_host(got, device, sizeof got, stream);
        wait_for(stream);
        const double* const wanted = step == 0 ? host : negative;
        if (memcmp(got + nx * ny, wanted + nx * ny, 2 * nx * ny * sizeof *got) != 0) MPI_Abort(MPI_COMM_WORLD, 6);
        if (memcmp(got, host, nx * ny * sizeof *got) != 0) MPI_Abort(MPI_COMM_WORLD, 7);
    }
    puts("the bits of the device");
    check(tw_field_server_close(server));
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    open_driver();
    if (argc > 1 && strcmp(argv[1], "output") == 0)
        output();
    else
        exchange(argc > 1 ? argv[1] : NULL);
    MPI_Finalize();
    return 0;
}
