// Values that are computed together, in the vectors of GCC and clang: one operation is one of all lanes.
#pragma once

#include <cstring>

#include "kernel/width.hpp"

namespace tradewind::kernel {

template <class Real, int bytes, bool single = bytes == sizeof(Real)>
struct LanesOf {
    using type [[gnu::vector_size(bytes)]] = Real;
};
template <class Real, int bytes>
struct LanesOf<Real, bytes, true> {
    using type = Real;
};
// A vector of a number of bytes; a plain value where the bytes are those of one.
template <class Real, int bytes>
using Lanes = typename LanesOf<Real, bytes>::type;

template <class V, class Real>
[[gnu::always_inline]] inline void load(V& value, const Real* from) {
    std::memcpy(&value, from, sizeof value);
}
template <class V, class Real>
[[gnu::always_inline]] inline V load(const Real* from) {
    V value;
    std::memcpy(&value, from, sizeof value);
    return value;
}
template <class V, class Real>
[[gnu::always_inline]] inline void store(Real* to, V value) {
    std::memcpy(to, &value, sizeof value);
}

// a b + c with one rounding, on every processor; one without an instruction for it takes its time.
template <class V, class Real>
[[gnu::always_inline]] inline V fused(V a, V b, V c) {
    if constexpr (sizeof(V) == sizeof(Real)) {
        return sizeof(Real) == 4 ? static_cast<Real>(__builtin_fmaf(a, b, c))
                                 : static_cast<Real>(__builtin_fma(a, b, c));
    } else {
        V out;
        for (std::size_t i = 0; i < sizeof(V) / sizeof(Real); ++i)
            out[i] = sizeof(Real) == 4 ? static_cast<Real>(__builtin_fmaf(a[i], b[i], c[i]))
                                       : static_cast<Real>(__builtin_fma(a[i], b[i], c[i]));
        return out;
    }
}

}  // namespace tradewind::kernel
