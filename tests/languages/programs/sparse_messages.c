/* What points, fetches and plans of them cost a rank in messages, counted between the program and MPI: each rank of a
 * ring owns 2 points and wants 1 of the next one. Rank 0 prints, for each act, the most messages that a rank sends, the
 * collectives in which every rank hears of every other, and the longest reduction in numbers. None of the three may
 * grow with the ranks.
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

#define ALL (const void* b, int n, MPI_Datatype t, void* in, int m, MPI_Datatype u, MPI_Comm c)
COUNTED(DENSE, Alltoall, ALL, (b, n, t, in, m, u, c))
COUNTED(DENSE, Allgather, ALL, (b, n, t, in, m, u, c))
COUNTED(DENSE, Allgatherv,
        (const void* b, int n, MPI_Datatype t, void* in, const int* m, const int* d, MPI_Datatype u, MPI_Comm c),
        (b, n, t, in, m, d, u, c))
COUNTED(DENSE, Alltoallv,
        (const void* b, const int* n, const int* e, MPI_Datatype t, void* in, const int* m, const int* d,
         MPI_Datatype u, MPI_Comm c),
        (b, n, e, t, in, m, d, u, c))
COUNTED(DENSE, Gather, (const void* b, int n, MPI_Datatype t, void* in, int m, MPI_Datatype u, int to, MPI_Comm c),
        (b, n, t, in, m, u, to, c))
COUNTED(DENSE, Reduce_scatter, (const void* b, void* in, const int* n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
        (b, in, n, t, o, c))
COUNTED(DENSE, Reduce_scatter_block, (const void* b, void* in, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
        (b, in, n, t, o, c))

int MPI_Allreduce(const void* b, void* in, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c) {
    reduced(n);
    return PMPI_Allreduce(b, in, n, t, o, c);
}

int MPI_Iallreduce(const void* b, void* in, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* r) {
    reduced(n);
    return PMPI_Iallreduce(b, in, n, t, o, c, r);
}

static void counted(const char* act, tw_status status) {
    int most[KINDS], rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (status != TW_OK) {
        fprintf(stderr, "rank %d, %s: %s\n", rank, act, tw_last_error());
        exit(1);
    }
    PMPI_Allreduce(seen, most, KINDS, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %d %d %d\n", act, most[MESSAGES], most[DENSE], most[LONGEST]);
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
