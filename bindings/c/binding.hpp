// A plan for a request that this rank has checked.
#pragma once

#include "algorithm/method.hpp"
#include "objects.hpp"

namespace tradewind::c {

// Binds a pattern to arrays by the method of the caller, its open parts chosen: by the environment and the tuning file
// of rank 0, or by default. Collective. Throws InputError, and PlanError where another rank has.
void bind_by_method(BoundPlan& bound, MPI_Comm comm, std::shared_ptr<const pattern::Pattern> pattern,
                    const algorithm::Method& own, mpi::PlanRequest request);

}  // namespace tradewind::c
