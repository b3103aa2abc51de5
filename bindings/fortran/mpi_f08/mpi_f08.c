/* What mpi_f08.f90 cannot say in Fortran: handles are made from those of C. */
#include <mpi.h>
#include <stddef.h>

/* The only component of Fortran's communicators. */
struct handle {
    MPI_Fint value;
};
struct handle tradewind_mpi_comm_world;

void tradewind_mpi_init(void) {
    MPI_Init(NULL, NULL);
    tradewind_mpi_comm_world.value = MPI_Comm_c2f(MPI_COMM_WORLD);
}

void tradewind_mpi_comm(MPI_Fint comm, int* rank, int* size) {
    MPI_Comm_rank(MPI_Comm_f2c(comm), rank);
    MPI_Comm_size(MPI_Comm_f2c(comm), size);
}
