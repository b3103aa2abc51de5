/* Calls much of MPI on two or more ranks, and prints for each function how often, and how many bytes it sent and
   received, one line each: RANK NAME CALLS BYTES RECEIVED. Compiles as C and as C++. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOUBLES = 24, FUNCTIONS = 64 };
static struct {
    const char* name;
    long calls, bytes, received;
} counts[FUNCTIONS];
static int rank, size;
static double in[64 * DOUBLES], out[64 * DOUBLES];

static void did(const char* name, long bytes, long received) {
    int n = 0;
    while (n < FUNCTIONS && counts[n].name != NULL && strcmp(counts[n].name, name) != 0) n++;
    if (n == FUNCTIONS) abort();
    counts[n].name = name;
    counts[n].calls++;
    counts[n].bytes += bytes;
    counts[n].received += received;
}

static int next(void) {
    return (rank + 1) % size;
}
static int last(void) {
    return (rank + size - 1) % size;
}

/* All modes of sends, each received by another call. */
static void point_to_point(void) {
    const long b = DOUBLES * sizeof(double);
    MPI_Request request[2];
    MPI_Status status;
    int found = 0;
    if (rank == 0) {
        MPI_Send(out, DOUBLES, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD), did("MPI_Send", b, 0);
        MPI_Ssend(out, DOUBLES, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD), did("MPI_Ssend", b, 0);
        MPI_Send(out, 3, MPI_INT, 1, 3, MPI_COMM_WORLD), did("MPI_Send", 3 * sizeof(int), 0);
        MPI_Send(out, 5, MPI_CHAR, 1, 4, MPI_COMM_WORLD), did("MPI_Send", 5, 0);
    } else if (rank == 1) {
        MPI_Recv(in, DOUBLES, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), did("MPI_Recv", 0, b);
        MPI_Recv(in, 2 * DOUBLES, MPI_DOUBLE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status), did("MPI_Recv", 0, b);
        if (status.MPI_SOURCE != 0) abort();
        MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status), did("MPI_Probe", 0, 0);
        MPI_Recv(in, 3, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
        did("MPI_Recv", 0, 3 * sizeof(int));
        while (!found) MPI_Iprobe(0, 4, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE), did("MPI_Iprobe", 0, 0);
        MPI_Recv(in, 9, MPI_CHAR, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status), did("MPI_Recv", 0, 5);
    }
    MPI_Irecv(in, 2 * DOUBLES, MPI_DOUBLE, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &request[0]), did("MPI_Irecv", 0, 0);
    MPI_Isend(out, DOUBLES, MPI_DOUBLE, next(), 5, MPI_COMM_WORLD, &request[1]), did("MPI_Isend", b, 0);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE), did("MPI_Waitall", 0, b);
    MPI_Irecv(in, DOUBLES, MPI_DOUBLE, last(), 6, MPI_COMM_WORLD, &request[0]), did("MPI_Irecv", 0, 0);
    MPI_Issend(out, DOUBLES, MPI_DOUBLE, next(), 6, MPI_COMM_WORLD, &request[1]), did("MPI_Issend", b, 0);
    for (int done = 0; done < 2; done++) {
        int index;
        MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE), did("MPI_Waitany", 0, index == 0 ? b : 0);
    }
    MPI_Sendrecv(out, DOUBLES, MPI_DOUBLE, next(), 7, in, DOUBLES, MPI_DOUBLE, last(), 7, MPI_COMM_WORLD, &status);
    did("MPI_Sendrecv", b, b);
    MPI_Sendrecv_replace(out, DOUBLES, MPI_DOUBLE, next(), 8, last(), 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    did("MPI_Sendrecv_replace", b, b);
    MPI_Irecv(in, DOUBLES, MPI_DOUBLE, last(), 9, MPI_COMM_WORLD, &request[0]), did("MPI_Irecv", 0, 0);
    MPI_Isend(out, DOUBLES, MPI_DOUBLE, next(), 9, MPI_COMM_WORLD, &request[1]), did("MPI_Isend", b, 0);
    for (int done = 0; !done;) MPI_Test(&request[0], &done, &status), did("MPI_Test", 0, done ? b : 0);
    MPI_Wait(&request[1], &status), did("MPI_Wait", 0, 0);
    MPI_Irecv(in, DOUBLES, MPI_DOUBLE, MPI_PROC_NULL, 9, MPI_COMM_WORLD, &request[0]), did("MPI_Irecv", 0, 0);
    MPI_Wait(&request[0], &status), did("MPI_Wait", 0, 0);
}

/* Requests that are started three times, of a column of a matrix. */
static void persistent(void) {
    MPI_Datatype column;
    MPI_Request request[2];
    const long b = 4 * sizeof(double);
    MPI_Type_vector(4, 1, 4, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Recv_init(in, 1, column, last(), 11, MPI_COMM_WORLD, &request[0]), did("MPI_Recv_init", 0, 0);
    MPI_Send_init(out, 1, column, next(), 11, MPI_COMM_WORLD, &request[1]), did("MPI_Send_init", b, 0);
    for (int step = 0; step < 3; step++) {
        MPI_Startall(2, request), did("MPI_Startall", 0, 0);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE), did("MPI_Waitall", 0, b);
    }
    for (int n = 0; n < 2; n++) MPI_Request_free(&request[n]), did("MPI_Request_free", 0, 0);
    MPI_Type_free(&column);
}

/* Each rank gives doubles to the ranks behind it and single bytes to the others, at places in bytes. */
static void each_type(void) {
    int* give = (int*)malloc(4 * (size_t)size * sizeof(int));
    int *give_at = give + size, *take = give + 2 * size, *take_at = give + 3 * size;
    MPI_Datatype* types = (MPI_Datatype*)malloc(2 * (size_t)size * sizeof(MPI_Datatype));
    long given = 0, taken = 0;
    for (int n = 0; n < size; n++) {
        give[n] = take[n] = 3, give_at[n] = take_at[n] = 24 * n;
        types[n] = n > rank ? MPI_DOUBLE : MPI_BYTE;
        types[size + n] = rank > n ? MPI_DOUBLE : MPI_BYTE;
        given += n > rank ? 24 : 3;
        taken += rank > n ? 24 : 3;
    }
    MPI_Alltoallw(out, give, give_at, types, in, take, take_at, types + size, MPI_COMM_WORLD);
    did("MPI_Alltoallw", given, taken);
    free(types);
    free(give);
}

/* Messages of four partitions, which are ready one by one, and some at once. */
static void partitioned(void) {
#if MPI_VERSION >= 4
    MPI_Request request[2];
    const long b = 4 * 6 * sizeof(double);
    const int fourth = 3;
    MPI_Precv_init(in, 4, 6, MPI_DOUBLE, last(), 12, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
    did("MPI_Precv_init", 0, 0);
    MPI_Psend_init(out, 4, 6, MPI_DOUBLE, next(), 12, MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
    did("MPI_Psend_init", b, 0);
    for (int step = 0; step < 3; step++) {
        int there = 0;
        MPI_Startall(2, request), did("MPI_Startall", 0, 0);
        MPI_Pready(0, request[1]), did("MPI_Pready", 0, 0);
        MPI_Pready_range(1, 2, request[1]), did("MPI_Pready_range", 0, 0);
        MPI_Pready_list(1, &fourth, request[1]), did("MPI_Pready_list", 0, 0);
        while (!there) MPI_Parrived(request[0], 3, &there), did("MPI_Parrived", 0, 0);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE), did("MPI_Waitall", 0, b);
    }
    for (int n = 0; n < 2; n++) MPI_Request_free(&request[n]), did("MPI_Request_free", 0, 0);
#endif
}

static void collective(void) {
    const long b = DOUBLES * sizeof(double);
    int* give = (int*)malloc(4 * (size_t)size * sizeof(int));
    int *give_at = give + size, *take = give + 2 * size, *take_at = give + 3 * size;
    long given = 0, taken = 0;
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD), did("MPI_Barrier", 0, 0);
    MPI_Bcast(out, DOUBLES, MPI_DOUBLE, 1, MPI_COMM_WORLD), did("MPI_Bcast", rank == 1 ? b : 0, rank == 1 ? 0 : b);
    MPI_Reduce(out, in, DOUBLES, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD), did("MPI_Reduce", b, rank == 0 ? b : 0);
    MPI_Allreduce(out, in, DOUBLES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), did("MPI_Allreduce", b, b);
    MPI_Allreduce(MPI_IN_PLACE, in, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD), did("MPI_Allreduce", 8, 8);
    MPI_Iallreduce(out, in, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request), did("MPI_Iallreduce", 16, 16);
    MPI_Wait(&request, MPI_STATUS_IGNORE), did("MPI_Wait", 0, 0);
    MPI_Gather(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD), did("MPI_Gather", 16, rank ? 0 : 16 * size);
    MPI_Scatter(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD), did("MPI_Scatter", rank ? 0 : 16 * size, 16);
    MPI_Allgather(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, MPI_COMM_WORLD), did("MPI_Allgather", 16, 16 * size);
    MPI_Alltoall(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, MPI_COMM_WORLD), did("MPI_Alltoall", 16 * size, 16 * size);
    for (int n = 0; n < size; n++) {
        give[n] = rank + 1, take[n] = n + 1;
        give_at[n] = n * (rank + 1), take_at[n] = n * size;
        given += 8 * give[n], taken += 8 * take[n];
    }
    MPI_Alltoallv(out, give, give_at, MPI_DOUBLE, in, take, take_at, MPI_DOUBLE, MPI_COMM_WORLD);
    did("MPI_Alltoallv", given, taken);
    MPI_Scan(out, in, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), did("MPI_Scan", 24, 24);
    free(give);
    each_type();
}

static void communicators(void) {
    MPI_Comm half, ring;
    const int periodic = 1;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half), did("MPI_Comm_split", 0, 0);
    MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, half), did("MPI_Allreduce", 8, 8);
    MPI_Comm_free(&half), did("MPI_Comm_free", 0, 0);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring), did("MPI_Cart_create", 0, 0);
    MPI_Neighbor_alltoall(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, ring), did("MPI_Neighbor_alltoall", 32, 32);
    MPI_Comm_free(&ring), did("MPI_Comm_free", 0, 0);
}

/* Rank 0 accesses what rank 1 exposes to it. */
static void exposed(MPI_Win window) {
    MPI_Group world, other;
    const int peer = 1 - rank;
    if (rank > 1) return;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &peer, &other);
    if (rank == 0) {
        MPI_Win_start(other, 0, window), did("MPI_Win_start", 0, 0);
        MPI_Accumulate(out, 5, MPI_DOUBLE, 1, 0, 5, MPI_DOUBLE, MPI_SUM, window), did("MPI_Accumulate", 40, 0);
        MPI_Win_complete(window), did("MPI_Win_complete", 0, 0);
    } else {
        MPI_Win_post(other, 0, window), did("MPI_Win_post", 0, 0);
        MPI_Win_wait(window), did("MPI_Win_wait", 0, 0);
    }
    MPI_Group_free(&other);
    MPI_Group_free(&world);
}

static void one_sided(void) {
    MPI_Win window;
    MPI_Win_create(in, 8 * DOUBLES, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &window), did("MPI_Win_create", 8 * DOUBLES, 0);
    MPI_Win_fence(0, window), did("MPI_Win_fence", 0, 0);
    MPI_Put(out, 4, MPI_DOUBLE, next(), 0, 4, MPI_DOUBLE, window), did("MPI_Put", 32, 0);
    MPI_Win_fence(0, window), did("MPI_Win_fence", 0, 0);
    MPI_Win_lock(MPI_LOCK_SHARED, last(), 0, window), did("MPI_Win_lock", 0, 0);
    MPI_Get(out, 4, MPI_DOUBLE, last(), 0, 4, MPI_DOUBLE, window), did("MPI_Get", 0, 32);
    MPI_Win_unlock(last(), window), did("MPI_Win_unlock", 0, 0);
    exposed(window);
    MPI_Win_free(&window), did("MPI_Win_free", 0, 0);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    point_to_point();
    persistent();
    partitioned();
    collective();
    communicators();
    one_sided();
    for (int n = 0; n < FUNCTIONS && counts[n].name != NULL; n++) {
        printf("%d %s %ld %ld %ld\n", rank, counts[n].name, counts[n].calls, counts[n].bytes, counts[n].received);
    }
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
