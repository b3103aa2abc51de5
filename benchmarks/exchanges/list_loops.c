/* A gather-scatter as a compiled loop over lists, in the manner of gslib: groups of places that end with -1; the first
 * place of a group gathers, messages are packed from it by a list and added by one, and at the end it is copied to the
 * others. One neighbour. */
#include <mpi.h>
#include <stdint.h>

static void gather(double* u, const int32_t* map) {
    int32_t i, j;
    while ((i = *map++) != -1) {
        double sum = u[i];
        while ((j = *map++) != -1) sum += u[j];
        u[i] = sum;
    }
}

static void scatter(double* u, const int32_t* map) {
    int32_t i, j;
    while ((i = *map++) != -1) {
        const double value = u[i];
        while ((j = *map++) != -1) u[j] = value;
    }
}

/* `groups`: all groups of several places of this rank. `shared`: the first place of each id that the peer has, too. */
void list_gather_scatter(double* u, const int32_t* groups, const int32_t* shared, int count, int peer, MPI_Fint comm_f,
                         double* out, double* in) {
    const MPI_Comm comm = MPI_Comm_f2c(comm_f);
    MPI_Request requests[2];
    gather(u, groups);
    MPI_Irecv(in, count, MPI_DOUBLE, peer, 1, comm, &requests[0]);
    for (int k = 0; k < count; ++k) out[k] = u[shared[k]];
    MPI_Isend(out, count, MPI_DOUBLE, peer, 1, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; k < count; ++k) u[shared[k]] += in[k];
    scatter(u, groups);
}

/* The same without the message: what a rank does alone. */
void list_local(double* u, const int32_t* groups) {
    gather(u, groups);
    scatter(u, groups);
}
