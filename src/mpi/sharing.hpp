#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <string>

#include "pattern/gather_scatter.hpp"

namespace tradewind::mpi {

// Makes a gather-scatter of the ids of this rank's values, each rank's of its own. Which ranks share an id is found out
// at a third rank, to which its number leads; nothing is kept, and no message sent, for each rank there is. Collective;
// where a rank throws InputError, the others throw PlanError.
std::shared_ptr<const pattern::ListedGatherScatter> share_ids(MPI_Comm comm, std::span<const Index> ids,
                                                              const std::string& operation);

}  // namespace tradewind::mpi
