// Scalar products and linear combinations of fields, the vectors of a solver.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kernel/exact_sum.hpp"
#include "kernel/team.hpp"
#include "kernel/view.hpp"

namespace tradewind::kernel {

template <class Real>
using Pairs = std::vector<std::pair<View<const Real>, View<const Real>>>;

// The scalar product of each pair, in one sweep through memory; terms and sums are doubles. The bits do not depend on
// threads or processor, but on how a field is divided among ranks. Throws InputError for other shapes.
template <class Real>
std::vector<double> products(const Pairs<Real>& pairs, Team& team);

struct ExactProducts {
    std::vector<ExactSum> sums;
    std::int64_t not_finite = 0;  // terms that no sum has
};

// The same without any rounding but that of each term: the order of the terms does not matter.
template <class Real>
ExactProducts exact_products(const Pairs<Real>& pairs, Team& team);

template <class Real>
using Terms = std::vector<std::pair<double, View<const Real>>>;

// target = the sum of factors times fields, added in this order; the target may be one of them. Throws InputError for
// other shapes, and for no term or more than 8.
template <class Real>
void combine(View<Real> target, const Terms<Real>& terms, Team& team);

extern template std::vector<double> products(const Pairs<float>&, Team&);
extern template std::vector<double> products(const Pairs<double>&, Team&);
extern template ExactProducts exact_products(const Pairs<float>&, Team&);
extern template ExactProducts exact_products(const Pairs<double>&, Team&);
extern template void combine(View<float>, const Terms<float>&, Team&);
extern template void combine(View<double>, const Terms<double>&, Team&);

}  // namespace tradewind::kernel
