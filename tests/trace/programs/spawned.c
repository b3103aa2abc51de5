/* Spawns a copy of itself, sends it a message, and sums over both in a communicator in which the copy comes first. */
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Comm parent, other, both;
    int value = 7, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    const int is_child = parent != MPI_COMM_NULL;
    other = parent;
    if (!is_child) {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other, MPI_ERRCODES_IGNORE);
        MPI_Send(&value, 1, MPI_INT, 0, 0, other);
    } else {
        MPI_Recv(&value, 1, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE);
    }
    MPI_Intercomm_merge(other, !is_child, &both);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, both);
    MPI_Comm_free(&both);
    MPI_Comm_disconnect(&other);
    MPI_Finalize();
    return sum != 14;
}
