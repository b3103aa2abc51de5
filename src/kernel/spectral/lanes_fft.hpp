// The complex transform of several lines at a time, one in each lane of a vector.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "base/units.hpp"

namespace tradewind::kernel {

// Sums over k of x[k] exp(-2 pi i k m / length), m = 0..length - 1, by passes of small radices: those of Stockham,
// which need no reordering (Temperton 1983, doi:10.1016/0021-9991(83)90013-X). A prime from `far` on is a convolution
// (Bluestein 1970, doi:10.1109/TAU.1970.1162132). Back is the same with real and imaginary parts exchanged.
template <class Real>
struct LanesFft {
    explicit LanesFft(Index length);

    // The smallest prime whose pass would take longer than its convolution.
    static constexpr Index far = 80;

    struct Pass {
        Index radix, inner, outer;                 // outer * radix * inner = length
        std::vector<std::complex<Real>> twiddles;  // [inner][radix - 1]
        std::vector<std::complex<Real>> roots;     // of a radix without a pass of its own: exp(-2 pi i k / radix)
        std::shared_ptr<const LanesFft> convolution;
        std::vector<std::complex<Real>> chirp;     // [radix] exp(-pi i k^2 / radix)
        std::vector<std::complex<Real>> spectrum;  // of its conjugate, over the length of the convolution
    };

    Index length;
    Index scratch;  // complex vectors, beside the two arrays
    std::vector<Pass> passes;
};

// exp(-2 pi i k / n), to the last digit of a double.
std::complex<double> root_of_unity(Index k, Index n);

}  // namespace tradewind::kernel
