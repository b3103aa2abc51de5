/* A halo of a field on a device beside the same on the host, on two ranks: the same bits, and the path of the messages
 * in words. The driver is the one that the process finds by its name; see tests/fake_device.py.
 *
 *     mpiexec -n 2 device_c
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tradewind/tradewind.h>

enum { nx = 10, ny = 12, nz = 3, values = nx * ny * nz };

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

int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) MPI_Abort(MPI_COMM_WORLD, 3);
    int (*const allocate)(void**, size_t) = (int (*)(void**, size_t))function(driver, "cuMemAlloc_v2");
    int (*const to_device)(void*, const void*, size_t, void*) =
        (int (*)(void*, const void*, size_t, void*))function(driver, "cuMemcpyHtoDAsync_v2");
    int (*const to_host)(void*, const void*, size_t, void*) =
        (int (*)(void*, const void*, size_t, void*))function(driver, "cuMemcpyDtoHAsync_v2");
    int (*const wait_for)(void*) = (int (*)(void*))function(driver, "cuStreamSynchronize");

    const int64_t points[3] = {12, 8, nz}, split[2] = {2, 1};
    const int periodic[2] = {1, 1};
    tw_layout blocks;
    tw_pattern halo;
    check(tw_blocks(points, split, "xy", &blocks));
    check(tw_halo(blocks, 2, periodic, &halo));

    static double host[values], got[values];
    for (int i = 0; i < values; ++i) host[i] = 1000 * rank + 0.1 * i;
    void* device = NULL;
    void* const stream = (void*)1; /* the default one */
    allocate(&device, sizeof host);
    to_device(device, host, sizeof host, stream);

    const char* staging = NULL;
    tw_options options = tw_default_options();
    options.stream = stream;
    for (int on_device = 0; on_device < 2; ++on_device) {
        /* The work before is still to be done: the copy to the device comes when the plan asks for its order. */
        double* const before = malloc(sizeof host);
        memcpy(before, host, sizeof host);
        const tw_field field = tw_dense(on_device ? device : host, TW_F8, nx, ny, nz);
        if (!on_device) to_device(device, before, sizeof host, stream);
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
    MPI_Finalize();
    return 0;
}
