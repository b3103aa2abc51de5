/* Ranks of three threads each: each thread sends to its like on the other rank, or of one rank to itself, and receives
   from it. With an argument the program ends while they do. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 3 };
static int steps = 400;

static void* exchange(void* number) {
    const int tag = (int)(size_t)number;
    int rank = 0, size = 0, other = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size == 2) other = 1 - rank;
    for (int step = 0; step < steps; step++) {
        double out = step, in = 0;
        MPI_Request request[2];
        MPI_Irecv(&in, 1, MPI_DOUBLE, other, tag, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(&out, 1, MPI_DOUBLE, other, tag, MPI_COMM_WORLD, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        if (in != step) abort();
    }
    return NULL;
}

int main(int argc, char** argv) {
    int provided = 0;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) abort();
    if (argc > 1) steps = 1 << 30;
    for (size_t n = 0; n < THREADS; n++) pthread_create(&threads[n], NULL, exchange, (void*)n);
    if (argc > 1) {
        usleep(100000);
        exit(0);
    }
    for (int n = 0; n < THREADS; n++) pthread_join(threads[n], NULL);
    MPI_Finalize();
    return 0;
}
