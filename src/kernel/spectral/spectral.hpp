// The copies of a spherical-harmonics transform: between rows of Fourier coefficients and wavenumbers, and between
// hemispheres and parities. A number here is a float or a double, a complex one two of them.
#pragma once

#include <complex>

#include "base/units.hpp"

namespace tradewind::kernel {

// Fourier coefficients of one row as an FFT has them: [field][wavenumber], `stride` numbers from field to field.
template <class Real>
struct Row {
    std::complex<Real>* values;
    Index fields, wavenumbers, stride;
};

// The same by wavenumbers: the coefficients of wavenumber m are values[places[m] * fields + field]. `kept` wavenumbers
// of the row have a place; those from 1 on are multiplied by `factor`, the mean of the row by `mean_factor`.
template <class Real>
struct ByWavenumber {
    std::complex<Real>* values;
    const Index* places;
    Index kept;
    double mean_factor, factor;
};

template <class Real>
void spread_row(const Row<Real>& from, const ByWavenumber<Real>& to);
// Wavenumbers that the row does not keep become 0, and so does the imaginary part of its mean.
template <class Real>
void collect_row(const ByWavenumber<Real>& from, const Row<Real>& to);

extern template void spread_row(const Row<float>&, const ByWavenumber<float>&);
extern template void spread_row(const Row<double>&, const ByWavenumber<double>&);
extern template void collect_row(const ByWavenumber<float>&, const Row<float>&);
extern template void collect_row(const ByWavenumber<double>&, const Row<double>&);

// Rows of both hemispheres from north to south, [2 * latitudes][width] numbers, as sums (even) and differences (odd) of
// the northern and the southern row, each [latitudes][width] from the pole to the equator; and back.
void split_parities(const double* rows, Index latitudes, Index width, double* even, double* odd);
void join_parities(const double* even, const double* odd, Index latitudes, Index width, double* rows);
void split_parities(const float* rows, Index latitudes, Index width, float* even, float* odd);
void join_parities(const float* even, const float* odd, Index latitudes, Index width, float* rows);

}  // namespace tradewind::kernel
