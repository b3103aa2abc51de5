/* What gather-scatters do on any number of ranks, against sums that are counted here: values, components of values and
 * levels, near 2^63; and what is refused on every rank.
 *
 *     mpiexec -n 3 gather_scatters_c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tradewind/tradewind.h>

enum { VALUES = 6, LEVELS = 3 };

static int rank, ranks;

static void require(int right, const char* what) {
    if (right) return;
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(tw_status status) {
    require(status == TW_OK, tw_last_error());
}

/* A chain: the last value of a rank is the first of the next; two of its own; one that all have; one that takes no
 * part. */
static void ids_of(int of, int64_t* ids) {
    const int64_t chain = 1000 + of, own = 5000 + of;
    const int64_t all[VALUES] = {chain, own, own, INT64_MAX, 0, chain + 1};
    memcpy(ids, all, sizeof all);
}

static double value_of(int of, int place, int level) {
    return 1 + of + 10 * place + 100 * level;
}

static double sum_of(int64_t id, int level) {
    double sum = 0;
    int64_t ids[VALUES];
    for (int r = 0; r < ranks; ++r) {
        ids_of(r, ids);
        for (int i = 0; i < VALUES; ++i)
            if (ids[i] == id) sum += value_of(r, i, level);
    }
    return sum;
}

static void summed(int levels_inside) {
    int64_t ids[VALUES];
    ids_of(rank, ids);
    tw_pattern pattern;
    check(tw_gather_scatter(MPI_COMM_WORLD, VALUES, ids, "add", &pattern));
    double data[VALUES * LEVELS];
    for (int i = 0; i < VALUES; ++i)
        for (int l = 0; l < LEVELS; ++l) data[levels_inside ? i * LEVELS + l : l * VALUES + i] = value_of(rank, i, l);
    tw_field field =
        levels_inside ? tw_dense(data, TW_F8, LEVELS, VALUES, 1) : tw_dense(data, TW_F8, VALUES, LEVELS, 1);
    tw_options options = tw_default_options();
    options.axis = levels_inside;
    tw_plan plan;
    check(tw_plan_make(pattern, MPI_COMM_WORLD, 1, &field, 0, NULL, &options, &plan));
    check(tw_plan_call(plan));
    for (int i = 0; i < VALUES; ++i)
        for (int l = 0; l < LEVELS; ++l) {
            const double right = ids[i] > 0 ? sum_of(ids[i], l) : value_of(rank, i, l);
            require(data[levels_inside ? i * LEVELS + l : l * VALUES + i] == right, "another sum");
        }
    check(tw_plan_free(plan));
    check(tw_pattern_free(pattern));
}

/* Rank 0 has an argument that does not fit: it says so, and the others do not wait for it. */
static void refused(int64_t values, const int64_t* ids, const char* operation, const char* words) {
    tw_pattern pattern;
    const tw_status status = tw_gather_scatter(MPI_COMM_WORLD, values, ids, operation, &pattern);
    require(status == (rank == 0 ? TW_ERROR_INPUT : TW_ERROR_PLAN), "another status");
    require(strstr(tw_last_error(), words) != NULL, tw_last_error());
    require(pattern.id == 0, "a refused pattern has a handle");
}

/* Two elements of three points per direction on each rank, along x: the planes between elements count twice. */
static void brick(const char* algorithm) {
    const int64_t elements[3] = {2, 1, 1}, split[3] = {ranks, 1, 1};
    const int open[3] = {0, 0, 0};
    tw_pattern pattern;
    tw_pattern sum;
    check(tw_brick_gather_scatter(elements, 3, split, open, "add", &sum));
    check(tw_adjoint(sum, &pattern)); /* which is itself */
    check(tw_pattern_free(sum));
    double data[2 * 27];
    for (int i = 0; i < 2 * 27; ++i) data[i] = 1;
    tw_field field = tw_dense(data, TW_F8, 2 * 27, 1, 1);
    tw_options options = tw_default_options();
    options.algorithm = algorithm;
    tw_plan plan;
    check(tw_plan_make(pattern, MPI_COMM_WORLD, 1, &field, 0, NULL, &options, &plan));
    check(tw_plan_call(plan));
    for (int i = 0; i < 2 * 27; ++i) {
        const int last = i < 27 && i % 3 == 2, first = i >= 27 && i % 3 == 0;
        const int below = i < 27 && i % 3 == 0 && rank > 0, above = i >= 27 && i % 3 == 2 && rank < ranks - 1;
        require(data[i] == 1 + (last || first || below || above), "another number of copies");
    }
    check(tw_plan_free(plan));
    check(tw_pattern_free(pattern));
}

static void no_brick(const int64_t elements[3], const char* operation, const char* words) {
    const int64_t split[3] = {ranks, 1, 1};
    const int open[3] = {0, 0, 0};
    tw_pattern pattern;
    require(tw_brick_gather_scatter(elements, 3, split, open, operation, &pattern) == TW_ERROR_INPUT, "it is accepted");
    require(strstr(tw_last_error(), words) != NULL, tw_last_error());
    require(pattern.id == 0, "a refused pattern has a handle");
}

static void no_adjoint(void) {
    const int64_t elements[3] = {2, 1, 1}, split[3] = {ranks, 1, 1};
    const int open[3] = {0, 0, 0};
    tw_pattern largest, pattern;
    check(tw_brick_gather_scatter(elements, 3, split, open, "max", &largest));
    require(tw_adjoint(largest, &pattern) == TW_ERROR_INPUT, "it has an adjoint");
    require(strstr(tw_last_error(), "the max of values is not linear") != NULL, tw_last_error());
    check(tw_pattern_free(largest));
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    summed(0);
    summed(1);
    brick("cartesian");
    brick("pairwise");
    const int64_t few[3] = {2, 1, 1}, none[3] = {2, 0, 1};
    no_brick(few, "sum", "add, mul, min and max are allowed");
    no_brick(none, "add", "0");
    no_brick(NULL, "add", "elements is a null pointer");
    no_adjoint();
    const int64_t id = 1;
    refused(rank == 0 ? -1 : 1, &id, "add", "-1 entries in ids: 0 or more are allowed");
    refused(1, rank == 0 ? NULL : &id, "add", "ids is a null pointer");
    refused(1, &id, rank == 0 ? "sum" : "add", rank == 0 ? "add, mul, min and max are allowed" : "rank 0 cannot");
    int printed = rank == 0 ? printf("all right\n") : 1;
    MPI_Finalize();
    return printed > 0 ? 0 : 1;
}
