/* Two or more ranks in a ring: each step computes a little, exchanges halos on both sides and sums a value. */
#include <mpi.h>
#include <stdlib.h>

enum { POINTS = 512 };

int main(int argc, char** argv) {
    static double field[POINTS + 2], next[POINTS + 2];
    int rank = 0, size = 1;
    const int steps = argc > 1 ? atoi(argv[1]) : 100;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int east = (rank + 1) % size, west = (rank + size - 1) % size;
    for (int n = 0; n < POINTS + 2; n++) field[n] = rank + n;
    for (int step = 0; step < steps; step++) {
        MPI_Request request[4];
        double sum = 0, total = 0;
        MPI_Irecv(&field[0], 1, MPI_DOUBLE, west, 0, MPI_COMM_WORLD, &request[0]);
        MPI_Irecv(&field[POINTS + 1], 1, MPI_DOUBLE, east, 1, MPI_COMM_WORLD, &request[1]);
        MPI_Isend(&field[POINTS], 1, MPI_DOUBLE, east, 0, MPI_COMM_WORLD, &request[2]);
        MPI_Isend(&field[1], 1, MPI_DOUBLE, west, 1, MPI_COMM_WORLD, &request[3]);
        MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
        for (int n = 1; n <= POINTS; n++) next[n] = 0.25 * (field[n - 1] + 2 * field[n] + field[n + 1]);
        for (int n = 1; n <= POINTS; n++) sum += field[n] = next[n];
        MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
