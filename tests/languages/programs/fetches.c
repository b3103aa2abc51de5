/* What fetches carry on any number of ranks, against modular arithmetic: lists of ids, of owners and indices, with
 * places; levels inside, outside and around; every element type; ranks without points; adjoints; shared memory; fetches
 * that are known to all; and the interior and the rim of a structured halo.
 *
 *     mpiexec -n 3 fetches_c
 */
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tradewind/tradewind.h>

enum { PART = 7, MAXIMUM = 4096 };

static int rank, ranks;
static int64_t total;

static void require(int right, const char* what) {
    if (right) return;
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(tw_status status) {
    require(status == TW_OK, tw_last_error());
}

/* Of the ids 3, 6, 9, ... each rank is dealt one in turn, and has them from above; the last of several has none. */
static int64_t owned(int64_t* ids) {
    const int owners = ranks > 1 ? ranks - 1 : 1;
    int64_t n = 0;
    total = 3 * PART * owners;
    if (rank < owners)
        for (; n < PART; ++n) ids[n] = 3 * (1 + rank + owners * (PART - 1 - n));
    return n;
}

/* What it wants: all in disorder, some twice; the first rank nothing. */
static int64_t wanted(int64_t* ids) {
    int64_t n = 0;
    if (rank == 0 && ranks > 1) return 0;
    for (int64_t i = 0; i < total / 3; ++i) ids[n++] = 3 * (1 + (5 * i + rank) % (total / 3));
    for (int64_t i = 0; i < 4; ++i) ids[n++] = 6;
    return n;
}

/* Elements of a type, with small whole numbers. */
static void put(void* data, int element, int64_t at, int64_t value) {
    switch (element) {
        case TW_F4: ((float*)data)[at] = (float)value; break;
        case TW_F8: ((double*)data)[at] = (double)value; break;
        case TW_I4: ((int32_t*)data)[at] = (int32_t)value; break;
        case TW_I8: ((int64_t*)data)[at] = value; break;
        case TW_C8: ((float complex*)data)[at] = (float)value - 2 * (float)value * I; break;
        default: ((double complex*)data)[at] = (double)value - 2 * (double)value * I;
    }
}

static int holds(const void* data, int element, int64_t at, int64_t value) {
    static const size_t bytes[6] = {4, 8, 4, 8, 8, 16};
    double complex right;
    put(&right, element, 0, value);
    return memcmp((const char*)data + bytes[element] * (size_t)at, &right, bytes[element]) == 0;
}

/* Where the points lie in a field: (point), (level, point), (point, level), (level, point, level). */
typedef struct shape {
    int axis, dimensions;
    int64_t inner, outer; /* levels */
} shape;

static tw_field field_of(void* data, int element, shape s, int64_t points) {
    const int64_t extents[3][3] = {{points, s.inner, s.outer}, {s.inner, points, s.outer}, {s.inner, s.outer, points}};
    const int64_t* n = extents[s.axis];
    tw_field field = tw_dense(data, element, n[0], n[1], n[2]);
    field.dimensions = s.dimensions;
    return field;
}

static int64_t place_of(shape s, int64_t points, int64_t point, int64_t inner, int64_t outer) {
    if (s.axis == 0) return point + points * (inner + s.inner * outer);
    if (s.axis == 1) return inner + s.inner * (point + points * outer);
    return inner + s.inner * (outer + s.outer * point);
}

/* Numbers a field by the ids of its points, or counts what is not so numbered. */
static int64_t number_or_count(void* data, int element, shape s, int64_t points, const int64_t* ids, int64_t factor,
                               int numbering) {
    int64_t wrong = 0;
    for (int64_t i = 0; i < points; ++i)
        for (int64_t inner = 0; inner < s.inner; ++inner)
            for (int64_t outer = 0; outer < s.outer; ++outer) {
                const int64_t at = place_of(s, points, i, inner, outer),
                              value = factor * (ids[i] + 100 * inner + 1000 * outer);
                if (numbering)
                    put(data, element, at, value);
                else
                    wrong += !holds(data, element, at, value);
            }
    return wrong;
}

/* Two fields in one exchange, there and back. */
static void both_ways(tw_pattern fetch, int64_t owns, const int64_t* own, int64_t wants, const int64_t* want,
                      const char* algorithm, int element, shape s) {
    static double complex memory[4][MAXIMUM];
    tw_pattern adjoint = TW_NULL;
    tw_plan plan = TW_NULL;
    tw_options o = tw_default_options();
    int64_t sums[PART], sent = 0, messages = 0;
    o.axis = s.axis;
    o.algorithm = algorithm;
    o.check = 1;
    memset(memory, 0, sizeof memory);
    const tw_field source[2] = {field_of(memory[0], element, s, owns), field_of(memory[1], element, s, owns)};
    const tw_field target[2] = {field_of(memory[2], element, s, wants), field_of(memory[3], element, s, wants)};
    number_or_count(memory[0], element, s, owns, own, 1, 1);
    number_or_count(memory[1], element, s, owns, own, -2, 1);
    check(tw_plan_make(fetch, MPI_COMM_WORLD, 2, source, 2, target, &o, &plan));
    check(tw_plan_call(plan));
    require(!number_or_count(memory[2], element, s, wants, want, 1, 0), "a wrong point was fetched");
    require(!number_or_count(memory[3], element, s, wants, want, -2, 0), "a wrong point in the second field");
    check(tw_plan_traffic(plan, &messages, &sent));
    require(ranks > 1 || messages == 0, "a message to itself");
    check(tw_plan_free(plan));

    /* Back: what is fetched so often is added so often. */
    check(tw_adjoint(fetch, &adjoint));
    check(tw_plan_make(adjoint, MPI_COMM_WORLD, 1, target, 1, source, &o, &plan));
    number_or_count(memory[0], element, s, owns, own, 0, 1);
    check(tw_plan_start(plan));
    check(tw_plan_wait(plan));
    check(tw_plan_free(plan));
    check(tw_pattern_free(adjoint));
    for (int64_t i = 0; i < owns; ++i) sums[i] = (ranks > 1 ? ranks - 1 : 1) * (own[i] == 6 ? 5 : 1);
    for (int64_t i = 0; i < owns; ++i)
        for (int64_t inner = 0; inner < s.inner; ++inner)
            for (int64_t outer = 0; outer < s.outer; ++outer)
                require(holds(memory[0], element, place_of(s, owns, i, inner, outer),
                              sums[i] * (own[i] + 100 * inner + 1000 * outer)),
                        "a wrong sum was added back");
}

static void fetches(void) {
    static const shape shapes[6] = {{0, 1, 1, 1}, {0, 2, 3, 1}, {1, 2, 4, 1}, {1, 3, 2, 3}, {0, 3, 2, 2}, {2, 3, 2, 2}};
    int64_t own[PART], want[MAXIMUM], index[MAXIMUM];
    int owner[MAXIMUM], peer[64], peers = 0;
    const int64_t owns = owned(own), wants = wanted(want);
    tw_points points = TW_NULL, plain = TW_NULL;
    tw_pattern fetch = TW_NULL, same = TW_NULL, whole = TW_NULL;
    check(tw_points_of_ids(MPI_COMM_WORLD, owns, own, &points));
    check(tw_points_fetch(points, wants, want, TW_ANY_PEERS, NULL, &fetch));
    for (int element = TW_F4; element <= TW_C16; ++element)
        both_ways(fetch, owns, own, wants, want, NULL, element, shapes[element]);

    /* The same by owners and indices, among known peers; and known to all, passed on by nodes. */
    check(tw_points_locate(points, wants, want, owner, index));
    check(tw_points_of_count(MPI_COMM_WORLD, owns, &plain));
    for (int r = 0; r < ranks; ++r)
        if (r != rank) peer[peers++] = r;
    check(tw_points_fetch_listed(plain, wants, owner, wants, index, 0, NULL, peers, peer, &same));
    both_ways(same, owns, own, wants, want, "direct", TW_F8, shapes[3]);
    check(tw_points_known_to_all(points, fetch, &whole));
    both_ways(whole, owns, own, wants, want, ranks > 1 ? "two-level-2" : "leaders-1", TW_F4, shapes[2]);
    check(tw_pattern_free(whole));
    check(tw_pattern_free(same));
    check(tw_pattern_free(fetch));
    check(tw_points_free(plain));
    check(tw_points_free(points));
}

/* Every rank has the whole row, of which it owns each ranks-th point; the others are halo, between its own. */
static void scattered_halo(void) {
    const int64_t n = 4 * ranks;
    int owner[MAXIMUM];
    int64_t index[MAXIMUM], ghosts = 0;
    double row[MAXIMUM];
    MPI_Comm comm;
    tw_points points = TW_NULL;
    tw_pattern halo = TW_NULL, adjoint = TW_NULL;
    tw_plan plan = TW_NULL;
    for (int64_t i = 0; i < n; ++i) {
        row[i] = i % ranks == rank ? (double)(10 * i) : -7;
        if (i % ranks != rank) {
            owner[ghosts] = (int)(i % ranks);
            index[ghosts++] = i;
        }
    }
    const tw_field field = tw_vector(row, TW_F8, n);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    check(tw_points_of_count(comm, n, &points));
    MPI_Comm_free(&comm); /* points have a duplicate of their own */
    check(tw_points_halo_listed(points, ghosts, owner, ghosts, index, ghosts, index, TW_ANY_PEERS, NULL, &halo));
    check(tw_plan_make(halo, MPI_COMM_WORLD, 1, &field, 0, NULL, NULL, &plan));
    check(tw_plan_call(plan));
    for (int64_t i = 0; i < n; ++i) require(row[i] == (double)(10 * i), "a wrong point of a scattered halo");
    check(tw_plan_free(plan));

    /* In one array the adjoint adds all halos of a point to it, and leaves them. */
    check(tw_adjoint(halo, &adjoint));
    check(tw_plan_make(adjoint, MPI_COMM_WORLD, 1, &field, 0, NULL, NULL, &plan));
    check(tw_plan_call(plan));
    for (int64_t i = 0; i < n; ++i)
        require(row[i] == (double)(i % ranks == rank ? ranks * 10 * i : 10 * i), "a wrong sum of a scattered halo");
    check(tw_plan_free(plan));
    check(tw_pattern_free(adjoint));
    check(tw_pattern_free(halo));
    check(tw_points_free(points));
}

/* Source and target in memory that the ranks of a node share, with levels; places with gaps between them. */
static void shared_memory(void) {
    const int64_t levels[2] = {2, 3}, index[2] = {1, 0}, place[2] = {3, 1};
    const int next = (rank + 1) % ranks, owner[2] = {next, next};
    int64_t begin[3], end[3];
    tw_points points = TW_NULL;
    tw_pattern flat = TW_NULL, fetch = TW_NULL;
    tw_plan plan = TW_NULL;
    tw_field source, target;
    tw_options o = tw_default_options();
    check(tw_points_of_count(MPI_COMM_WORLD, 2, &points));
    check(tw_points_fetch_listed(points, 2, owner, 2, index, 2, place, TW_ANY_PEERS, NULL, &flat));
    check(tw_fetch_levels(flat, levels, &fetch));
    check(tw_pattern_box(fetch, TW_TARGET, rank, begin, end));
    require(begin[0] == 0 && end[0] == 4 && end[1] == 2 && end[2] == 3, "another box of a fetch with levels");
    check(tw_pattern_box(fetch, TW_SOURCE, rank, begin, end));
    require(begin[0] == 0 && end[0] == 2, "a source array that does not begin at 0");
    check(tw_empty(fetch, TW_SOURCE, rank, TW_F8, &source));
    check(tw_empty(fetch, TW_TARGET, rank, TW_F8, &target));
    double *here = source.data, *there = target.data;
    for (int64_t i = 0; i < 12; ++i) here[i] = (double)(100 * rank + i + 1);
    o.transport = "shared";
    o.packing = "direct";
    check(tw_plan_make(fetch, MPI_COMM_WORLD, 1, &source, 1, &target, &o, &plan));
    check(tw_plan_call(plan));
    for (int64_t level = 0; level < 6; ++level) {
        const double* four = there + 4 * level;
        const double first = (double)(100 * next + 2 * level + 1);
        require(four[3] == first + 1 && four[1] == first, "a wrong point in shared memory");
        require(four[0] == 0 && four[2] == 0, "a place that is not listed was written");
    }
    check(tw_release(here));
    check(tw_release(there));
    check(tw_plan_free(plan));
    check(tw_pattern_free(fetch));
    check(tw_pattern_free(flat));
    check(tw_points_free(points));
}

/* Of a structured halo, interior and rim are all own points, once; only those of the rim see the halo. */
static void regions(void) {
    enum { NX = 12, NY = 9, WIDTH = 3 };
    const int64_t points[3] = {NX, NY, 1}, split[2] = {ranks, 1};
    const int periodic[2] = {1, 0};
    int64_t own[3], own_end[3], begin[4][3], end[4][3], a[3], b[3];
    int boxes = 0, seen[NY][NX] = {{0}};
    tw_layout blocks = TW_NULL;
    tw_pattern halo = TW_NULL;
    check(tw_blocks(points, split, "xy", &blocks));
    check(tw_halo(blocks, WIDTH, periodic, &halo));
    check(tw_layout_box(blocks, rank, own, own_end));
    check(tw_halo_interior(halo, rank, 2, a, b));
    check(tw_halo_rim(halo, rank, 2, &boxes, begin, end));
    for (int64_t y = a[1]; y < b[1]; ++y)
        for (int64_t x = a[0]; x < b[0]; ++x) {
            ++seen[y][x];
            require(x - 2 >= own[0] && x + 2 < own_end[0], "an interior point whose stencil reaches the halo");
        }
    require(b[1] - a[1] == NY, "an interior that does not reach to the end of the grid");
    for (int i = 0; i < boxes; ++i)
        for (int64_t y = begin[i][1]; y < end[i][1]; ++y)
            for (int64_t x = begin[i][0]; x < end[i][0]; ++x) ++seen[y][x];
    for (int64_t y = 0; y < NY; ++y)
        for (int64_t x = 0; x < NX; ++x)
            require(seen[y][x] == (x >= own[0] && x < own_end[0]), "interior and rim are not the own points once");
    check(tw_halo_widened(halo, rank, 2, a, b));
    require(a[0] == own[0] - 2 && b[0] == own_end[0] + 2 && a[1] == 0 && b[1] == NY,
            "a part that is widened otherwise");
    check(tw_pattern_free(halo));
    check(tw_layout_free(blocks));
}

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    fetches();
    scattered_halo();
    shared_memory();
    regions();
    MPI_Finalize();
    if (rank == 0) printf("all right\n");
    return 0;
}
