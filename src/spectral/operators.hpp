// Operators in spectral space: the derivatives that winds and gradients are made of.
#pragma once

#include <array>
#include <complex>
#include <vector>

#include "spectral/truncation.hpp"

namespace tradewind::spectral {

// The derivation between spectral coefficients and those that are synthesised on the grid, or were analysed there.
enum class Derived {
    none,      // the coefficients themselves
    wind,      // U = u cos(phi), V = v cos(phi) of vorticity and divergence
    curl,      // vorticity and divergence of u / cos(phi), v / cos(phi)
    gradient,  // cos(phi) times the gradient to the east and to the north
};

// Variables on the spectral side, and on the other.
Index spectral_variables(Derived derived);
Index grid_variables(Derived derived);

// Coefficients of one wavenumber: [n][level], `stride` numbers from one degree to the next.
template <class Real>
struct Degrees {
    std::complex<Real>* values;
    Index stride;
};

// The operators of one wavenumber m, for degrees n = m..top; what is derived has a degree more, as
//
//     a U = d chi/d lambda - cos(phi) d psi/d phi        a V = d psi/d lambda + cos(phi) d chi/d phi
//
// with the streamfunction psi and the velocity potential chi. d/d lambda multiplies by i m; cos(phi) d/d phi is a
// matrix H, with e(n)^2 = (n^2 - m^2) / (4 n^2 - 1):
//
//     (H psi)(n) = (n + 2) e(n + 1) psi(n + 1) - (n - 1) e(n) psi(n - 1)
class Operators {
  public:
    Operators(Index m, Index top, double radius);

    // Computes `wide`, [n][variable][level], from one or two spectral fields: as what is derived is, or the transpose
    // of the way back.
    template <class Real>
    void widen(Derived derived, const std::array<Degrees<Real>, 2>& spectral, Index levels,
               std::complex<Real>* wide) const;
    // The reverse: what is analysed to spectral fields, or the transpose of `widen`.
    template <class Real>
    void narrow(Derived derived, const std::complex<Real>* wide, Index levels,
                const std::array<Degrees<Real>, 2>& spectral) const;

  private:
    Index degrees_;                      // without the additional one
    double east_;                        // m / a
    std::vector<double> above_, below_;  // [n - m] of psi(n + 1) and psi(n - 1) in (H psi)(n)
    std::vector<double> inverse_;        // [n - m] of the Laplacian
};

}  // namespace tradewind::spectral
