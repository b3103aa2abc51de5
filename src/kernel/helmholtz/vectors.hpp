// Scalar products and linear combinations of fields, the vectors of a solver.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kernel/exact_sum.hpp"
#include "kernel/team.hpp"
#include "kernel/view.hpp"

namespace tradewind::kernel {

using Pairs = std::vector<std::pair<View<const double>, View<const double>>>;

// The scalar product of each pair, in one sweep through memory. The bits do not depend on threads or processor, but on
// how a field is divided among ranks. Throws InputError for other shapes.
std::vector<double> products(const Pairs& pairs, Team& team);

struct ExactProducts {
    std::vector<ExactSum> sums;
    std::int64_t not_finite = 0;  // terms that no sum has
};

// The same without any rounding but that of each term: the order of the terms does not matter.
ExactProducts exact_products(const Pairs& pairs, Team& team);

using Terms = std::vector<std::pair<double, View<const double>>>;

// target = the sum of factors times fields, added in this order; the target may be one of them. Throws InputError for
// other shapes, and for no term or more than 8.
void combine(View<double> target, const Terms& terms, Team& team);

}  // namespace tradewind::kernel
