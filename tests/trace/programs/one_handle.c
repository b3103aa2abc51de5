/* A thread of rank 0 sends twice, and the main thread waits for the first send, is answered, and waits for the second.
   Prints whether both sends have one handle. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static MPI_Request requests[2];
static int out[2] = {1, 2};

static void* send_both(void* unused) {
    for (int tag = 0; tag < 2; tag++) MPI_Isend(&out[tag], 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &requests[tag]);
    return unused;
}

int main(int argc, char** argv) {
    int provided = 0, rank = 0, in = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, send_both, NULL);
        pthread_join(thread, NULL);
        printf("one handle: %d\n", requests[0] == requests[1]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Recv(&in, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&in, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        MPI_Recv(&in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
