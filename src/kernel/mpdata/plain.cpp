// MPDATA as one writes it first: every term a loop over the whole mesh, level by level, with arrays in between.
#include <algorithm>
#include <cmath>

#include "kernel/mpdata/mpdata.hpp"

namespace tradewind::kernel {

namespace {

// Each node adds what flows through its faces.
template <class Real>
Real gathered(const Graph& graph, Index node, const Real* through, Index levels, Index level) {
    Real sum = 0;
    for (Index entry = graph.begin(node), last = graph.end(node); entry < last; ++entry) {
        const Index face = graph.faces()[entry];
        const Real flow = through[(face >> 1) * levels + level];
        sum += (face & 1) != 0 ? -flow : flow;
    }
    return sum;
}

template <class Work>
void for_each(Index count, Team& team, const Work& work) {
    team.run([&](int thread) {
        const Index threads = team.threads();
        work(count * thread / threads, count * (thread + 1) / threads);
    });
}

}  // namespace

template <class Real>
void plain_divergence(const Pass<Real>& pass, Real* through, Real* out, Team& team) {
    const Graph& graph = *pass.graph;
    for_each(graph.edges(), team, [&](Index begin, Index end) {
        for (Index level = 0; level < pass.levels; ++level)
            for (Index edge = begin; edge < end; ++edge) {
                const Index first = graph.ends()[2 * edge], second = graph.ends()[2 * edge + 1];
                const Real a = pass.flux[edge * pass.levels + level];
                through[edge * pass.levels + level] = std::max(a, Real(0)) * pass.q[first * pass.levels + level] +
                                                      std::min(a, Real(0)) * pass.q[second * pass.levels + level];
            }
    });
    for_each(graph.nodes(), team, [&](Index begin, Index end) {
        for (Index level = 0; level < pass.levels; ++level)
            for (Index node = begin; node < end; ++node)
                out[node * pass.levels + level] =
                    gathered(graph, node, through, pass.levels, level) * static_cast<Real>(graph.inverse_volume(node));
    });
}

template <class Real>
void plain_corrected(const Pass<Real>& pass, Real* through, Real* out, Team& team) {
    const Graph& graph = *pass.graph;
    const Real *q = pass.q, *d = pass.divergence, half = Real(0.5), half_dt = half * pass.dt;
    for_each(graph.edges(), team, [&](Index begin, Index end) {
        for (Index level = 0; level < pass.levels; ++level)
            for (Index edge = begin; edge < end; ++edge) {
                const Index first = graph.ends()[2 * edge] * pass.levels + level;
                const Index second = graph.ends()[2 * edge + 1] * pass.levels + level;
                const Real a = pass.flux[edge * pass.levels + level];
                const Real q1 = q[first] - pass.dt * d[first], q2 = q[second] - pass.dt * d[second];
                through[edge * pass.levels + level] =
                    half * (std::abs(a) * (q2 - q1) - half_dt * a * (d[first] + d[second]));
            }
    });
    for_each(graph.nodes(), team, [&](Index begin, Index end) {
        for (Index level = 0; level < pass.levels; ++level)
            for (Index node = begin; node < end; ++node) {
                const Index here = node * pass.levels + level;
                const Real sum = gathered(graph, node, through, pass.levels, level);
                out[here] =
                    q[here] - pass.dt * d[here] - pass.dt * (sum * static_cast<Real>(graph.inverse_volume(node)));
            }
    });
}

template void plain_divergence(const Pass<float>&, float*, float*, Team&);
template void plain_divergence(const Pass<double>&, double*, double*, Team&);
template void plain_corrected(const Pass<float>&, float*, float*, Team&);
template void plain_corrected(const Pass<double>&, double*, double*, Team&);

}  // namespace tradewind::kernel
