// What callers hand over as a communicator, checked as far as MPI allows.
#pragma once

#include <mpi.h>

namespace tradewind::c {

// Throws PlanError unless MPI is initialized and not finalized.
void require_mpi();

// Throws InputError for the null communicator; PlanError without MPI.
void require_communicator(MPI_Comm comm);

}  // namespace tradewind::c
