// Flow through a face, in vectors of levels: the common part of all loops of MPDATA.
#pragma once

#include "base/units.hpp"
#include "kernel/lanes.hpp"

#define TRADEWIND_INLINE [[gnu::always_inline]] inline

namespace tradewind::kernel {

// body(a vector to be taken as an example, its first level): in vectors of B bytes, then in narrower ones, then one by
// one.
template <int B, class Real, class Body>
TRADEWIND_INLINE void over_levels(Index levels, const Body& body) {
    constexpr int less = B > 16 ? narrower(B) : B;
    Lanes<Real, B> wide{};
    Lanes<Real, less> narrow{};
    Real single{};
    constexpr Index in_wide = B / sizeof(Real), in_narrow = less / sizeof(Real);
    Index level = 0;
    for (; level + in_wide <= levels; level += in_wide) body(wide, level);
    if constexpr (less < B)
        for (; level + in_narrow <= levels; level += in_narrow) body(narrow, level);
    for (; level < levels; ++level) body(single, level);
}

// f = what the upwind scheme takes through a face out of the node with q1, with the outward flux s.
template <class V>
TRADEWIND_INLINE void upwind(V& f, const V& s, const V& q1, const V& q2) {
    const V zero{};
    f = (s > zero ? s : zero) * q1 + (s < zero ? s : zero) * q2;
}

template <class Real>
inline constexpr Real minimum_mean = Real(1e-30);  // where nothing is, nothing flows

// Outward: F of the next pass with the infinite gauge, else its face flux. q1 and q2 after the pass, d1 and d2 its
// divergences.
template <bool gauge, class Real, class V>
TRADEWIND_INLINE void correction(V& f, const V& s, const V& q1, const V& q2, const V& d1, const V& d2, Real dt) {
    const V zero{};
    const Real half = Real(0.5), half_dt = half * dt;
    const V size = s < zero ? -s : s;
    f = half * (size * (q2 - q1) - half_dt * s * (d1 + d2));
    if constexpr (!gauge) f = f / (half * (q1 + q2) + minimum_mean<Real>);
}

// Limits what flows out of node 1 into node 2, of which each has shares for what comes in and for what goes out.
template <class V>
TRADEWIND_INLINE void limit(V& f, const V& in1, const V& out1, const V& in2, const V& out2) {
    const V zero{};
    const V from = f > zero ? out1 : out2, to = f > zero ? in2 : in1;
    const V smaller = from < to ? from : to, one = zero + 1;
    f = f * (smaller < one ? smaller : one);
}

}  // namespace tradewind::kernel
