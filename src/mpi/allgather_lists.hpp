#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "pattern/fetch.hpp"

namespace tradewind::mpi {

// Collective. A fetch with what all ranks of a communicator want, known to each of them: for algorithms that pass
// points on from rank to rank. Takes 24 bytes per point that any rank wants, on every rank. Where a rank throws
// InputError, as the fetch is among other ranks or describes another one, the others throw PlanError; so do all where
// they differ.
std::shared_ptr<const pattern::Fetch> allgather_lists(MPI_Comm comm, const pattern::Fetch& fetch);

// The same of the pattern of a plan, a fetch or its adjoint, on all ranks that make it together, where rank 0's
// algorithm needs that. `needed`: this rank's does, too; where not, all throw PlanError.
std::shared_ptr<const pattern::Pattern> allgather_lists(MPI_Comm comm,
                                                        const std::shared_ptr<const pattern::Pattern>& pattern,
                                                        const std::string& algorithm, bool needed);

}  // namespace tradewind::mpi
