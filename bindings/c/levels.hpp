// The arrays of a fetch: one direction over points, the others over levels, inside or outside of them.
#pragma once

#include <memory>

#include "mpi/plan.hpp"

namespace tradewind::c {

// A field whose points lie along `axis`, as plans have it: points along x, the inner levels along y, the outer along z.
mpi::Field along_points(const mpi::Field& field, int axis);

// The pattern with the levels of the fields, which are `along_points`. Where fields of a fetch, or of a halo of a grid
// of one level, have different numbers of levels, each level of each becomes a field of its own in the request: all
// travel in one message. Throws InputError where a source field of a fetch has other levels than its target field, and
// where a field has other points than the rank of `comm` that this process is.
std::shared_ptr<const pattern::Pattern> with_levels_of(std::shared_ptr<const pattern::Pattern> pattern, MPI_Comm comm,
                                                       mpi::PlanRequest& request);

}  // namespace tradewind::c
