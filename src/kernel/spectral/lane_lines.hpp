// Lines in memory, and the same lines side by side in the lanes of vectors.
#pragma once

#include <utility>

#include "kernel/lanes.hpp"
#include "kernel/spectral/fft_passes.hpp"

namespace tradewind::kernel {

template <class V, class Real>
inline constexpr int lanes_of = static_cast<int>(sizeof(V) / sizeof(Real));

// Exchanges rows and columns of a square of numbers, each row a vector, in log2(lanes) rounds: in one, blocks of `half`
// x `half` numbers beside the diagonal change places.
template <int half, class V, std::size_t... j>
[[gnu::always_inline]] inline void exchange_blocks(V* rows, std::index_sequence<j...>) {
    constexpr int lanes = sizeof...(j);
    for (int i = 0; i < lanes; ++i)
        if (!(i & half)) {
            const V a = rows[i], b = rows[i + half];
            rows[i] = __builtin_shufflevector(a, b, static_cast<int>(j & half ? lanes + j - half : j)...);
            rows[i + half] = __builtin_shufflevector(a, b, static_cast<int>(j & half ? lanes + j : j + half)...);
        }
}
template <int half, class Real, class V>
[[gnu::always_inline]] inline void transpose(V* rows) {
    constexpr int lanes = lanes_of<V, Real>;
    if constexpr (half < lanes) {
        exchange_blocks<half>(rows, std::make_index_sequence<lanes>());
        transpose<2 * half, Real>(rows);
    }
}

// to[step * k] has number k of each line: line(lane) is its first one.
template <class Real, class V, class Line>
[[gnu::always_inline]] inline void load_lines(Line line, Index numbers, V* to, Index step) {
    constexpr int lanes = lanes_of<V, Real>;
    const Real* from[lanes];
    for (int lane = 0; lane < lanes; ++lane) from[lane] = line(lane);
    Index k = 0;
    for (; k + lanes <= numbers; k += lanes) {
        V rows[lanes];
#pragma GCC unroll 16
        for (int lane = 0; lane < lanes; ++lane) load(rows[lane], from[lane] + k);
        transpose<1, Real>(rows);
#pragma GCC unroll 16
        for (int lane = 0; lane < lanes; ++lane) to[step * (k + lane)] = rows[lane];
    }
    for (; k < numbers; ++k)
        for (int lane = 0; lane < lanes; ++lane) reinterpret_cast<Real*>(to + step * k)[lane] = from[lane][k];
}

// Writes number k of the first `count` lines from value(k).
template <class Real, class V, class Line, class Value>
[[gnu::always_inline]] inline void store_lines(Line line, Index count, Index numbers, Value value) {
    constexpr int lanes = lanes_of<V, Real>;
    Real* to[lanes];
    for (int lane = 0; lane < lanes; ++lane) to[lane] = line(lane);
    Index k = 0;
    for (; count == lanes && k + lanes <= numbers; k += lanes) {
        V rows[lanes];
#pragma GCC unroll 16
        for (int lane = 0; lane < lanes; ++lane) rows[lane] = *value(k + lane);
        transpose<1, Real>(rows);
#pragma GCC unroll 16
        for (int lane = 0; lane < lanes; ++lane) store(to[lane] + k, rows[lane]);
    }
    for (; k < numbers; ++k)
        for (Index lane = 0; lane < count; ++lane) to[lane][k] = reinterpret_cast<const Real*>(value(k))[lane];
}

// Complex numbers that follow each other, as many as there are lanes; and back.
template <class V, class Real, std::size_t... j>
[[gnu::always_inline]] inline LaneComplex<V> parts_of(const Real* pairs, std::index_sequence<j...>) {
    const V one = load<V>(pairs), other = load<V>(pairs + sizeof...(j));
    return {__builtin_shufflevector(one, other, static_cast<int>(2 * j)...),
            __builtin_shufflevector(one, other, static_cast<int>(2 * j + 1)...)};
}
template <class V, class Real>
[[gnu::always_inline]] inline LaneComplex<V> load_pairs(const Real* pairs) {
    return parts_of<V>(pairs, std::make_index_sequence<lanes_of<V, Real>>());
}
template <class V, class Real, std::size_t... j>
[[gnu::always_inline]] inline void pairs_of(Real* pairs, const LaneComplex<V>& value, std::index_sequence<j...>) {
    constexpr std::size_t lanes = sizeof...(j);
    store(pairs, __builtin_shufflevector(value.re, value.im, static_cast<int>(j / 2 + j % 2 * lanes)...));
    store(pairs + lanes,
          __builtin_shufflevector(value.re, value.im, static_cast<int>((lanes + j) / 2 + j % 2 * lanes)...));
}
template <class V, class Real>
[[gnu::always_inline]] inline void store_pairs(Real* pairs, const LaneComplex<V>& value) {
    pairs_of(pairs, value, std::make_index_sequence<lanes_of<V, Real>>());
}

}  // namespace tradewind::kernel
