// Gaussian latitudes and normalised associated Legendre functions.
#pragma once

#include <memory>
#include <vector>

#include "base/units.hpp"

namespace tradewind::kernel {

// Gaussian latitudes of one hemisphere, from the pole to the equator. A long double has 64 bits or more on most
// processors: near the poles, and for high degrees, the rounding of a latitude to a double would cost four digits.
struct Gaussian {
    // [latitude]
    std::vector<long double> colatitude, sine, versine;  // theta in radians, sin theta, 1 - cos theta
    std::vector<double> versine_high, versine_low;       // the versine as a sum of two doubles
    std::vector<double> weight;                          // shares of the sphere: both hemispheres together have 1

    Index latitudes() const { return static_cast<Index>(weight.size()); }
};

// The roots of the Legendre polynomial of degree 2 * latitudes, by Newton's iteration in theta.
// Throws InputError for fewer latitudes than 1 or more than 2^20.
Gaussian gaussian_latitudes(Index latitudes);

// P(n, m) of a wavenumber for n = m..top, normalised so that the mean over the sphere of |P exp(i m lambda)|^2 is 1,
// all positive at n = m (without the Condon-Shortley sign). Numbers below 2^-100 (8e-31) become zeros. A value depends
// neither on the latitudes nor on the degrees that are computed with it. `gaussian` must live longer.
class LegendreRecurrence {
  public:
    LegendreRecurrence(const Gaussian& gaussian, Index m, Index top);
    ~LegendreRecurrence();

    // Goes to n = m at the latitudes first..end - 1 from the pole.
    void start(Index first, Index end);

    // Computes the next degrees at these latitudes.
    //
    //   values: [first, third, ... degree][latitude], then [second, fourth, ... degree][latitude]; `size` numbers
    //
    // Throws InputError, as the others, where the sizes do not fit.
    void next(Index degrees, double* values, Index size);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// Computes all degrees at the latitudes first..end - 1: values are [n - m even][latitude], then [n - m odd][latitude].
void legendre(const Gaussian& gaussian, Index first, Index end, Index m, Index top, double* values, Index size);

// Returns the number of latitudes, from the pole on, at which P(n, m) is below 2^-100 for all n = m..top. One latitude
// proves it for all that are nearer to the pole: with x = log tan(theta / 2), P'' = (m^2 - n (n + 1) sin^2 theta) P, so
// that P grows from 0 at the pole as long as n (n + 1) sin^2 theta <= m^2.
Index negligible_latitudes(const Gaussian& gaussian, Index m, Index top);

}  // namespace tradewind::kernel
