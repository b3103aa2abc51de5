// The passes of the transform of lines in the lanes of vectors.
#pragma once

#include <cstdint>
#include <utility>

#include "kernel/lanes.hpp"
#include "kernel/spectral/lanes_fft.hpp"

namespace tradewind::kernel {

// A complex number in each lane.
template <class V>
struct LaneComplex {
    V re, im;
};

template <class V>
[[gnu::always_inline]] inline LaneComplex<V> operator+(const LaneComplex<V>& a, const LaneComplex<V>& b) {
    return {a.re + b.re, a.im + b.im};
}
template <class V>
[[gnu::always_inline]] inline LaneComplex<V> operator-(const LaneComplex<V>& a, const LaneComplex<V>& b) {
    return {a.re - b.re, a.im - b.im};
}
template <class V, class Real>
[[gnu::always_inline]] inline LaneComplex<V> times(const LaneComplex<V>& a, const std::complex<Real>& b) {
    return {a.re * b.real() - a.im * b.imag(), a.re * b.imag() + a.im * b.real()};
}
template <class V>
[[gnu::always_inline]] inline LaneComplex<V> times_minus_i(const LaneComplex<V>& a) {
    return {a.im, -a.re};
}

// Transforms the values of one butterfly.
template <int radix, class V, class Real>
[[gnu::always_inline]] inline void butterfly(LaneComplex<V>* x) {
    if constexpr (radix == 2) {
        const auto first = x[0];
        x[0] = first + x[1];
        x[1] = first - x[1];
    } else if constexpr (radix == 3) {
        constexpr auto half = static_cast<Real>(0.5), sine = static_cast<Real>(0.86602540378443864676);
        const auto sum = x[1] + x[2], difference = x[1] - x[2];
        const LaneComplex<V> a{x[0].re - half * sum.re, x[0].im - half * sum.im};
        const auto b = times_minus_i(LaneComplex<V>{sine * difference.re, sine * difference.im});
        x[0] = x[0] + sum;
        x[1] = a + b;
        x[2] = a - b;
    } else if constexpr (radix == 4) {
        const auto a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = times_minus_i(x[1] - x[3]);
        x[0] = a + c;
        x[1] = b + d;
        x[2] = a - c;
        x[3] = b - d;
    } else {
        constexpr auto c1 = static_cast<Real>(0.30901699437494742410), c2 = static_cast<Real>(-0.80901699437494742410);
        constexpr auto s1 = static_cast<Real>(0.95105651629515357212), s2 = static_cast<Real>(0.58778525229247312917);
        const auto a1 = x[1] + x[4], b1 = x[1] - x[4], a2 = x[2] + x[3], b2 = x[2] - x[3];
        const LaneComplex<V> a{x[0].re + c1 * a1.re + c2 * a2.re, x[0].im + c1 * a1.im + c2 * a2.im};
        const LaneComplex<V> c{x[0].re + c2 * a1.re + c1 * a2.re, x[0].im + c2 * a1.im + c1 * a2.im};
        const auto b = times_minus_i(LaneComplex<V>{s1 * b1.re + s2 * b2.re, s1 * b1.im + s2 * b2.im});
        const auto d = times_minus_i(LaneComplex<V>{s2 * b1.re - s1 * b2.re, s2 * b1.im - s1 * b2.im});
        x[0] = x[0] + a1 + a2;
        x[1] = a + b;
        x[2] = c + d;
        x[3] = c - d;
        x[4] = a - b;
    }
}

// Writes the value j of the butterfly at (k, i), with its twiddle.
template <class V, class Real>
[[gnu::always_inline]] inline void put(const typename LanesFft<Real>::Pass& pass, Index k, Index i, Index j,
                                       const LaneComplex<V>& value, LaneComplex<V>* out) {
    LaneComplex<V>& to = out[i + pass.inner * (k + pass.outer * j)];
    to = i && j ? times(value, pass.twiddles[static_cast<std::size_t>(i * (pass.radix - 1) + j - 1)]) : value;
}

template <int radix, class V, class Real>
[[gnu::always_inline]] inline void short_pass(const typename LanesFft<Real>::Pass& pass, const LaneComplex<V>* in,
                                              LaneComplex<V>* out) {
    for (Index k = 0; k < pass.outer; ++k)
        for (Index i = 0; i < pass.inner; ++i) {
            LaneComplex<V> x[radix];
            for (Index j = 0; j < radix; ++j) x[j] = in[i + pass.inner * (j + radix * k)];
            butterfly<radix, V, Real>(x);
            for (Index j = 0; j < radix; ++j) put<V, Real>(pass, k, i, j, x[j], out);
        }
}

// The pass of a prime: pairs j and radix - j have equal cosines and opposite sines.
template <class V, class Real>
[[gnu::always_inline]] inline void prime_pass(const typename LanesFft<Real>::Pass& pass, const LaneComplex<V>* in,
                                              LaneComplex<V>* out, LaneComplex<V>* room) {
    const Index p = pass.radix, half = (p - 1) / 2;
    LaneComplex<V>*even = room, *odd = room + half;  // [j], j = 1..half
    for (Index k = 0; k < pass.outer; ++k)
        for (Index i = 0; i < pass.inner; ++i) {
            const LaneComplex<V>* x = in + i + pass.inner * p * k;
            LaneComplex<V> sum = x[0];
            for (Index j = 1; j <= half; ++j) {
                even[j] = x[pass.inner * j] + x[pass.inner * (p - j)];
                odd[j] = x[pass.inner * j] - x[pass.inner * (p - j)];
                sum = sum + even[j];
            }
            put<V, Real>(pass, k, i, 0, sum, out);
            for (Index m = 1; m <= half; ++m) {
                LaneComplex<V> a = x[0], b{V{}, V{}};
                for (Index j = 1, at = m; j <= half; ++j, at = at + m >= p ? at + m - p : at + m) {
                    const std::complex<Real> root = pass.roots[static_cast<std::size_t>(at)];
                    a = {a.re + root.real() * even[j].re, a.im + root.real() * even[j].im};
                    b = {b.re - root.imag() * odd[j].re, b.im - root.imag() * odd[j].im};
                }
                b = times_minus_i(b);
                put<V, Real>(pass, k, i, m, a + b, out);
                put<V, Real>(pass, k, i, p - m, a - b, out);
            }
        }
}

template <class V, class Real, bool convolves>
[[gnu::always_inline]] inline LaneComplex<V>* run_passes(const LanesFft<Real>& fft, LaneComplex<V>* in,
                                                         LaneComplex<V>* out, LaneComplex<V>* room);

template <class V, class Real>
[[gnu::always_inline]] inline void convolution_pass(const typename LanesFft<Real>::Pass& pass, const LaneComplex<V>* in,
                                                    LaneComplex<V>* out, LaneComplex<V>* room) {
    const Index p = pass.radix, n = pass.convolution->length;
    for (Index k = 0; k < pass.outer; ++k)
        for (Index i = 0; i < pass.inner; ++i) {
            for (Index j = 0; j < p; ++j)
                room[j] = times(in[i + pass.inner * (j + p * k)], pass.chirp[static_cast<std::size_t>(j)]);
            for (Index j = p; j < n; ++j) room[j] = {V{}, V{}};
            LaneComplex<V>* forth = run_passes<V, Real, false>(*pass.convolution, room, room + n, room);
            for (Index j = 0; j < n; ++j) {
                const auto product = times(forth[j], pass.spectrum[static_cast<std::size_t>(j)]);
                forth[j] = {product.im, product.re};
            }
            const LaneComplex<V>* back =
                run_passes<V, Real, false>(*pass.convolution, forth, forth == room ? room + n : room, room);
            for (Index j = 0; j < p; ++j)
                put<V, Real>(pass, k, i, j,
                             times(LaneComplex<V>{back[j].im, back[j].re}, pass.chirp[static_cast<std::size_t>(j)]),
                             out);
        }
}

// Transforms `in`; the result is in one of the two arrays, which is returned.
template <class V, class Real, bool convolves>
[[gnu::always_inline]] inline LaneComplex<V>* run_passes(const LanesFft<Real>& fft, LaneComplex<V>* in,
                                                         LaneComplex<V>* out, LaneComplex<V>* room) {
    for (const auto& pass : fft.passes) {
        switch (pass.radix) {
            case 2: short_pass<2, V, Real>(pass, in, out); break;
            case 3: short_pass<3, V, Real>(pass, in, out); break;
            case 4: short_pass<4, V, Real>(pass, in, out); break;
            case 5: short_pass<5, V, Real>(pass, in, out); break;
            default:
                if constexpr (convolves) {
                    if (pass.convolution)
                        convolution_pass<V, Real>(pass, in, out, room);
                    else
                        prime_pass<V, Real>(pass, in, out, room);
                }
        }
        std::swap(in, out);
    }
    return in;
}

// Memory for a line: two arrays of a value more than it has, and what convolutions need.
template <class V>
struct LaneRoom {
    LaneComplex<V>*in, *out, *more;
};

template <class V, class Real>
[[gnu::always_inline]] inline LaneRoom<V> lane_room(const LanesFft<Real>& fft, Real* scratch) {
    const auto place = reinterpret_cast<std::uintptr_t>(scratch);  // a vector lies at a multiple of its bytes
    auto* at = reinterpret_cast<LaneComplex<V>*>((place + sizeof(V) - 1) / sizeof(V) * sizeof(V));
    return {at, at + fft.length + 1, at + 2 * (fft.length + 1)};
}

// Numbers that it takes, with the vectors of this processor.
template <class Real>
Index lane_scratch(const LanesFft<Real>& fft) {
    return (2 * (2 * (fft.length + 1) + fft.scratch) + 1) * width_here() / static_cast<Index>(sizeof(Real));
}

}  // namespace tradewind::kernel
