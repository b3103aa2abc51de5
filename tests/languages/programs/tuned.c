/* The way of a plan of each pattern, where nothing is named, on two ranks. Each rank writes "plan|status|way|origin" or
 * "plan|status|error" into FOLDER/RANK.
 *
 *     TRADEWIND_TUNING=FILE mpiexec -n 2 tuned_c FOLDER
 */
#include <stdio.h>
#include <stdlib.h>
#include <tradewind/tradewind.h>

static FILE* out;

static void check(tw_status status) {
    if (status == TW_OK) return;
    fprintf(stderr, "%s\n", tw_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void planned(const char* name, tw_pattern pattern, int sources, const tw_field* source, const tw_field* target,
                    const char* transport) {
    tw_options options = tw_default_options();
    options.transport = transport;
    tw_plan plan = TW_NULL;
    const tw_status status =
        tw_plan_make(pattern, MPI_COMM_WORLD, sources, source, target ? sources : 0, target, &options, &plan);
    if (status != TW_OK) {
        fprintf(out, "%s|%d|%s\n", name, (int)status, tw_last_error());
        return;
    }
    const char *way = NULL, *origin = NULL;
    check(tw_plan_way(plan, &way));
    check(tw_plan_origin(plan, &origin));
    fprintf(out, "%s|0|%s|%s\n", name, way, origin);
    check(tw_plan_call(plan));
    check(tw_plan_free(plan));
}

int main(int argc, char** argv) {
    int rank;
    char path[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s/%d", argc > 1 ? argv[1] : ".", rank);
    out = fopen(path, "w");
    if (!out) MPI_Abort(MPI_COMM_WORLD, 1);

    const int64_t points[3] = {12, 8, 3}, split[2] = {2, 1}, other[2] = {1, 2};
    const int periodic[2] = {1, 0};
    tw_layout blocks, lines;
    tw_pattern halo, transpose, sum, fetch, adjoint;
    tw_points own;
    check(tw_blocks(points, split, "xy", &blocks));
    check(tw_blocks(points, other, "zy", &lines));
    check(tw_halo(blocks, 2, periodic, &halo));
    check(tw_transpose(blocks, lines, &transpose));
    check(tw_allreduce(2, 7, &sum));
    check(tw_points_of_count(MPI_COMM_WORLD, 5, &own));
    const int owner[2] = {1 - rank, 1 - rank};
    const int64_t index[2] = {0, 4};
    check(tw_points_fetch_listed(own, 2, owner, 2, index, 0, NULL, TW_ANY_PEERS, NULL, &fetch));
    check(tw_adjoint(fetch, &adjoint));

    static double a[4000], b[4000], c[4000];
    static float f[4000], g[4000];
    static int32_t i[7];
    const tw_field halos[2] = {tw_dense(a, TW_F8, 10, 12, 3), tw_dense(b, TW_F8, 10, 12, 3)};
    const tw_field from = tw_dense(f, TW_F4, 6, 8, 3), to = tw_dense(g, TW_F4, 12, 4, 3);
    const tw_field vector = tw_vector(i, TW_I4, 7);
    const tw_field here = tw_dense(a, TW_F8, 5, 3, 2), there = tw_dense(c, TW_F8, 2, 3, 2);
    planned("halo", halo, 2, halos, NULL, NULL);
    tw_field shared[2];
    for (int n = 0; n < 2; ++n) check(tw_empty(halo, TW_SOURCE, rank, TW_F8, &shared[n]));
    planned("halo in shared memory", halo, 2, shared, NULL, NULL);
    planned("halo of one field", halo, 1, halos, NULL, NULL);
    planned("halo by argument", halo, 2, halos, NULL, "persistent");
    planned("transpose", transpose, 1, &from, &to, NULL);
    planned("allreduce", sum, 1, &vector, NULL, NULL);
    planned("fetch", fetch, 1, &here, &there, NULL);
    planned("adjoint", adjoint, 1, &there, &here, NULL);

    tw_plan plan;
    tw_options named = tw_default_options(); /* so that no file is asked */
    named.algorithm = "sweep";
    named.transport = "isend-irecv";
    named.packing = "buffer";
    check(tw_plan_make(halo, MPI_COMM_WORLD, 2, halos, 0, NULL, &named, &plan));
    snprintf(path, sizeof path, "%s/step.toml", argc > 1 ? argv[1] : ".");
    check(tw_record_begin(MPI_COMM_WORLD));
    check(tw_plan_start(plan));
    check(tw_plan_wait(plan));
    check(tw_record_end(path));
    check(tw_plan_free(plan));

    for (int n = 0; n < 2; ++n) check(tw_release(shared[n].data));
    fclose(out);
    MPI_Finalize();
    return 0;
}
