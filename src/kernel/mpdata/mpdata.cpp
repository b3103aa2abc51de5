#include "kernel/mpdata/mpdata.hpp"

#include <algorithm>

#include "kernel/clones.hpp"
#include "kernel/mpdata/faces.hpp"

namespace tradewind::kernel {

namespace {

template <class Body>
TRADEWIND_INLINE void over_nodes(const Nodes& nodes, Index begin, Index end, const Body& body) {
    for (Index place = begin; place < end; ++place) {
        const Index node = nodes.list != nullptr ? nodes.list[place] : place;
        if (nodes.mask == nullptr || nodes.mask[node] == nodes.wanted) body(node);
    }
}

template <int B, bool columns, bool advance, class Real>
TRADEWIND_INLINE void upwind_part(const Pass<Real>& pass, const Nodes& nodes, Index begin, Index end, Real* out) {
    ColumnRoom<Real> room(pass);
    over_nodes(nodes, begin, end, [&](Index node) __attribute__((always_inline)) {
        divergence_of_node<B, columns, advance>(pass, node, room, out + node * pass.levels);
    });
}

template <int B, bool gauge, bool limited, bool columns, class Real>
TRADEWIND_INLINE void corrected_part(const Pass<Real>& pass, const Nodes& nodes, Index begin, Index end, Real* out) {
    ColumnRoom<Real> room(pass);
    over_nodes(nodes, begin, end, [&](Index node) __attribute__((always_inline)) {
        corrected_node<B, gauge, limited, columns>(pass, node, room, out + node * pass.levels);
    });
}

template <int B, bool gauge, bool columns, class Real>
TRADEWIND_INLINE void limits_part(const Pass<Real>& pass, const Nodes& nodes, Index begin, Index end, Real* out) {
    ColumnRoom<Real> room(pass);
    over_nodes(nodes, begin, end, [&](Index node) __attribute__((always_inline)) {
        limits_of_node<B, gauge, columns>(pass, node, room, out + node * 2 * pass.levels);
    });
}

template <int B, bool limited, class Real>
TRADEWIND_INLINE void next_fluxes(const Pass<Real>& pass, Index begin, Index end, Real* out) {
    const Index levels = pass.levels;
    const Real dt = pass.dt;
    for (Index edge = begin; edge < end; ++edge) {
        const Index first = pass.graph->ends()[2 * edge], second = pass.graph->ends()[2 * edge + 1];
        over_levels<B, Real>(levels, [&](auto example, Index level) __attribute__((always_inline)) {
            using V = decltype(example);
            V q1, q2, d1, d2, s, f;
            load(s, pass.flux + edge * levels + level);
            load(q1, pass.q + first * levels + level);
            load(q2, pass.q + second * levels + level);
            load(d1, pass.divergence + first * levels + level);
            load(d2, pass.divergence + second * levels + level);
            q1 = q1 - dt * d1;
            q2 = q2 - dt * d2;
            correction<false>(f, s, q1, q2, d1, d2, dt);
            if constexpr (limited) {
                V in1, out1, in2, out2;
                load(in1, pass.limits + first * 2 * levels + level);
                load(out1, pass.limits + (first * 2 + 1) * levels + level);
                load(in2, pass.limits + second * 2 * levels + level);
                load(out2, pass.limits + (second * 2 + 1) * levels + level);
                limit(f, in1, out1, in2, out2);
            }
            store(out + edge * levels + level, f);
        });
    }
}

template <class Real>
TRADEWIND_INLINE void advance(const Pass<Real>& pass, Index begin, Index end, Real* out) {
    for (Index i = begin * pass.levels; i < end * pass.levels; ++i) out[i] = pass.q[i] - pass.dt * pass.divergence[i];
}

template <int B, class Real>
TRADEWIND_INLINE void run_next_columns_by(const Pass<Real>& pass, Index begin, Index end, Real* out) {
    ColumnRoom<Real> room(pass);
    for (Index node = begin; node < end; ++node) {
        if (pass.limits == nullptr)
            corrected_column<B, false, false, false>(pass, node, room.down());
        else
            corrected_column<B, false, true, false>(pass, node, room.down());
        std::copy(room.down() + 1, room.down() + 1 + pass.levels, out + node * pass.levels);
    }
}

// The loop for two or three dimensions, with or without the gauge, and limited or not.
#define TRADEWIND_COLUMNS(name, ...)                                                 \
    pass.down == nullptr ? name<B, __VA_ARGS__, false>(pass, nodes, begin, end, out) \
                         : name<B, __VA_ARGS__, true>(pass, nodes, begin, end, out)

template <int B, class Real>
TRADEWIND_INLINE void run_divergence_by(const Pass<Real>& pass, const Nodes& nodes, Index begin, Index end, Real* out) {
    pass.down == nullptr ? upwind_part<B, false, false>(pass, nodes, begin, end, out)
                         : upwind_part<B, true, false>(pass, nodes, begin, end, out);
}

template <int B, class Real>
TRADEWIND_INLINE void run_upwind_by(const Pass<Real>& pass, const Nodes& nodes, Index begin, Index end, Real* out) {
    pass.down == nullptr ? upwind_part<B, false, true>(pass, nodes, begin, end, out)
                         : upwind_part<B, true, true>(pass, nodes, begin, end, out);
}

template <int B, class Real>
TRADEWIND_INLINE void run_corrected_by(const Pass<Real>& pass, const Nodes& nodes, Index begin, Index end, Real* out) {
    if (pass.gauge && pass.limits == nullptr) TRADEWIND_COLUMNS(corrected_part, true, false);
    if (pass.gauge && pass.limits != nullptr) TRADEWIND_COLUMNS(corrected_part, true, true);
    if (!pass.gauge && pass.limits == nullptr) TRADEWIND_COLUMNS(corrected_part, false, false);
    if (!pass.gauge && pass.limits != nullptr) TRADEWIND_COLUMNS(corrected_part, false, true);
}

template <int B, class Real>
TRADEWIND_INLINE void run_limits_by(const Pass<Real>& pass, const Nodes& nodes, Index begin, Index end, Real* out) {
    if (pass.gauge) TRADEWIND_COLUMNS(limits_part, true);
    if (!pass.gauge) TRADEWIND_COLUMNS(limits_part, false);
}
#undef TRADEWIND_COLUMNS

template <int B, class Real>
TRADEWIND_INLINE void run_next_fluxes_by(const Pass<Real>& pass, Index begin, Index end, Real* out) {
    if (pass.limits == nullptr) next_fluxes<B, false>(pass, begin, end, out);
    if (pass.limits != nullptr) next_fluxes<B, true>(pass, begin, end, out);
}

#define TRADEWIND_OF_NODES(name, Real)                                                                              \
    TRADEWIND_BY_WIDTH(void, name, (const Pass<Real>& pass, const Nodes& nodes, Index begin, Index end, Real* out), \
                       (pass, nodes, begin, end, out))
#define TRADEWIND_MPDATA(Real)                                                                              \
    TRADEWIND_OF_NODES(run_divergence, Real)                                                                \
    TRADEWIND_OF_NODES(run_upwind, Real)                                                                    \
    TRADEWIND_OF_NODES(run_corrected, Real)                                                                 \
    TRADEWIND_OF_NODES(run_limits, Real)                                                                    \
    TRADEWIND_BY_WIDTH(void, run_next_fluxes, (const Pass<Real>& pass, Index begin, Index end, Real* out),  \
                       (pass, begin, end, out))                                                             \
    TRADEWIND_BY_WIDTH(void, run_next_columns, (const Pass<Real>& pass, Index begin, Index end, Real* out), \
                       (pass, begin, end, out))                                                             \
    TRADEWIND_CLONES void run_advance(const Pass<Real>& pass, Index begin, Index end, Real* out) {          \
        advance(pass, begin, end, out);                                                                     \
    }
TRADEWIND_MPDATA(float)
TRADEWIND_MPDATA(double)
#undef TRADEWIND_MPDATA
#undef TRADEWIND_OF_NODES

// Each thread's share of begin..end - 1.
template <class Work>
void split_work(Index begin, Index end, Team& team, const Work& work) {
    team.run([&](int thread) {
        const Index count = end - begin, threads = team.threads();
        work(begin + count * thread / threads, begin + count * (thread + 1) / threads, thread);
    });
}

}  // namespace

template <class Real>
void upwind_divergence(const Pass<Real>& pass, const Nodes& nodes, Real* out, Team& team) {
    split_work(nodes.begin, nodes.end, team,
               [&](Index begin, Index end, int) { run_divergence(pass, nodes, begin, end, out); });
}

template <class Real>
void upwind_pass(const Pass<Real>& pass, const Nodes& nodes, Real* out, Team& team) {
    split_work(nodes.begin, nodes.end, team,
               [&](Index begin, Index end, int) { run_upwind(pass, nodes, begin, end, out); });
}

template <class Real>
void corrected(const Pass<Real>& pass, const Nodes& nodes, Real* out, Team& team) {
    split_work(nodes.begin, nodes.end, team,
               [&](Index begin, Index end, int) { run_corrected(pass, nodes, begin, end, out); });
}

template <class Real>
void limits(const Pass<Real>& pass, const Nodes& nodes, Real* out, Team& team) {
    split_work(nodes.begin, nodes.end, team,
               [&](Index begin, Index end, int) { run_limits(pass, nodes, begin, end, out); });
}

template <class Real>
void next_pass(const Pass<Real>& pass, Real* flux, Real* down, Real* q, Team& team) {
    split_work(0, pass.graph->edges(), team,
               [&](Index begin, Index end, int) { run_next_fluxes(pass, begin, end, flux); });
    if (pass.down != nullptr)
        split_work(0, pass.graph->nodes(), team,
                   [&](Index begin, Index end, int) { run_next_columns(pass, begin, end, down); });
    split_work(0, pass.graph->all(), team, [&](Index begin, Index end, int) { run_advance(pass, begin, end, q); });
}

#define TRADEWIND_MPDATA(Real)                                                      \
    template void upwind_divergence(const Pass<Real>&, const Nodes&, Real*, Team&); \
    template void upwind_pass(const Pass<Real>&, const Nodes&, Real*, Team&);       \
    template void corrected(const Pass<Real>&, const Nodes&, Real*, Team&);         \
    template void limits(const Pass<Real>&, const Nodes&, Real*, Team&);            \
    template void next_pass(const Pass<Real>&, Real*, Real*, Real*, Team&);
TRADEWIND_MPDATA(float)
TRADEWIND_MPDATA(double)
#undef TRADEWIND_MPDATA

}  // namespace tradewind::kernel
