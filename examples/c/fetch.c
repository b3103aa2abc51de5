/* Points of a mesh in C: the halo of an unstructured mesh; points on demand, as a semi-Lagrangian scheme wants them;
 * and the adjoint, which adds back.
 *
 *     mpiexec -n 4 fetch_c [NX NY LEVELS]
 *
 * The mesh is a torus of nx x ny cells, numbered in disorder. Every value follows from the number of its cell, so that
 * each rank can check what has arrived. The way is chosen by the environment:
 * TRADEWIND_FETCH=,put-notify mpiexec ...
 */
#include <stdio.h>
#include <stdlib.h>
#include <tradewind/tradewind.h>

static int rank, ranks;
static int64_t nx = 30, ny = 20, levels = 5;

/* What a model does about an error is the model's business; this one ends. */
static void check(tw_status status) {
    if (status == TW_OK) return;
    fprintf(stderr, "%s\n", tw_last_error());
    MPI_Abort(MPI_COMM_WORLD, (int)status);
}

/* Zeros, also where there is nothing to hold. */
static void* allocated(int64_t count, size_t bytes) {
    void* data = calloc((size_t)count + 1, bytes);
    if (!data) MPI_Abort(MPI_COMM_WORLD, 1);
    return data;
}

/* The number that a mesh generator gave to cell k: 7919 is prime, so that no two have the same. */
static int64_t id_of(int64_t k) {
    return (7919 * k + 13) % (nx * ny);
}

/* What a cell holds on a level. */
static double value(int64_t id, int64_t level) {
    return (double)(id + 100000 * level);
}

static int64_t points_of(tw_pattern pattern, tw_side side) {
    int64_t begin[3], end[3];
    check(tw_pattern_box(pattern, side, rank, begin, end));
    return end[0];
}

static void say(const char* what, tw_plan plan, int64_t wrong) {
    const char* way = NULL;
    int64_t messages = 0, bytes = 0, all = 0;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    check(tw_plan_way(plan, &way));
    check(tw_plan_traffic(plan, &messages, &bytes));
    if (rank == 0)
        printf("%s by %s: rank 0 sends %lld messages, %lld bytes; %lld values wrong\n", what, way, (long long)messages,
               (long long)bytes, (long long)all);
    if (all) MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Two fields [level][cell], the rank's own cells and behind them their neighbours on other ranks, in one exchange. */
static void exchange_halo(void) {
    const int64_t cells = nx * ny, first = cells * rank / ranks, last = cells * (rank + 1) / ranks;
    const int64_t owns = last - first;
    int64_t halos = 0, interior = 0, count = 0;
    int64_t *own = allocated(owns, 8), *halo = allocated(4 * owns, 8);
    for (int64_t k = first; k < last; ++k) {
        const int64_t x = k % nx, row = k - x;
        const int64_t next[4] = {row + (x + 1) % nx, row + (x + nx - 1) % nx, (k + nx) % cells,
                                 (k + cells - nx) % cells};
        own[k - first] = id_of(k);
        for (int i = 0; i < 4; ++i)
            if (next[i] < first || next[i] >= last) halo[halos++] = id_of(next[i]);
    }

    /* Cells that no other rank needs, cells that others need, the halo: three runs, so that messages are long ones. */
    int64_t *mine = allocated(owns, 8), *theirs = allocated(halos, 8), *index = allocated(halos, 8);
    check(tw_renumbered(MPI_COMM_WORLD, owns, own, halos, halo, mine, &interior, theirs, &halos));

    /* Neighbours on a mesh are so to each other: who is asked is known, and who asks. */
    tw_points points = TW_NULL;
    tw_pattern pattern = TW_NULL;
    tw_plan plan = TW_NULL;
    int *owner = allocated(halos, sizeof *owner), peers = 0, *peer = allocated(halos, sizeof *peer);
    check(tw_points_of_ids(MPI_COMM_WORLD, owns, mine, &points));
    check(tw_points_locate(points, halos, theirs, owner, index));
    for (int64_t i = 0; i < halos; ++i) /* they come owner by owner */
        if (peers == 0 || peer[peers - 1] != owner[i]) peer[peers++] = owner[i];
    check(tw_points_halo(points, halos, theirs, peers, peer, &pattern));

    count = points_of(pattern, TW_SOURCE);
    double *u = allocated(levels * count, sizeof *u), *v = allocated(levels * count, sizeof *v);
    for (int64_t level = 0; level < levels; ++level)
        for (int64_t i = 0; i < owns; ++i) {
            u[level * count + i] = value(mine[i], level);
            v[level * count + i] = -value(mine[i], level);
        }
    const tw_field fields[2] = {tw_dense(u, TW_F8, count, levels, 1), tw_dense(v, TW_F8, count, levels, 1)};
    check(tw_plan_make(pattern, MPI_COMM_WORLD, 2, fields, 0, NULL, NULL, &plan));
    check(tw_plan_start(plan)); /* here a model computes the first `interior` cells, which need no halo */
    check(tw_plan_wait(plan));  /* and here the others */
    int64_t wrong = count != owns + halos || interior > owns;
    for (int64_t level = 0; level < levels; ++level)
        for (int64_t i = 0; i < count; ++i) {
            const double right = value(i < owns ? mine[i] : theirs[i - owns], level);
            wrong += (u[level * count + i] != right) + (v[level * count + i] != -right);
        }
    say("halo", plan, wrong);
    check(tw_plan_free(plan));
    check(tw_pattern_free(pattern));
    check(tw_points_free(points));
    free(own), free(halo), free(mine), free(theirs), free(index), free(owner), free(peer), free(u), free(v);
}

/* The columns that the wind has come from, whichever rank has them now, in a field [column][level]; and how often each
 * was wanted, by the adjoint. */
static void fetch_on_demand(void) {
    const int64_t grid[3] = {nx, ny, levels}, split[2] = {1, ranks};
    int64_t begin[3], end[3], owns = 0;
    tw_layout blocks = TW_NULL;
    tw_points points = TW_NULL;
    tw_pattern fetch = TW_NULL, adjoint = TW_NULL;
    tw_plan plan = TW_NULL, back = TW_NULL;
    check(tw_blocks(grid, split, "xy", &blocks));
    check(tw_layout_box(blocks, rank, begin, end));
    check(tw_points_of_layout(MPI_COMM_WORLD, blocks, &points)); /* column (x, y) is point x + nx * y */
    check(tw_points_count(points, &owns));

    int64_t *wanted = allocated(owns, 8), n = 0, wrong = 0;
    for (int64_t y = begin[1]; y < end[1]; ++y)
        for (int64_t x = begin[0]; x < end[0]; ++x) wanted[n++] = (x + 3 + y % 5) % nx + nx * ((y + 2 + x % 3) % ny);
    check(tw_points_fetch(points, owns, wanted, TW_ANY_PEERS, NULL, &fetch));

    float *here = allocated(owns * levels, sizeof *here), *there = allocated(owns * levels, sizeof *there);
    for (int64_t i = 0; i < owns; ++i)
        for (int64_t level = 0; level < levels; ++level)
            here[i * levels + level] = (float)value(begin[0] + nx * begin[1] + i, level); /* rows of whole length */
    const tw_field source = tw_dense(here, TW_F4, levels, owns, 1), target = tw_dense(there, TW_F4, levels, owns, 1);
    tw_options options = tw_default_options();
    options.axis = 1; /* y: levels lie inside */
    check(tw_plan_make(fetch, MPI_COMM_WORLD, 1, &source, 1, &target, &options, &plan));
    check(tw_plan_call(plan));
    for (int64_t i = 0; i < owns; ++i)
        for (int64_t level = 0; level < levels; ++level)
            wrong += there[i * levels + level] != (float)value(wanted[i], level);
    say("on demand", plan, wrong);

    int32_t *ones = allocated(owns, sizeof *ones), *times = allocated(owns, sizeof *times);
    int64_t mine = 0, all = 0;
    for (int64_t i = 0; i < owns; ++i) ones[i] = 1;
    const tw_field given = tw_vector(ones, TW_I4, owns), sums = tw_vector(times, TW_I4, owns);
    check(tw_adjoint(fetch, &adjoint));
    check(tw_plan_make(adjoint, MPI_COMM_WORLD, 1, &given, 1, &sums, NULL, &back));
    check(tw_plan_call(back));
    for (int64_t i = 0; i < owns; ++i) mine += times[i];
    MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    say("adjoint", back, rank == 0 && all != nx * ny);
    check(tw_plan_free(plan));
    check(tw_plan_free(back));
    check(tw_pattern_free(fetch));
    check(tw_pattern_free(adjoint));
    check(tw_points_free(points));
    check(tw_layout_free(blocks));
    free(wanted), free(here), free(there), free(ones), free(times);
}

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (count > 3) nx = atoll(arguments[1]), ny = atoll(arguments[2]), levels = atoll(arguments[3]);
    exchange_halo();
    fetch_on_demand();
    MPI_Finalize();
    return 0;
}
