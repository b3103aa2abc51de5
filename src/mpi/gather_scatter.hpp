#pragma once

#include <memory>

#include "mpi/plan.hpp"
#include "pattern/gather_scatter.hpp"

namespace tradewind::mpi {

// The plan of a gather-scatter: a rank combines its own copies, those that others share into cells; a plan of the
// schedule exchanges cells; what came is combined with them in ascending order of ranks and goes to all copies. See
// make_plan, which calls this.
std::unique_ptr<Plan> make_gather_scatter_plan(const schedule::Schedule& schedule,
                                               const std::shared_ptr<const pattern::GatherScatter>& whole,
                                               MPI_Comm comm, const PlanRequest& request, Mismatch mismatch);

}  // namespace tradewind::mpi
