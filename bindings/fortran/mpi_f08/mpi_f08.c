/* What mpi_f08.f90 cannot say in Fortran: handles are made from those of C. */
#include <mpi.h>
#include <stddef.h>

/* The only component of Fortran's communicators. */
struct handle {
    MPI_Fint value;
};
struct handle example_comm_world;

void example_init(void) {
    MPI_Init(NULL, NULL);
    example_comm_world.value = MPI_Comm_c2f(MPI_COMM_WORLD);
}

void example_comm(MPI_Fint comm, int* rank, int* size) {
    MPI_Comm_rank(MPI_Comm_f2c(comm), rank);
    MPI_Comm_size(MPI_Comm_f2c(comm), size);
}
