// The Legendre stage of the transform: for each wavenumber, between latitudes and degrees.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "kernel/team.hpp"
#include "spectral/operators.hpp"

namespace tradewind::spectral {

// Spectral coefficients of one or two variables, each [m, n][level], with the degrees of a stage's wavenumbers one
// after another; `stride` numbers from one coefficient to the next.
template <class Real>
struct SpectralFields {
    std::array<std::complex<Real>*, 2> values;
    std::array<Index, 2> stride;
    Index levels;
};

// Some wavenumbers, as two matrix products for each: even and odd n - m. Fourier coefficients are [m, row][field], all
// rows that keep m from north to south, fields by variables.
template <class Real>
class LegendreStage {
  public:
    // The functions are computed in double precision, and kept. `radius`: of the sphere, metres.
    LegendreStage(std::shared_ptr<const Truncation> truncation, std::vector<Index> wavenumbers, double radius);

    const std::vector<Index>& wavenumbers() const { return wavenumbers_; }
    Index coefficients() const { return spectral_start_.back(); }
    Index fourier_coefficients() const { return fourier_start_.back(); }

    // Sums over the degrees of what is derived from spectral coefficients times P(n, m); and sums over latitudes of
    // Fourier coefficients times P(n, m), of which spectral coefficients are derived.
    void to_fourier(Derived derived, const SpectralFields<Real>& spectral, std::complex<Real>* fourier,
                    kernel::Team& team) const;
    void to_spectral(Derived derived, const std::complex<Real>* fourier, const SpectralFields<Real>& spectral,
                     kernel::Team& team) const;

  private:
    struct Wavenumber;
    struct Room;

    template <class Work>
    void each(kernel::Team& team, Index width, Work work) const;
    void fill_tables();
    void multiply(const Wavenumber& m, Index degrees, Real* values, Index row, Room& room, bool forth) const;

    std::shared_ptr<const Truncation> truncation_;
    std::vector<Index> wavenumbers_, spectral_start_{0}, fourier_start_{0}, table_start_{0};
    std::vector<Index> first_;  // [place] the first latitude whose functions are not negligible
    std::vector<Operators> operators_;
    std::vector<Real> table_;  // [m][even n, odd n][latitude], to one degree beyond the truncation
};

}  // namespace tradewind::spectral
