// Flow through a face, in vectors of levels: the common part of all loops of MPDATA.
#pragma once

#include <limits>

#include "kernel/lanes.hpp"
#include "kernel/mpdata/mpdata.hpp"

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

// The entries of a node: where the values of its faces and of its neighbours lie.
template <class Real>
struct Around {
    const Real *flux[Graph::max_entries], *q[Graph::max_entries], *divergence[Graph::max_entries];
    const Real* limits[Graph::max_entries];
    Real sign[Graph::max_entries];
    int count = 0;

    TRADEWIND_INLINE Around(const Pass<Real>& pass, Index node) {
        const Graph& graph = *pass.graph;
        for (Index entry = graph.begin(node), last = graph.end(node); entry < last; ++entry, ++count) {
            const Index face = graph.faces()[entry], other = graph.neighbours()[entry];
            flux[count] = pass.flux + (face >> 1) * pass.levels;
            q[count] = pass.q + other * pass.levels;
            divergence[count] = pass.divergence + other * pass.levels;
            limits[count] = pass.limits + other * 2 * pass.levels;
            sign[count] = (face & 1) != 0 ? Real(-1) : Real(1);
        }
    }
};

template <int B, class Real>
TRADEWIND_INLINE void divergence_of_node(const Pass<Real>& pass, Index node, Real* out) {
    const Around<Real> around(pass, node);
    const Real inverse_volume = static_cast<Real>(pass.graph->inverse_volume(node));
    const Real* own = pass.q + node * pass.levels;
    over_levels<B, Real>(pass.levels, [&](auto example, Index level) __attribute__((always_inline)) {
        using V = decltype(example);
        V sum{}, q1, q2, s, f;
        load(q1, own + level);
        for (int i = 0; i < around.count; ++i) {
            load(s, around.flux[i] + level);
            load(q2, around.q[i] + level);
            s = s * around.sign[i];
            upwind(f, s, q1, q2);
            sum = sum + f;
        }
        sum = sum * inverse_volume;
        store(out + level, sum);
    });
}

template <int B, bool gauge, bool limited, class Real>
TRADEWIND_INLINE void corrected_node(const Pass<Real>& pass, Index node, Real* out) {
    const Around<Real> around(pass, node);
    const Real inverse_volume = static_cast<Real>(pass.graph->inverse_volume(node)), dt = pass.dt;
    const Real *own = pass.q + node * pass.levels, *its = pass.divergence + node * pass.levels;
    const Real* shares = pass.limits + node * 2 * pass.levels;
    over_levels<B, Real>(pass.levels, [&](auto example, Index level) __attribute__((always_inline)) {
        using V = decltype(example);
        V sum{}, q1, q2, d1, d2, s, f;
        load(q1, own + level);
        load(d1, its + level);
        q1 = q1 - dt * d1;
        for (int i = 0; i < around.count; ++i) {
            load(s, around.flux[i] + level);
            load(q2, around.q[i] + level);
            load(d2, around.divergence[i] + level);
            s = s * around.sign[i];
            q2 = q2 - dt * d2;
            correction<gauge>(f, s, q1, q2, d1, d2, dt);
            if constexpr (limited) {
                V in1, out1, in2, out2;
                load(in1, shares + level);
                load(out1, shares + pass.levels + level);
                load(in2, around.limits[i] + level);
                load(out2, around.limits[i] + pass.levels + level);
                limit(f, in1, out1, in2, out2);
            }
            if constexpr (!gauge) upwind(f, V(f), q1, q2);
            sum = sum + f;
        }
        q1 = q1 - dt * (sum * inverse_volume);
        store(out + level, q1);
    });
}

template <int B, bool gauge, class Real>
TRADEWIND_INLINE void limits_of_node(const Pass<Real>& pass, Index node, Real* out) {
    const Around<Real> around(pass, node);
    const Real inverse_volume = static_cast<Real>(pass.graph->inverse_volume(node)), dt = pass.dt;
    const Real *own = pass.q + node * pass.levels, *its = pass.divergence + node * pass.levels;
    over_levels<B, Real>(pass.levels, [&](auto example, Index level) __attribute__((always_inline)) {
        using V = decltype(example);
        const V zero{};
        V comes{}, goes{}, q1, q2, d1, d2, s, f;
        const auto widen = [](V& low, V& high, const V& q) __attribute__((always_inline)) {
            low = q < low ? q : low;
            high = q > high ? q : high;
        };
        load(q1, own + level);
        load(d1, its + level);
        V low = q1, high = q1;
        q1 = q1 - dt * d1;
        widen(low, high, q1);
        for (int i = 0; i < around.count; ++i) {
            load(s, around.flux[i] + level);
            load(q2, around.q[i] + level);
            load(d2, around.divergence[i] + level);
            s = s * around.sign[i];
            widen(low, high, q2);
            q2 = q2 - dt * d2;
            widen(low, high, q2);
            correction<gauge>(f, s, q1, q2, d1, d2, dt);
            if constexpr (!gauge) upwind(f, V(f), q1, q2);
            goes = goes + (f > zero ? f : zero);
            comes = comes + (f < zero ? -f : zero);
        }
        const Real tiny = std::numeric_limits<Real>::min();
        const V in = (high - q1) / (dt * (comes * inverse_volume) + tiny);
        const V away = (q1 - low) / (dt * (goes * inverse_volume) + tiny);
        store(out + level, in);
        store(out + pass.levels + level, away);
    });
}

}  // namespace tradewind::kernel
