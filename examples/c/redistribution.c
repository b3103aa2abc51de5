/* HIRLAM's redistribution in C: from blocks over x and y (2D) to whole lines along x (FFT), to whole lines along y
 * (TRI), and back; and its halo.
 *
 *     mpiexec -n 4 redistribution_c [NX NY NZ [RANKS_X]]
 *
 * Every point holds its own number, so that each rank can check what has arrived. The way is chosen by
 * the environment: TRADEWIND_TRANSPOSE=burst,shared,direct mpiexec ...
 */
#include <stdio.h>
#include <stdlib.h>
#include <tradewind/tradewind.h>

enum { HALO = 3 };

/* What a model does about an error is the model's business; this one ends. */
static void check(tw_status status) {
    if (status == TW_OK) return;
    fprintf(stderr, "%s\n", tw_last_error());
    MPI_Abort(MPI_COMM_WORLD, (int)status);
}

/* An array [z][y][x] over a box of the grid. */
typedef struct array {
    int64_t begin[3], end[3];
    double* data;
} array;

static int64_t width(const array* a, int axis) {
    return a->end[axis] - a->begin[axis];
}

static double* at(const array* a, int64_t x, int64_t y, int64_t z) {
    return a->data + ((z - a->begin[2]) * width(a, 1) + (y - a->begin[1])) * width(a, 0) + (x - a->begin[0]);
}

static array allocated(tw_pattern pattern, tw_side side, int rank) {
    array a;
    check(tw_pattern_box(pattern, side, rank, a.begin, a.end));
    a.data = calloc((size_t)(width(&a, 0) * width(&a, 1) * width(&a, 2)), sizeof *a.data);
    if (!a.data) MPI_Abort(MPI_COMM_WORLD, 1);
    return a;
}

static tw_field field(const array* a) {
    return tw_dense(a->data, TW_F8, width(a, 0), width(a, 1), width(a, 2));
}

static double number(const int64_t points[3], int64_t x, int64_t y, int64_t z) {
    return (double)(x + points[0] * (y + points[1] * z));
}

/* Numbers the points of `a` that lie in the box, or counts those that hold another number. */
static int64_t number_or_count(const array* a, const int64_t points[3], const int64_t begin[3], const int64_t end[3],
                               int numbering) {
    int64_t wrong = 0;
    for (int64_t z = begin[2]; z < end[2]; ++z)
        for (int64_t y = begin[1]; y < end[1]; ++y)
            for (int64_t x = begin[0]; x < end[0]; ++x)
                if (numbering)
                    *at(a, x, y, z) = number(points, x, y, z);
                else if (*at(a, x, y, z) != number(points, x, y, z))
                    ++wrong;
    return wrong;
}

static int64_t all(int64_t wrong) {
    int64_t sum = 0;
    MPI_Allreduce(&wrong, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static void say(const char* what, tw_plan plan, int64_t wrong, int rank) {
    const char* way = NULL;
    int64_t messages = 0, bytes = 0;
    check(tw_plan_way(plan, &way));
    check(tw_plan_traffic(plan, &messages, &bytes));
    if (rank == 0)
        printf("%s by %s: rank 0 sends %lld messages, %lld bytes; %lld points wrong\n", what, way, (long long)messages,
               (long long)bytes, (long long)wrong);
}

/* From one layout to the other. */
static int64_t redistribute(const char* what, tw_layout from, tw_layout to, const int64_t points[3], int rank) {
    tw_pattern move = TW_NULL;
    tw_plan plan = TW_NULL;
    check(tw_transpose(from, to, &move));
    array before = allocated(move, TW_SOURCE, rank), after = allocated(move, TW_TARGET, rank);
    const tw_field source = field(&before), target = field(&after);
    check(tw_plan_make(move, MPI_COMM_WORLD, 1, &source, 1, &target, NULL, &plan));
    number_or_count(&before, points, before.begin, before.end, 1);
    check(tw_plan_call(plan));
    const int64_t wrong = all(number_or_count(&after, points, after.begin, after.end, 0));
    say(what, plan, wrong, rank);
    check(tw_plan_free(plan));
    check(tw_pattern_free(move));
    free(before.data);
    free(after.data);
    return wrong;
}

/* The halo, which ends where the grid does, while there would be something to compute. */
static int64_t exchange_halo(tw_layout blocks, const int64_t points[3], int rank) {
    tw_pattern halo = TW_NULL;
    tw_plan plan = TW_NULL;
    int64_t begin[3], end[3];
    const int periodic[2] = {0, 0};
    check(tw_halo(blocks, HALO, periodic, &halo));
    array u = allocated(halo, TW_SOURCE, rank);
    const tw_field both = field(&u);
    check(tw_plan_make(halo, MPI_COMM_WORLD, 1, &both, 0, NULL, NULL, &plan));
    check(tw_layout_box(blocks, rank, begin, end));
    number_or_count(&u, points, begin, end, 1);
    check(tw_plan_start(plan));
    check(tw_plan_wait(plan));
    for (int axis = 0; axis < 2; ++axis) {
        begin[axis] = u.begin[axis] < 0 ? 0 : u.begin[axis];
        end[axis] = u.end[axis] > points[axis] ? points[axis] : u.end[axis];
    }
    const int64_t wrong = all(number_or_count(&u, points, begin, end, 0));
    say("halo", plan, wrong, rank);
    check(tw_plan_free(plan));
    check(tw_pattern_free(halo));
    free(u.data);
    return wrong;
}

int main(int count, char** arguments) {
    int rank = 0, ranks = 1;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    int64_t points[3] = {60, 56, 12}, split[2] = {ranks % 2 ? 1 : 2, 0};
    for (int axis = 0; count > 3 && axis < 3; ++axis) points[axis] = atoll(arguments[1 + axis]);
    if (count > 4) split[0] = atoll(arguments[4]);
    split[1] = ranks / split[0];

    tw_layout twod = TW_NULL, fft = TW_NULL, tri = TW_NULL;
    check(tw_blocks(points, split, "xy", &twod));
    check(tw_pencils(points, split, 'x', &fft)); /* levels divided within each row of ranks */
    check(tw_pencils(points, split, 'y', &tri)); /* x divided within each column */
    int64_t wrong = redistribute("2D to FFT", twod, fft, points, rank);
    wrong += redistribute("FFT to TRI", fft, tri, points, rank);
    wrong += redistribute("TRI to FFT", tri, fft, points, rank);
    wrong += redistribute("FFT to 2D", fft, twod, points, rank);
    wrong += exchange_halo(twod, points, rank);
    check(tw_layout_free(twod));
    check(tw_layout_free(fft));
    check(tw_layout_free(tri));
    MPI_Finalize();
    return wrong != 0;
}
