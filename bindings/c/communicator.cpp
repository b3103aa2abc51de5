#include "communicator.hpp"

#include "base/error.hpp"
#include "mpi/error.hpp"

namespace tradewind::c {

void require_mpi() {
    int initialized = 0, finalized = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (!initialized) throw mpi::PlanError("MPI is not initialized: call MPI_Init before");
    if (finalized) throw mpi::PlanError("MPI is finalized: nothing can be exchanged any more");
}

void require_communicator(MPI_Comm comm) {
    require_mpi();
    if (comm == MPI_COMM_NULL)
        throw InputError("the communicator is the null communicator: it was freed, or this rank is not part of it");
    int across = 0;
    MPI_Comm_test_inter(comm, &across);
    if (across) throw InputError("the communicator is an intercommunicator: an intracommunicator is allowed");
}

}  // namespace tradewind::c
