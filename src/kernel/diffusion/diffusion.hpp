#pragma once

#include "kernel/array.hpp"
#include "kernel/team.hpp"

namespace tradewind::kernel {

// A step of fourth-order diffusion, out = in - alpha lap(lap(in)) with the five-point Laplacian in x and y, for the
// points of a region (in the coordinates of the arrays). Reads two points more on all four sides, and writes nothing
// but the region. The threads of the team share out the levels. A point's value does not depend on the region that it
// is computed in, on the number of threads, or on the processor: always the same operations, never fused.
//
// Throws InputError where the arrays differ in shape, overlap, or do not hold what is read.
template <class Real>
void diffuse(Array<const Real> in, Array<Real> out, const layout::Box& region, double alpha, Team& team);

extern template void diffuse(Array<const float>, Array<float>, const layout::Box&, double, Team&);
extern template void diffuse(Array<const double>, Array<double>, const layout::Box&, double, Team&);

}  // namespace tradewind::kernel
