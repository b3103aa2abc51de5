// The stencils of a semi-implicit step of gravity waves on a C grid.
#pragma once

#include "kernel/array.hpp"
#include "kernel/team.hpp"

namespace tradewind::kernel {

// Winds and geopotential by vertical modes, [mode][y][x], each with one point more on all four sides: u lies half a
// point to the east of phi, v half a point to the north.
template <class Real>
struct Waves {
    Array<const Real> u, v, phi;
};

// right = phi - s g (2 div w - s lap phi), [mode][y][x] without a halo, with g of each mode, the squared speeds, in
// `speeds`. The threads of the team share out the rows. A point's value depends neither on their number nor on the
// processor: always the same operations, never fused. Throws InputError for other shapes.
template <class Real>
void wave_right_side(const Waves<Real>& waves, Array<const double> speeds, double s, Array<Real> right, Team& team);

// w' = w - s grad(phi + phi'). `after`, phi', has a halo; so have the winds, of which their own points are written.
template <class Real>
void wave_winds(const Waves<Real>& waves, Array<const Real> after, double s, Array<Real> u, Array<Real> v, Team& team);

// Writes levels to the points inside the halo of a field.
template <class Real>
void place_levels(Array<const Real> levels, Array<Real> field, Team& team);

extern template void wave_right_side(const Waves<float>&, Array<const double>, double, Array<float>, Team&);
extern template void wave_right_side(const Waves<double>&, Array<const double>, double, Array<double>, Team&);
extern template void wave_winds(const Waves<float>&, Array<const float>, double, Array<float>, Array<float>, Team&);
extern template void wave_winds(const Waves<double>&, Array<const double>, double, Array<double>, Array<double>, Team&);
extern template void place_levels(Array<const float>, Array<float>, Team&);
extern template void place_levels(Array<const double>, Array<double>, Team&);

}  // namespace tradewind::kernel
