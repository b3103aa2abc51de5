// The Fourier stage of the transform: along rows, between grid points and Fourier coefficients by wavenumber.
#pragma once

#include <complex>
#include <map>
#include <memory>
#include <vector>

#include "kernel/spectral/row_transform.hpp"
#include "kernel/team.hpp"
#include "layout/patch.hpp"
#include "spectral/truncation.hpp"

namespace tradewind::spectral {

// Factors of the coefficients of each row: of all, and of all but the mean another one.
struct RowFactors {
    std::vector<double> of_row;  // [row of the grid]
    double twice = 1;
};

// Some rows of a grid that follow each other. Fourier coefficients are [m, row][field]: for each wavenumber those of
// these rows that keep it, from north to south.
template <class Real>
class FourierStage {
  public:
    FourierStage(std::shared_ptr<const Truncation> truncation, layout::Run rows);

    Index points() const { return points_; }
    Index coefficients() const { return coefficients_; }
    // lines[field]: the first point of these rows.
    void to_fourier(const std::vector<const Real*>& lines, std::complex<Real>* out, const RowFactors& factors,
                    kernel::Team& team) const;
    void to_points(const std::complex<Real>* fourier, const std::vector<Real*>& lines, const RowFactors& factors,
                   kernel::Team& team) const;

  private:
    template <class Pointer, class Work>
    void each_row(const std::vector<Pointer>& lines, kernel::Team& team, Work work) const;
    kernel::RowCoefficients<Real> coefficients_of(Index row, std::complex<Real>* fourier, std::size_t fields,
                                                  const RowFactors& factors) const;
    std::size_t first_of(Index row) const;

    std::shared_ptr<const Truncation> truncation_;
    layout::Run rows_;
    Index points_, coefficients_ = 0, scratch_ = 0;
    std::vector<Index> places_;                               // [m] of row 0 of the grid, were it kept
    std::map<Index, kernel::RowTransform<Real>> transforms_;  // by points
};

}  // namespace tradewind::spectral
