#pragma once

#include <array>
#include <limits>
#include <optional>

#include "kernel/array.hpp"
#include "kernel/exact_sum.hpp"
#include "kernel/team.hpp"

namespace tradewind::kernel {

// Diagnosis of a field. Nothing here depends on how the field is divided among ranks or threads: the sums are exact
// (each square is rounded to a double first).
struct Diagnosis {
    ExactSum sum, squares;
    double minimum = std::numeric_limits<double>::infinity();
    double maximum = -std::numeric_limits<double>::infinity();
    // The first point along x, then y, then z that is not finite, or whose square is not, x, y, z in the coordinates of
    // the array; it and those like it are in none of the above.
    std::optional<std::array<Index, 3>> not_finite;
};

// Diagnosis of the points of a region. Throws InputError where the array does not hold it.
template <class Real>
Diagnosis diagnose(Array<const Real> field, const layout::Box& region, Team& team);

extern template Diagnosis diagnose(Array<const float>, const layout::Box&, Team&);
extern template Diagnosis diagnose(Array<const double>, const layout::Box&, Team&);

}  // namespace tradewind::kernel
