// The operator of a Helmholtz problem in terrain-following coordinates, and its preconditioner by columns.
#pragma once

#include "kernel/team.hpp"
#include "kernel/view.hpp"

namespace tradewind::kernel {

// A point, its neighbours along x and along y, each with the points below and above.
constexpr Index stencil_points = 15, column_factors = 3;
// Points of a row whose numbers lie together.
constexpr Index block = 8;

// Numbers of each point, [z][y][block of a row][number][point of the block], so that a row is one stream of memory. The
// last block of a row may have points that are not there.
template <class Real>
struct PointNumbers {
    const Real* values = nullptr;
    Index row = 0, level = 0;

    const Real* at(Index y, Index z) const { return values + z * level + y * row; }
};

// out = A field. `field` has one point more than `out` on all four sides. The numbers of a point are its factors: for
// the columns (x, y), (x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1) one each of the levels z, z - 1, z + 1. In place
// of the level below the lowest stands the third from below, in place of that above the highest the third from above,
// as differences to one side need them. The threads of the team share out the levels; the bits do not depend on them.
// Throws InputError for fewer than 3 levels, and for other shapes.
template <class Real>
void helmholtz(View<const Real> field, PointNumbers<Real> factors, View<Real> out, Team& team);

// Solves the tridiagonal system of each column, whose factors per point are: that of the point below, 1 / pivot, and
// that of the point above times 1 / pivot. The right-hand side is `right`, less `minus`, and `plus` is added to the
// solution; both may be null. `row` of the factors leads from y to y + 1. The threads share out the rows.
template <class Real>
void solve_columns(View<const Real> right, const View<const Real>* minus, const View<const Real>* plus,
                   PointNumbers<Real> factors, View<Real> solution, Team& team);

extern template void helmholtz(View<const float>, PointNumbers<float>, View<float>, Team&);
extern template void helmholtz(View<const double>, PointNumbers<double>, View<double>, Team&);
extern template void solve_columns(View<const float>, const View<const float>*, const View<const float>*,
                                   PointNumbers<float>, View<float>, Team&);
extern template void solve_columns(View<const double>, const View<const double>*, const View<const double>*,
                                   PointNumbers<double>, View<double>, Team&);

}  // namespace tradewind::kernel
