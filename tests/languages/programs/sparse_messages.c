/* What points, fetches and plans of them cost a rank in messages, counted between the program and MPI: each rank of a
 * ring owns 2 points and wants 1 of the next one. Rank 0 prints, for each act, the maximum of messages that a rank
 * sends, the collectives in which one or every rank receives from all others or sends to all others, of which there
 * may be none, and the longest reduction or broadcast in numbers. The first and the last may not grow with the ranks.
 *
 *     mpiexec -n RANKS sparse_messages_c
 */
#include <stdio.h>
#include <stdlib.h>
#include <tradewind/tradewind.h>

enum { MESSAGES, DENSE, LONGEST, KINDS };
static int seen[KINDS];

static void reduced(int count) {
    if (count > seen[LONGEST]) seen[LONGEST] = count;
}

#define COUNTED(kind, name, parameters, arguments) \
    int MPI_##name parameters {                    \
        ++seen[kind];                              \
        return PMPI_##name arguments;              \
    }
#define SEND (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c)
#define ISEND (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r)
COUNTED(MESSAGES, Send, SEND, (b, n, t, to, tag, c))
COUNTED(MESSAGES, Ssend, SEND, (b, n, t, to, tag, c))
COUNTED(MESSAGES, Isend, ISEND, (b, n, t, to, tag, c, r))
COUNTED(MESSAGES, Issend, ISEND, (b, n, t, to, tag, c, r))
COUNTED(MESSAGES, Sendrecv,
        (const void* b, int n, MPI_Datatype t, int to, int tag, void* in, int m, MPI_Datatype u, int from, int other,
         MPI_Comm c, MPI_Status* s),
        (b, n, t, to, tag, in, m, u, from, other, c, s))
COUNTED(MESSAGES, Put, (const void* b, int n, MPI_Datatype t, int to, MPI_Aint d, int m, MPI_Datatype u, MPI_Win w),
        (b, n, t, to, d, m, u, w))
COUNTED(MESSAGES, Accumulate,
        (const void* b, int n, MPI_Datatype t, int to, MPI_Aint d, int m, MPI_Datatype u, MPI_Op o, MPI_Win w),
        (b, n, t, to, d, m, u, o, w))

int MPI_Start(MPI_Request* r) {
    ++seen[MESSAGES];  // or a receive: they are not distinguished
    return PMPI_Start(r);
}

int MPI_Startall(int n, MPI_Request* r) {
    seen[MESSAGES] += n;
    return PMPI_Startall(n, r);
}

// A collective and the one that does not block.
#define UNPACKED(...) __VA_ARGS__
#define BOTH(act, name, later, parameters, arguments)                  \
    int MPI_##name(UNPACKED parameters, MPI_Comm c) {                  \
        act;                                                           \
        return PMPI_##name(UNPACKED arguments, c);                     \
    }                                                                  \
    int MPI_##later(UNPACKED parameters, MPI_Comm c, MPI_Request* r) { \
        act;                                                           \
        return PMPI_##later(UNPACKED arguments, c, r);                 \
    }
#define HEARD(...) BOTH(++seen[DENSE], __VA_ARGS__)
#define TOLD(...) BOTH(reduced(n), __VA_ARGS__)
#define ONE const void *b, int n, MPI_Datatype t
#define EACH const void *b, const int *n, const int *d, MPI_Datatype t
#define ONE_IN void *in, int m, MPI_Datatype u
#define EACH_IN void *in, const int *m, const int *e, MPI_Datatype u
#define TYPES(place)                                                                                            \
    const void *b, const int *n, const place *d, const MPI_Datatype *t, void *in, const int *m, const place *e, \
        const MPI_Datatype *u
HEARD(Alltoall, Ialltoall, (ONE, ONE_IN), (b, n, t, in, m, u))
HEARD(Alltoallv, Ialltoallv, (EACH, EACH_IN), (b, n, d, t, in, m, e, u))
HEARD(Alltoallw, Ialltoallw, (TYPES(int)), (b, n, d, t, in, m, e, u))
HEARD(Allgather, Iallgather, (ONE, ONE_IN), (b, n, t, in, m, u))
HEARD(Allgatherv, Iallgatherv, (ONE, EACH_IN), (b, n, t, in, m, e, u))
HEARD(Neighbor_alltoall, Ineighbor_alltoall, (ONE, ONE_IN), (b, n, t, in, m, u))
HEARD(Neighbor_alltoallv, Ineighbor_alltoallv, (EACH, EACH_IN), (b, n, d, t, in, m, e, u))
HEARD(Neighbor_alltoallw, Ineighbor_alltoallw, (TYPES(MPI_Aint)), (b, n, d, t, in, m, e, u))
HEARD(Neighbor_allgather, Ineighbor_allgather, (ONE, ONE_IN), (b, n, t, in, m, u))
HEARD(Neighbor_allgatherv, Ineighbor_allgatherv, (ONE, EACH_IN), (b, n, t, in, m, e, u))
HEARD(Gather, Igather, (ONE, ONE_IN, int root), (b, n, t, in, m, u, root))
HEARD(Gatherv, Igatherv, (ONE, EACH_IN, int root), (b, n, t, in, m, e, u, root))
HEARD(Scatter, Iscatter, (ONE, ONE_IN, int root), (b, n, t, in, m, u, root))
HEARD(Scatterv, Iscatterv, (EACH, ONE_IN, int root), (b, n, d, t, in, m, u, root))
HEARD(Reduce_scatter, Ireduce_scatter, (const void* b, void* in, const int* n, MPI_Datatype t, MPI_Op o),
      (b, in, n, t, o))
HEARD(Reduce_scatter_block, Ireduce_scatter_block, (const void* b, void* in, int n, MPI_Datatype t, MPI_Op o),
      (b, in, n, t, o))
TOLD(Allreduce, Iallreduce, (const void* b, void* in, int n, MPI_Datatype t, MPI_Op o), (b, in, n, t, o))
TOLD(Reduce, Ireduce, (const void* b, void* in, int n, MPI_Datatype t, MPI_Op o, int root), (b, in, n, t, o, root))
TOLD(Bcast, Ibcast, (void* b, int n, MPI_Datatype t, int root), (b, n, t, root))

static void counted(const char* act, tw_status status) {
    int maximum[KINDS], rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (status != TW_OK) {
        fprintf(stderr, "rank %d, %s: %s\n", rank, act, tw_last_error());
        exit(1);
    }
    PMPI_Allreduce(seen, maximum, KINDS, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %d %d %d\n", act, maximum[MESSAGES], maximum[DENSE], maximum[LONGEST]);
    for (int i = 0; i < KINDS; ++i) seen[i] = 0;
}

int main(int count, char** arguments) {
    int rank, ranks;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int next = (rank + 1) % ranks, peers[2] = {next, (rank + ranks - 1) % ranks};
    const int64_t own[2] = {2 * rank, 2 * rank + 1}, wanted[1] = {2 * next}, first[1] = {0};
    const int64_t grid[3] = {2 * ranks, 3, 1}, split[2] = {ranks, 1};
    double mine[2] = {rank, -rank}, theirs[1] = {-1};
    const tw_field source = tw_vector(mine, TW_F8, 2), target = tw_vector(theirs, TW_F8, 1);
    tw_points ids, plain, columns;
    tw_pattern fetch, listed, among, of_columns;
    tw_layout layout;
    tw_plan plan;

    counted("points of ids", tw_points_of_ids(MPI_COMM_WORLD, 2, own, &ids));
    counted("points of a number", tw_points_of_count(MPI_COMM_WORLD, 2, &plain));
    counted("layout", tw_blocks(grid, split, "xy", &layout));
    counted("points of a layout", tw_points_of_layout(MPI_COMM_WORLD, layout, &columns));
    counted("fetch by id", tw_points_fetch(ids, 1, wanted, TW_ANY_PEERS, NULL, &fetch));
    counted("fetch by owner", tw_points_fetch_listed(plain, 1, &next, 1, first, 0, NULL, TW_ANY_PEERS, NULL, &listed));
    counted("fetch of a column", tw_points_fetch(columns, 1, wanted, TW_ANY_PEERS, NULL, &of_columns));
    counted("fetch among peers", tw_points_fetch_listed(plain, 1, &next, 1, first, 0, NULL, 2, peers, &among));
    counted("plan", tw_plan_make(fetch, MPI_COMM_WORLD, 1, &source, 1, &target, NULL, &plan));
    counted("exchange", tw_plan_call(plan));
    if (theirs[0] != next) return 2;
    MPI_Finalize();
    return 0;
}
