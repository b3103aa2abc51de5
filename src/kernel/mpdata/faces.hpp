// The loops over the faces of a node, in vectors of levels: on a mesh of volumes, or of columns of them.
#pragma once

#include <limits>

#include "kernel/mpdata/column.hpp"

namespace tradewind::kernel {

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

// The divergence of the upwind fluxes, or with `advance` q after the pass.
template <int B, bool columns, bool advance, class Real>
TRADEWIND_INLINE void divergence_of_node(const Pass<Real>& pass, Index node, ColumnRoom<Real>& room, Real* out) {
    Real* const through = room.down();
    if constexpr (columns)
        upwind_column<B>(pass.levels, pass.down + node * pass.levels, pass.q + node * pass.levels, through);
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
        if constexpr (columns) add_column(sum, through, level);
        divide<columns>(sum, pass, node, level, inverse_volume);
        if constexpr (advance) sum = q1 - pass.dt * sum;
        store(out + level, sum);
    });
}

template <int B, bool gauge, bool limited, bool columns, class Real>
TRADEWIND_INLINE void corrected_node(const Pass<Real>& pass, Index node, ColumnRoom<Real>& room, Real* out) {
    Real* const through = room.down();
    if constexpr (columns) corrected_column<B, gauge, limited, true>(pass, node, through);
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
        if constexpr (columns) add_column(sum, through, level);
        divide<columns>(sum, pass, node, level, inverse_volume);
        q1 = q1 - dt * sum;
        store(out + level, q1);
    });
}

// The lowest and the highest value of each level before and after the pass; beyond the top and the ground as there.
template <int B, class Real>
TRADEWIND_INLINE void extremes_of_column(const Pass<Real>& pass, Index node, Real* low, Real* high) {
    const Index levels = pass.levels;
    const Real dt = pass.dt, *q = pass.q + node * levels, *d = pass.divergence + node * levels;
    over_levels<B, Real>(levels, [&](auto example, Index level) __attribute__((always_inline)) {
        using V = decltype(example);
        V before, after, change;
        load(before, q + level);
        load(change, d + level);
        after = before - dt * change;
        store(low + level, V(after < before ? after : before));
        store(high + level, V(after > before ? after : before));
    });
    low[-1] = low[0], high[-1] = high[0];
    low[levels] = low[levels - 1], high[levels] = high[levels - 1];
}

template <int B, bool gauge, bool columns, class Real>
TRADEWIND_INLINE void limits_of_node(const Pass<Real>& pass, Index node, ColumnRoom<Real>& room, Real* out) {
    Real *const through = room.down(), *const low_here = room.low(), *const high_here = room.high();
    if constexpr (columns) {
        corrected_column<B, gauge, false, true>(pass, node, through);
        extremes_of_column<B>(pass, node, low_here, high_here);
    }
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
        if constexpr (columns) {
            for (const Index other : {level - 1, level + 1}) {
                load(q2, low_here + other);
                low = q2 < low ? q2 : low;
                load(q2, high_here + other);
                high = q2 > high ? q2 : high;
            }
            load(f, through + level + 1);
            goes = goes + (f > zero ? f : zero);
            comes = comes + (f < zero ? -f : zero);
            load(f, through + level);
            goes = goes + (f < zero ? -f : zero);
            comes = comes + (f > zero ? f : zero);
        }
        const Real tiny = std::numeric_limits<Real>::min();
        divide<columns>(comes, pass, node, level, inverse_volume);
        divide<columns>(goes, pass, node, level, inverse_volume);
        const V in = (high - q1) / (dt * comes + tiny);
        const V away = (q1 - low) / (dt * goes + tiny);
        store(out + level, in);
        store(out + pass.levels + level, away);
    });
}

}  // namespace tradewind::kernel
