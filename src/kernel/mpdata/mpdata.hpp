// A step of MPDATA on the median dual of a mesh, in loops over nodes that a time loop puts together. Fields are
// [node][level], levels innermost; face fluxes [edge][level] in volume per second, positive along the edge's normal.
// In two dimensions levels do not know each other. In three they are a column from the top to the ground: fluxes are in
// mass per second, those between levels positive downward, and each level has a mass in place of the node's volume.
//
// A pass computes the divergence D of the upwind fluxes of q; then q <- q - dt D, and the fluxes of the next pass
// remove the error of this one, which they estimate from q and D (Kuehnlein & Smolarkiewicz 2017,
// doi:10.1016/j.jcp.2016.12.054):
//     F = |a|/2 (q2 - q1) - dt a/2 (D1 + D2)/2        with q after the pass.
// With the infinite gauge F is the next flux itself; else F / mean(q1, q2) is the face flux of another upwind pass, and
// q must not be negative. Both sides of a face compute the same bits of what flows through it, with opposite signs, and
// a node adds its faces in the order of its entries: no bit depends on the division among ranks or threads, or on the
// loops that are chosen.
#pragma once

#include <cstdint>

#include "kernel/mpdata/graph.hpp"
#include "kernel/team.hpp"

namespace tradewind::kernel {

// Own nodes that a call is for: begin..end - 1, or the entries begin..end - 1 of `list`; of these those whose `mask` is
// `wanted`, where there is a mask. The threads of the team share them out.
struct Nodes {
    Index begin = 0, end = 0;
    const std::int32_t* list = nullptr;
    const std::uint8_t* mask = nullptr;
    std::uint8_t wanted = 0;
};

template <class Real>
struct Pass {
    const Graph* graph = nullptr;
    Index levels = 0;
    Real dt = 0;        // s
    bool gauge = true;  // infinite
    const Real* flux = nullptr;
    const Real* q = nullptr;
    const Real* divergence = nullptr;  // of the upwind fluxes of q, 1/s times q
    const Real* limits = nullptr;      // [node][2][level], as `limits` below makes them; none: not limited
    // In three dimensions, of own nodes: what flows down through the lower face of each level (of the last level
    // nothing whatever stands there), and one over its mass.
    const Real* down = nullptr;
    const Real* inverse_mass = nullptr;
};

// out = D, the divergence of the upwind fluxes of q.
template <class Real>
void upwind_divergence(const Pass<Real>& pass, const Nodes& nodes, Real* out, Team& team);

// out = q after this pass, where it is the only one.
template <class Real>
void upwind_pass(const Pass<Real>& pass, const Nodes& nodes, Real* out, Team& team);

// out = q after this pass and the next one, the last.
template <class Real>
void corrected(const Pass<Real>& pass, const Nodes& nodes, Real* out, Team& team);

// out[node][2][level]: the shares of the next pass's fluxes into and out of a node that make no new extremes
// (Zalesak 1979; Smolarkiewicz & Grabowski 1990): of q before and after this pass, of a node and its neighbours.
template <class Real>
void limits(const Pass<Real>& pass, const Nodes& nodes, Real* out, Team& team);

// The face fluxes of the next pass, on all edges, and between the levels of own nodes in three dimensions; and q after
// this one, own nodes and halo: for a further pass after it. Without the gauge alone.
template <class Real>
void next_pass(const Pass<Real>& pass, Real* flux, Real* down, Real* q, Team& team);

// upwind_divergence and corrected of the nodes first..last - 1 that have no neighbour in the halo, with the infinite
// gauge, in one sweep along the edges, each of which is met once: what it carries is added to both of its nodes in the
// order of the edges, as all other loops do. What is between two passes is kept only as long as it is needed, in
// `kept`, [thread][kept_rows(graph)][level]. The nodes must lie in the order of the edges (Graph::in_order).
template <class Real>
void swept(const Pass<Real>& pass, Index first, Index last, Real* kept, Real* out, Team& team);
inline Index kept_rows(const Graph& graph) {
    return 3 * (graph.window() + 1) + 1;
}

// The same as `upwind_divergence` and `corrected` for all own nodes, as one writes them first: a loop over edges that
// stores what flows through each, [edge][level], then one over nodes.
template <class Real>
void plain_divergence(const Pass<Real>& pass, Real* through, Real* out, Team& team);
template <class Real>
void plain_corrected(const Pass<Real>& pass, Real* through, Real* out, Team& team);

}  // namespace tradewind::kernel
