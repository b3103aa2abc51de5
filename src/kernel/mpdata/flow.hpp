// Face fluxes of flows that change with time, as sums of few terms.
#pragma once

#include "base/units.hpp"
#include "kernel/team.hpp"

namespace tradewind::kernel {

// out[row][level] = the sum over terms of by_row[row][term] * by_level[term][level], in this order, in double
// precision.
template <class Real>
void sum_of_terms(const double* by_row, const double* by_level, Index rows, Index terms, Index levels, Real* out,
                  Team& team);

extern template void sum_of_terms(const double*, const double*, Index, Index, Index, float*, Team&);
extern template void sum_of_terms(const double*, const double*, Index, Index, Index, double*, Team&);

}  // namespace tradewind::kernel
