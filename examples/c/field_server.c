/* A model in C that writes fields, and reads its first one, by a field server beside it.
 *
 *     mpiexec -n 4 field_server_c [STEPS [FILE]] : -n 1 tradewind serve plan.toml
 *     TRADEWIND_PLAN=plan.toml mpiexec -n 4 field_server_c [STEPS [FILE]]
 *
 * The second command has no rank that serves: the library starts a local server per node.
 *
 * A field drifts eastward around a grid of longitudes and latitudes, one point per step, and is written by plan.toml.
 * With a FILE, such as one that an earlier run has written, the field begins as it is there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tradewind/tradewind.h>

enum { NX = 36, NY = 18, LEVELS = 3 };

static void check(tw_status status) {
    if (status == TW_OK) return;
    fprintf(stderr, "%s\n", tw_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
    const int steps = argc > 1 ? atoi(argv[1]) : 4;
    tw_field_server server;
    MPI_Comm comm;
    int rank, ranks;
    MPI_Init(&argc, &argv);
    check(tw_field_server_open(MPI_COMM_WORLD, &server));
    check(tw_field_server_comm(server, &comm)); /* the model's, in place of MPI_COMM_WORLD */
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);

    /* Bands of latitudes; every rank has all longitudes and levels. */
    const int64_t points[3] = {NX, NY, LEVELS}, split[2] = {1, ranks};
    int64_t begin[3], end[3];
    tw_layout bands;
    check(tw_blocks(points, split, "xy", &bands));
    check(tw_layout_box(bands, rank, begin, end));
    const tw_geometry grid = tw_regular(NX, NY, 0, -85, 10, 10);
    tw_description about = tw_default_description();
    about.units = "K";
    about.grib = "t";
    check(tw_field_server_define(server, "t", bands, &grid, &about));

    const int rows = (int)(end[1] - begin[1]);
    double* t = malloc(sizeof(double) * NX * (size_t)rows * LEVELS);
    if (!t) MPI_Abort(MPI_COMM_WORLD, 1);
    const tw_field field = tw_dense(t, TW_F8, NX, rows, LEVELS);
    for (int row = 0; row < rows * LEVELS; ++row)
        for (int i = 0; i < NX; ++i) t[row * NX + i] = 250 + i;
    if (argc > 2) {
        const char* paths[1] = {argv[2]};
        check(tw_field_server_prefetch(server, 1, paths)); /* servers read while the model makes itself ready */
        check(tw_field_server_read(server, "t", &field, paths[0]));
    }

    for (int step = 0; step <= steps; ++step) {
        check(tw_field_server_write(server, "t", &field, step, -1)); /* t is the model's again at once */
        check(tw_field_server_end_step(server, step));
        for (int row = 0; row < rows * LEVELS; ++row) {
            const double last = t[row * NX + NX - 1];
            for (int i = NX - 1; i > 0; --i) t[row * NX + i] = t[row * NX + i - 1];
            t[row * NX] = last;
        }
    }
    check(tw_field_server_close(server)); /* all steps are on the disk */
    check(tw_layout_free(bands));
    free(t);
    if (rank == 0) printf("%d steps on %d ranks are written\n", steps, ranks);
    MPI_Finalize();
    return 0;
}
