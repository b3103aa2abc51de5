/* A program that ends by exit, is killed, or calls MPI so often that its trace reaches a limit, as on a full disk. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char** argv) {
    const char* ending = argc > 1 ? argv[1] : "exit";
    double value = 1;
    MPI_Init(&argc, &argv);
    for (int n = 0; n < 100; n++) MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(ending, "kill") == 0) {
        usleep(1200000);
        MPI_Barrier(MPI_COMM_WORLD);
        raise(SIGKILL);
    }
    if (strcmp(ending, "exit") == 0) exit(0);
    const struct rlimit small = {128 * 1024, 128 * 1024};
    setrlimit(RLIMIT_FSIZE, &small);
    signal(SIGXFSZ, SIG_IGN);
    for (int n = 0; n < 30000; n++) {
        MPI_Sendrecv_replace(&value, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
    }
    printf("the program has reached its end\n");
    MPI_Finalize();
    return 0;
}
