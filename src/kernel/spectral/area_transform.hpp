// The two stages of the bi-Fourier transform of a limited area: lines along x, and lines along y of an ellipse.
#pragma once

#include <complex>
#include <vector>

#include "kernel/array.hpp"
#include "kernel/spectral/lanes_fft.hpp"
#include "kernel/spectral/row_transform.hpp"
#include "kernel/team.hpp"

namespace tradewind::kernel {

// The threads of a team share out the lines. A line has the same bits whichever lines are beside it, with any number of
// threads and on any processor. All functions throw InputError for arrays of other shapes.
template <class Real>
class AreaTransform {
  public:
    using Complex = std::complex<Real>;

    // Throws InputError for fewer than 2 points along x or less than one along y.
    AreaTransform(Index nx, Index ny);

    // Sums over x of f exp(-2 pi i m x / nx), times a factor: lines [level][y][x] to as many wavenumbers
    // [level][y][m], m = 0 on, as the target has, at most nx / 2 + 1.
    void to_waves(Array<const Real> lines, Array<Complex> waves, Real factor, Team& team) const;
    // The lines whose wavenumbers these are, times a factor; those that are not there are 0.
    void to_lines(Array<const Complex> waves, Array<Real> lines, Real factor, Team& team) const;

    // Sums over y of f exp(-2 pi i n y / ny), times a factor: wavenumbers [field][y][m] to the coefficients |n| <=
    // limits[m] of each m, [m, n][1][field] with n ascending.
    void to_ellipse(Array<const Complex> waves, const std::vector<Index>& limits, Array<Complex> ellipse, Real factor,
                    Team& team) const;
    // The wavenumbers whose coefficients these are; those that are not there are 0.
    void from_ellipse(Array<const Complex> ellipse, const std::vector<Index>& limits, Array<Complex> waves,
                      Team& team) const;

  private:
    RowTransform<Real> along_x_;
    LanesFft<Real> along_y_;
};

extern template class AreaTransform<float>;
extern template class AreaTransform<double>;

}  // namespace tradewind::kernel
