/* CPU time of MPI calls that need no other rank: nanoseconds per call of probes, of messages to oneself (a receive, a
   send and a wait), and of sums over one rank. Prints three numbers per round. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 5, CALLS = 300000 };

static double cpu_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

int main(int argc, char** argv) {
    double in = 0, out = 1;
    MPI_Request request[2];
    int found = 0;
    MPI_Init(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++) {
        const double begin = cpu_ns();
        for (int n = 0; n < CALLS; n++) MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        const double probed = cpu_ns();
        for (int n = 0; n < CALLS / 3; n++) {
            MPI_Irecv(&in, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &request[0]);
            MPI_Isend(&out, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &request[1]);
            MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        }
        const double sent = cpu_ns();
        for (int n = 0; n < CALLS; n++) MPI_Allreduce(&out, &in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
        const double summed = cpu_ns();
        printf("%.2f %.2f %.2f\n", (probed - begin) / CALLS, (sent - probed) / CALLS, (summed - sent) / CALLS);
    }
    MPI_Finalize();
    return 0;
}
