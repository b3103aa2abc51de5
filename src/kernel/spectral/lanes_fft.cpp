#include "kernel/spectral/lanes_fft.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tradewind::kernel {

namespace {

// The smallest length from `least` on without a prime above 5.
Index smooth_length(Index least) {
    for (Index length = least;; ++length) {
        Index rest = length;
        for (const Index prime : {2, 3, 5})
            while (rest % prime == 0) rest /= prime;
        if (rest == 1) return length;
    }
}

std::vector<Index> radices(Index length) {
    std::vector<Index> out;
    for (; length % 4 == 0; length /= 4) out.push_back(4);
    for (Index prime = 2; length > 1; ++prime) {
        if (prime * prime > length) prime = length;
        for (; length % prime == 0; length /= prime) out.push_back(prime);
    }
    return out;
}

template <class Real>
std::complex<Real> root(Index k, Index n) {
    return std::complex<Real>(root_of_unity(k, n));
}

using Wide = std::complex<long double>;

// The transform of every so manieth value, by recursion: for tables, once for a length.
std::vector<Wide> transformed(const std::vector<Wide>& values, std::size_t first, std::size_t stride) {
    const std::size_t length = values.size() / stride;
    if (length == 1) return {values[first]};
    const auto radix = static_cast<std::size_t>(radices(static_cast<Index>(length)).back());
    const std::size_t inner = length / radix;
    std::vector<Wide> out(length);
    for (std::size_t j = 0; j < radix; ++j) {
        const std::vector<Wide> part = transformed(values, first + j * stride, stride * radix);
        for (std::size_t m = 0; m < length; ++m) {
            const auto k = static_cast<Index>(j * m % length);
            out[m] += part[m % inner] * Wide(root_of_unity(k, static_cast<Index>(length)));
        }
    }
    return out;
}

template <class Real>
void convolve(typename LanesFft<Real>::Pass& pass) {
    const Index p = pass.radix;
    pass.convolution = std::make_shared<const LanesFft<Real>>(smooth_length(2 * p - 1));
    const Index n = pass.convolution->length;
    std::vector<Wide> kernel(static_cast<std::size_t>(n));
    for (Index k = 0; k < p; ++k) {
        const std::complex<double> chirp = root_of_unity(k * k % (2 * p), 2 * p);
        pass.chirp.push_back(std::complex<Real>(chirp));
        kernel[static_cast<std::size_t>(k)] = kernel[static_cast<std::size_t>((n - k) % n)] =
            std::conj(Wide(chirp)) / static_cast<long double>(n);
    }
    for (const Wide& value : transformed(kernel, 0, 1)) pass.spectrum.push_back(std::complex<Real>(value));
}

}  // namespace

std::complex<double> root_of_unity(Index k, Index n) {
    // From an eighth of the circle, where both are exact to the last digit.
    const Index eighth = 8 * k / n;
    const Index from = eighth % 2 ? (eighth + 1) * n - 8 * k : 8 * k - eighth * n;  // eighths of n from the nearer axis
    const long double angle =
        std::numbers::pi_v<long double> * static_cast<long double>(from) / static_cast<long double>(4 * n);
    double near = static_cast<double>(std::cos(angle)), off = static_cast<double>(std::sin(angle));
    switch (eighth) {
        case 0: return {near, -off};
        case 1: return {off, -near};
        case 2: return {-off, -near};
        case 3: return {-near, -off};
        case 4: return {-near, off};
        case 5: return {-off, near};
        case 6: return {off, near};
        default: return {near, off};
    }
}

template <class Real>
LanesFft<Real>::LanesFft(Index length_) : length(length_), scratch(0) {
    Index outer = 1;
    for (const Index radix : radices(length)) {
        Pass pass{radix, length / (outer * radix), outer, {}, {}, {}, {}, {}};
        for (Index i = 0; i < pass.inner; ++i)
            for (Index j = 1; j < radix; ++j) pass.twiddles.push_back(root<Real>(j * outer * i, length));
        if (radix >= far) {
            convolve<Real>(pass);
            scratch = std::max(scratch, 2 * pass.convolution->length);
        } else if (radix > 5) {
            for (Index k = 0; k < radix; ++k) pass.roots.push_back(root<Real>(k, radix));
            scratch = std::max(scratch, radix);
        }
        passes.push_back(std::move(pass));
        outer *= radix;
    }
}

template struct LanesFft<float>;
template struct LanesFft<double>;

}  // namespace tradewind::kernel
