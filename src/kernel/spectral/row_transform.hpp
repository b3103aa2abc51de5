// Fast Fourier transforms of the rows of a grid: real numbers of any count, those of several fields side by side in the
// lanes of vectors.
//
// A library would do as well, and those that may be had are FFTW (GPL), kissfft (in Debian 12 of floats alone) and
// pocketfft, whose header no package of Debian 12 or PyPI brings along. This one is small, as it needs neither
// dimensions nor strides: its batches are the fields of a row, and it reads grid points and writes wavenumbers where
// the transform has them, without an array in between.
#pragma once

#include <complex>
#include <memory>

#include "base/units.hpp"

namespace tradewind::kernel {

// Where the Fourier coefficients of one row lie: that of wavenumber m and a field at values[places[m] * fields +
// field]; or, without `places`, at values[field * line_step + m]. `kept` wavenumbers, from 0, have a place. Those from
// 1 on are multiplied by `factor`, the mean of the row by `mean_factor`.
template <class Real>
struct RowCoefficients {
    std::complex<Real>* values;
    const Index* places;
    Index fields, kept;
    Real mean_factor, factor;
    Index line_step = 0;
};

template <class Real>
class RowTransform {
  public:
    // Throws InputError for fewer than 2 points.
    explicit RowTransform(Index points);
    ~RowTransform();
    RowTransform(RowTransform&&) noexcept;

    Index points() const;
    // Numbers that a call needs as scratch memory.
    Index scratch() const;

    // Sums over the points of f exp(-i m lambda), for all fields of `to`, lines[field] is the first point of the row.
    // At most points / 2 + 1 wavenumbers are kept.
    void to_fourier(const Real* const* lines, const RowCoefficients<Real>& to, Real* scratch) const;
    // The real part of the sum over m of coefficients times exp(i m lambda), all but the mean, and points / 2, twice.
    // Wavenumbers that are not kept are 0, and so are the imaginary parts of these two.
    void to_points(const RowCoefficients<Real>& from, Real* const* lines, Real* scratch) const;

    struct Plan;

  private:
    std::unique_ptr<const Plan> plan_;
};

}  // namespace tradewind::kernel
