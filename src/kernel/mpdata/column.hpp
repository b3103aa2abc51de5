// Flow through the faces between the levels of a node, in three dimensions: computed once per face, level by level,
// before the loop over its other faces. Vectors begin at any level: what is above and below lies a level away.
#pragma once

#include <vector>

#include "kernel/mpdata/flow_through.hpp"
#include "kernel/mpdata/mpdata.hpp"

namespace tradewind::kernel {

// A thread's room for the columns of a node: what flows down through the face above each level, and below the last one,
// and the extremes around each level.
template <class Real>
class ColumnRoom {
  public:
    explicit ColumnRoom(const Pass<Real>& pass)
        : levels_(pass.levels), room_(pass.down == nullptr ? 0 : static_cast<std::size_t>(3 * (levels_ + 2))) {}

    Real* down() { return room_.data(); }               // [level + 1]; through the face above a level
    Real* low() { return room_.data() + levels_ + 3; }  // [level], and from -1 to levels
    Real* high() { return room_.data() + 2 * levels_ + 5; }

  private:
    Index levels_;
    std::vector<Real> room_;
};

// body(example, level) of each face between a level and the next one, which it stores; nothing flows through the top
// and the ground.
template <int B, class Real, class Body>
TRADEWIND_INLINE void over_faces(Index levels, Real* through, const Body& body) {
    through[0] = Real(0);
    over_levels<B, Real>(levels - 1, [&](auto example, Index level) __attribute__((always_inline)) {
        using V = decltype(example);
        V f = body(example, level);
        store(through + 1 + level, f);
    });
    through[levels] = Real(0);
}

// The upwind fluxes of a field.
template <int B, class Real>
TRADEWIND_INLINE void upwind_column(Index levels, const Real* down, const Real* q, Real* through) {
    over_faces<B>(levels, through, [&](auto example, Index level) __attribute__((always_inline)) {
        using V = decltype(example);
        V f, s, q1, q2;
        load(s, down + level);
        load(q1, q + level);
        load(q2, q + level + 1);
        upwind(f, s, q1, q2);
        return f;
    });
}

// `correction` of the faces of a node, from its divergences d, and q after the pass, which
// `after(q, d, level)` sets; limited by shares [2][level]. `flows`: what flows in the next pass, else its face fluxes,
// which differ without the gauge.
template <int B, bool gauge, bool limited, bool flows, class Real, class After>
TRADEWIND_INLINE void corrected_faces(const Pass<Real>& pass, Index node, const Real* d, Real* through,
                                      const After& after) {
    const Index levels = pass.levels;
    const Real dt = pass.dt, *down = pass.down + node * levels;
    const Real* shares = pass.limits + node * 2 * levels;
    over_faces<B>(levels, through, [&](auto example, Index level) __attribute__((always_inline)) {
        using V = decltype(example);
        V f, s, q1, q2, d1, d2;
        load(s, down + level);
        load(d1, d + level);
        load(d2, d + level + 1);
        after(q1, d1, level);
        after(q2, d2, level + 1);
        correction<gauge>(f, s, q1, q2, d1, d2, dt);
        if constexpr (limited) {
            V in1, out1, in2, out2;
            load(in1, shares + level);
            load(out1, shares + levels + level);
            load(in2, shares + level + 1);
            load(out2, shares + levels + level + 1);
            limit(f, in1, out1, in2, out2);
        }
        if constexpr (flows && !gauge) upwind(f, V(f), q1, q2);
        return f;
    });
}

// The same from q before the pass.
template <int B, bool gauge, bool limited, bool flows, class Real>
TRADEWIND_INLINE void corrected_column(const Pass<Real>& pass, Index node, Real* through) {
    const Real *q = pass.q + node * pass.levels, *d = pass.divergence + node * pass.levels, dt = pass.dt;
    corrected_faces<B, gauge, limited, flows>(
        pass, node, d, through, [&](auto& value, const auto& change, Index level) __attribute__((always_inline)) {
            load(value, q + level);
            value = value - dt * change;
        });
}

// Adds the flow out of a level through both of its faces.
template <class V, class Real>
TRADEWIND_INLINE void add_column(V& sum, const Real* through, Index level) {
    V above, below;
    load(above, through + level);
    load(below, through + level + 1);
    sum = sum + (below - above);
}

// One over the volume of a node, or in three dimensions over the mass of each level.
template <bool columns, class V, class Real>
TRADEWIND_INLINE void divide(V& sum, const Pass<Real>& pass, Index node, Index level, Real inverse_volume) {
    if constexpr (columns) {
        V inverse_mass;
        load(inverse_mass, pass.inverse_mass + node * pass.levels + level);
        sum = sum * inverse_mass;
    } else {
        sum = sum * inverse_volume;
    }
}

}  // namespace tradewind::kernel
