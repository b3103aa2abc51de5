// A semi-implicit step of gravity waves by bi-Fourier coefficients, in layers that rest upon each other.
#pragma once

#include <complex>
#include <vector>

#include "kernel/array.hpp"
#include "kernel/team.hpp"

namespace tradewind::kernel {

// Modes of the layers and slopes of the coefficients (m, n).
struct Layers {
    Array<const double> modes;                 // [level][mode], orthogonal
    Array<const double> speeds;                // [mode], squared
    Array<const std::complex<double>> slopes;  // [m, n][direction], what derivatives along x and y multiply by
    double s = 0;                              // c dt / (2 dx)
};

// A step of the trapezoidal rule in the vertical modes of u, v and phi:
//     phi' = (phi - s g (2 div w + s k2 phi)) / (1 + s^2 g k2), w' = w - s slope (phi + phi')
// with g of a mode, k2 the sum of the squared slopes, and div w = -conj(slope) . w. The fields of a coefficient,
// [u, v, phi][level], are shared out evenly among arrays [m, n][1][field].
//
// The threads of the team share out the coefficients. The step of one depends neither on the others nor on the threads
// or the processor: sums over levels and modes are in their order, and nothing is fused. Throws InputError for other
// shapes.
template <class Real>
void step_layers(const Layers& layers, const std::vector<Array<const std::complex<Real>>>& columns,
                 const std::vector<Array<std::complex<Real>>>& stepped, Team& team);

extern template void step_layers(const Layers&, const std::vector<Array<const std::complex<float>>>&,
                                 const std::vector<Array<std::complex<float>>>&, Team&);
extern template void step_layers(const Layers&, const std::vector<Array<const std::complex<double>>>&,
                                 const std::vector<Array<std::complex<double>>>&, Team&);

}  // namespace tradewind::kernel
