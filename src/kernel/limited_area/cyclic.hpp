// Lines along y of complex numbers, each with a symmetric, cyclic, constant tridiagonal system of its own.
#pragma once

#include <complex>

#include "kernel/array.hpp"
#include "kernel/team.hpp"

namespace tradewind::kernel {

// Solves, for each z and x, b X[y] - a (X[y - 1] + X[y + 1]) = F[y], periodic along y. The matrix is that of two
// recurrences, (1 - r S) and (1 - r / S) with S a shift by one point, over q: r and q with r + 1/r = b / a,
// |r| < 1, and q = r / a, are `ratio` and `gain`, [z][x]. Each recurrence begins with the value that closes the circle.
//
// The threads of the team share out the levels. A line's solution does not depend on the lines beside it, on the number
// of threads, or on the processor. F and X may be one array. Throws InputError for a ratio that is not in
// (-1, 1), or is rounded to an end of it, and for other shapes.
template <class Real>
void solve_cyclic(Array<const std::complex<Real>> field, Array<std::complex<Real>> solution, Array<const double> ratio,
                  Array<const double> gain, Team& team);

extern template void solve_cyclic(Array<const std::complex<float>>, Array<std::complex<float>>, Array<const double>,
                                  Array<const double>, Team&);
extern template void solve_cyclic(Array<const std::complex<double>>, Array<std::complex<double>>, Array<const double>,
                                  Array<const double>, Team&);

}  // namespace tradewind::kernel
