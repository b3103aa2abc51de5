// The loops of MPDATA, see src/kernel/mpdata: formulas and order of operations are those of the loops there. A thread
// takes one level of a node (or of an edge), so that threads beside each other read levels beside each other; flow
// through the faces between levels, which two levels share, is computed by both.
#include "threads.hpp"

namespace tradewind_device {

// A rank's part of a mesh, as src/kernel/mpdata/graph.hpp has it.
struct Mesh {
    const Index* offset;           // [node + 1]
    const int* neighbour;          // [entry]
    const int* face;               // [entry]
    const int* end;                // [edge][2]
    const double* inverse_volume;  // [own node]
};

// Own nodes that a loop is for: numbers begin..begin + count - 1, or those entries of a list; of these those whose mask
// is `wanted`, where there is a mask.
struct Nodes {
    Index begin, count;
    const int* list;
    const unsigned char* mask;
    int wanted;
    // Node number i, or -1 where the mask leaves it out.
    TRADEWIND_MEMBER Index at(Index i) const {
        const Index node = list != nullptr ? list[begin + i] : begin + i;
        return mask == nullptr || mask[node] == wanted ? node : -1;
    }
};

template <class Real>
struct Pass {
    Mesh mesh;
    Index levels;
    Real dt;
    bool gauge;
    const Real* flux;
    const Real* q;
    const Real* divergence;
    const Real* limits;  // [node][2][level]; none: not limited
    const Real* down;    // in three dimensions, as is inverse_mass
    const Real* inverse_mass;
};

template <class Real>
TRADEWIND_DEVICE Real positive(Real value) {
    return value > Real(0) ? value : Real(0);
}

template <class Real>
TRADEWIND_DEVICE Real negative(Real value) {
    return value < Real(0) ? value : Real(0);
}

template <class Real>
TRADEWIND_DEVICE Real upwind(Real s, Real q1, Real q2) {
    return positive(s) * q1 + negative(s) * q2;
}

// The flux of the next pass with the infinite gauge, else its face flux.
template <class Real>
TRADEWIND_DEVICE Real correction(bool gauge, Real s, Real q1, Real q2, Real d1, Real d2, Real dt) {
    const Real half = Real(0.5), half_dt = half * dt, size = s < Real(0) ? -s : s;
    const Real f = half * (size * (q2 - q1) - half_dt * s * (d1 + d2));
    return gauge ? f : f / (half * (q1 + q2) + Real(1e-30));
}

template <class Real>
TRADEWIND_DEVICE Real limited(Real f, Real in1, Real out1, Real in2, Real out2) {
    const Real from = f > Real(0) ? out1 : out2, to = f > Real(0) ? in2 : in1;
    const Real smaller = from < to ? from : to;
    return f * (smaller < Real(1) ? smaller : Real(1));
}

// A face as a node meets it: the face's flux outward, and the neighbour.
template <class Real>
struct Face {
    Real s;
    Index other;
};

template <class Real>
TRADEWIND_DEVICE Face<Real> face_of(const Pass<Real>& pass, Index entry, Index level) {
    const Index face = pass.mesh.face[entry];
    const Real sign = (face & 1) != 0 ? Real(-1) : Real(1);
    return {pass.flux[(face >> 1) * pass.levels + level] * sign, pass.mesh.neighbour[entry]};
}

// The flow down through the lower face of a level; nothing flows through the top, above level 0, and the ground.
template <class Real>
TRADEWIND_DEVICE Real upwind_face(const Pass<Real>& pass, Index node, Index level) {
    if (level < 0 || level >= pass.levels - 1) return Real(0);
    const Real* const q = pass.q + node * pass.levels + level;
    return upwind(pass.down[node * pass.levels + level], q[0], q[1]);
}

// The same in the next pass. `flows`: what flows there, else its face flux, which differs without the gauge.
template <class Real>
TRADEWIND_DEVICE Real corrected_face(const Pass<Real>& pass, Index node, Index level, bool is_limited, bool flows) {
    if (level < 0 || level >= pass.levels - 1) return Real(0);
    const Real *const q = pass.q + node * pass.levels + level, *const d = pass.divergence + node * pass.levels + level;
    const Real q1 = q[0] - pass.dt * d[0], q2 = q[1] - pass.dt * d[1];
    Real f = correction(pass.gauge, pass.down[node * pass.levels + level], q1, q2, d[0], d[1], pass.dt);
    if (is_limited) {
        const Real *const in = pass.limits + node * 2 * pass.levels + level, *const out = in + pass.levels;
        f = limited(f, in[0], out[0], in[1], out[1]);
    }
    return flows && !pass.gauge ? upwind(f, q1, q2) : f;
}

// Times one over the volume of a node, or over the mass of a level.
template <class Real>
TRADEWIND_DEVICE Real per_volume(const Pass<Real>& pass, Index node, Index level, Real sum) {
    if (pass.down != nullptr) return sum * pass.inverse_mass[node * pass.levels + level];
    return sum * static_cast<Real>(pass.mesh.inverse_volume[node]);
}

template <class Real>
TRADEWIND_DEVICE Real divergence_at(const Pass<Real>& pass, Index node, Index level) {
    const Real q1 = pass.q[node * pass.levels + level];
    Real sum = Real(0);
    for (Index entry = pass.mesh.offset[node]; entry < pass.mesh.offset[node + 1]; ++entry) {
        const Face<Real> face = face_of(pass, entry, level);
        sum = sum + upwind(face.s, q1, pass.q[face.other * pass.levels + level]);
    }
    if (pass.down != nullptr) sum = sum + (upwind_face(pass, node, level) - upwind_face(pass, node, level - 1));
    return per_volume(pass, node, level, sum);
}

template <class Real>
TRADEWIND_DEVICE Real corrected_at(const Pass<Real>& pass, Index node, Index level) {
    const Index levels = pass.levels, here = node * levels + level;
    const Real d1 = pass.divergence[here], q1 = pass.q[here] - pass.dt * d1;
    const bool is_limited = pass.limits != nullptr;
    Real sum = Real(0);
    for (Index entry = pass.mesh.offset[node]; entry < pass.mesh.offset[node + 1]; ++entry) {
        const Face<Real> face = face_of(pass, entry, level);
        const Index there = face.other * levels + level;
        const Real d2 = pass.divergence[there], q2 = pass.q[there] - pass.dt * d2;
        Real f = correction(pass.gauge, face.s, q1, q2, d1, d2, pass.dt);
        if (is_limited) {
            const Real* const mine = pass.limits + node * 2 * levels + level;
            const Real* const its = pass.limits + face.other * 2 * levels + level;
            f = limited(f, mine[0], mine[levels], its[0], its[levels]);
        }
        if (!pass.gauge) f = upwind(f, q1, q2);
        sum = sum + f;
    }
    if (pass.down != nullptr)
        sum = sum + (corrected_face(pass, node, level, is_limited, true) -
                     corrected_face(pass, node, level - 1, is_limited, true));
    sum = per_volume(pass, node, level, sum);
    return q1 - pass.dt * sum;
}

template <class Real>
struct Range {
    Real low, high;
    TRADEWIND_MEMBER void take(Real value) {
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
};

// The lowest and the highest value of a level before and after the pass; beyond the top and the ground as there.
template <class Real>
TRADEWIND_DEVICE Range<Real> range_of(const Pass<Real>& pass, Index node, Index level) {
    const Index nearest = level < 0 ? 0 : level >= pass.levels ? pass.levels - 1 : level;
    const Real before = pass.q[node * pass.levels + nearest];
    const Real after = before - pass.dt * pass.divergence[node * pass.levels + nearest];
    return {after < before ? after : before, after > before ? after : before};
}

template <class Real>
TRADEWIND_DEVICE void limits_at(const Pass<Real>& pass, Index node, Index level, Real tiny, Real* out) {
    const Index here = node * pass.levels + level;
    const Real d1 = pass.divergence[here];
    Real q1 = pass.q[here], comes = Real(0), goes = Real(0);
    Range<Real> range{q1, q1};
    q1 = q1 - pass.dt * d1;
    range.take(q1);
    for (Index entry = pass.mesh.offset[node]; entry < pass.mesh.offset[node + 1]; ++entry) {
        const Face<Real> face = face_of(pass, entry, level);
        const Index there = face.other * pass.levels + level;
        const Real d2 = pass.divergence[there];
        Real q2 = pass.q[there];
        range.take(q2);
        q2 = q2 - pass.dt * d2;
        range.take(q2);
        Real f = correction(pass.gauge, face.s, q1, q2, d1, d2, pass.dt);
        if (!pass.gauge) f = upwind(f, q1, q2);
        goes = goes + positive(f);
        comes = comes + (f < Real(0) ? -f : Real(0));
    }
    if (pass.down != nullptr) {
        for (Index other = level - 1; other <= level + 1; other += 2) {
            const Range<Real> beside = range_of(pass, node, other);
            range.low = beside.low < range.low ? beside.low : range.low;
            range.high = beside.high > range.high ? beside.high : range.high;
        }
        Real f = corrected_face(pass, node, level, false, true);
        goes = goes + positive(f);
        comes = comes + (f < Real(0) ? -f : Real(0));
        f = corrected_face(pass, node, level - 1, false, true);
        goes = goes + (f < Real(0) ? -f : Real(0));
        comes = comes + positive(f);
    }
    comes = per_volume(pass, node, level, comes);
    goes = per_volume(pass, node, level, goes);
    out[node * 2 * pass.levels + level] = (range.high - q1) / (pass.dt * comes + tiny);
    out[(node * 2 + 1) * pass.levels + level] = (q1 - range.low) / (pass.dt * goes + tiny);
}

// The loops: `body` takes each level of each node, and the place of its value.
template <class Real, class Body>
TRADEWIND_DEVICE void each_level(const Pass<Real>& pass, const Nodes& nodes, const Body& body) {
    for (Index i = this_thread(); i < nodes.count * pass.levels; i += all_threads()) {
        const Split place = Split::of(i, pass.levels);
        const Index node = nodes.at(place.row);
        if (node >= 0) body(node, place.rest, node * pass.levels + place.rest);
    }
}

template <class Real>
TRADEWIND_DEVICE void mpdata_divergence(const Pass<Real>& pass, const Nodes& nodes, Real* out) {
    each_level(pass, nodes, [&](Index node, Index level, Index at) { out[at] = divergence_at(pass, node, level); });
}

template <class Real>
TRADEWIND_DEVICE void mpdata_upwind(const Pass<Real>& pass, const Nodes& nodes, Real* out) {
    each_level(pass, nodes, [&](Index node, Index level, Index at) {
        out[at] = pass.q[at] - pass.dt * divergence_at(pass, node, level);
    });
}

template <class Real>
TRADEWIND_DEVICE void mpdata_corrected(const Pass<Real>& pass, const Nodes& nodes, Real* out) {
    each_level(pass, nodes, [&](Index node, Index level, Index at) { out[at] = corrected_at(pass, node, level); });
}

template <class Real>
TRADEWIND_DEVICE void mpdata_limits(const Pass<Real>& pass, const Nodes& nodes, Real* out) {
    const Real tiny = sizeof(Real) == 8 ? Real(2.2250738585072014e-308) : Real(1.17549435e-38F);
    each_level(pass, nodes, [&](Index node, Index level, Index) { limits_at(pass, node, level, tiny, out); });
}

// The face fluxes of the next pass, of all edges.
template <class Real>
TRADEWIND_DEVICE void mpdata_next_fluxes(const Pass<Real>& pass, Index edges, Real* out) {
    const Index levels = pass.levels;
    for (Index i = this_thread(); i < edges * levels; i += all_threads()) {
        const Split place = Split::of(i, levels);
        const Index one = pass.mesh.end[2 * place.row], two = pass.mesh.end[2 * place.row + 1];
        const Index first = one * levels + place.rest, second = two * levels + place.rest;
        const Real d1 = pass.divergence[first], d2 = pass.divergence[second];
        const Real q1 = pass.q[first] - pass.dt * d1, q2 = pass.q[second] - pass.dt * d2;
        Real f = correction(false, pass.flux[i], q1, q2, d1, d2, pass.dt);
        if (pass.limits != nullptr) {
            const Real* const mine = pass.limits + one * 2 * levels + place.rest;
            const Real* const its = pass.limits + two * 2 * levels + place.rest;
            f = limited(f, mine[0], mine[levels], its[0], its[levels]);
        }
        out[i] = f;
    }
}

// And down through the lower faces of the levels of own nodes.
template <class Real>
TRADEWIND_DEVICE void mpdata_next_columns(const Pass<Real>& pass, Index own, Real* out) {
    for (Index i = this_thread(); i < own * pass.levels; i += all_threads()) {
        const Split place = Split::of(i, pass.levels);
        out[i] = corrected_face(pass, place.row, place.rest, pass.limits != nullptr, false);
    }
}

// The tracer after this pass, of `nodes` nodes.
template <class Real>
TRADEWIND_DEVICE void mpdata_advance(const Pass<Real>& pass, Index nodes, Real* out) {
    for (Index i = this_thread(); i < nodes * pass.levels; i += all_threads())
        out[i] = pass.q[i] - pass.dt * pass.divergence[i];
}

// As one writes them first: a thread takes all levels of an edge, and stores what flows; then one those of a node.

template <class Real>
TRADEWIND_DEVICE void mpdata_plain_fluxes(const Pass<Real>& pass, Index edges, Real* out) {
    const Index levels = pass.levels;
    for (Index edge = this_thread(); edge < edges; edge += all_threads())
        for (Index level = 0; level < levels; ++level) {
            const Index first = pass.mesh.end[2 * edge] * levels + level;
            const Index second = pass.mesh.end[2 * edge + 1] * levels + level;
            out[edge * levels + level] = upwind(pass.flux[edge * levels + level], pass.q[first], pass.q[second]);
        }
}

template <class Real>
TRADEWIND_DEVICE void mpdata_plain_corrections(const Pass<Real>& pass, Index edges, Real* out) {
    const Index levels = pass.levels;
    for (Index edge = this_thread(); edge < edges; edge += all_threads())
        for (Index level = 0; level < levels; ++level) {
            const Index first = pass.mesh.end[2 * edge] * levels + level;
            const Index second = pass.mesh.end[2 * edge + 1] * levels + level;
            const Real d1 = pass.divergence[first], d2 = pass.divergence[second];
            const Real q1 = pass.q[first] - pass.dt * d1, q2 = pass.q[second] - pass.dt * d2;
            out[edge * levels + level] = correction(true, pass.flux[edge * levels + level], q1, q2, d1, d2, pass.dt);
        }
}

// The sum of the flow through the faces of a node, `pass.flux`, per volume: the divergence; with `advances` the new
// tracer.
template <class Real>
TRADEWIND_DEVICE void mpdata_plain_sums(const Pass<Real>& pass, Index own, bool advances, Real* out) {
    const Index levels = pass.levels;
    for (Index node = this_thread(); node < own; node += all_threads())
        for (Index level = 0; level < levels; ++level) {
            const Index here = node * levels + level;
            Real sum = Real(0);
            for (Index entry = pass.mesh.offset[node]; entry < pass.mesh.offset[node + 1]; ++entry)
                sum = sum + face_of(pass, entry, level).s;
            sum = sum * static_cast<Real>(pass.mesh.inverse_volume[node]);
            out[here] = advances ? pass.q[here] - pass.dt * pass.divergence[here] - pass.dt * sum : sum;
        }
}

// Fluxes of a flow that changes: the sum of up to four terms, each a weight times a number by row times one by level.
template <class Real>
TRADEWIND_DEVICE void mpdata_flow(const double* by_row, const double* by_level, Index rows, Index terms, Index levels,
                                  double weight_0, double weight_1, double weight_2, double weight_3, Real* out) {
    for (Index i = this_thread(); i < rows * levels; i += all_threads()) {
        const Split place = Split::of(i, levels);
        double total = 0;
        for (Index term = 0; term < terms; ++term) {
            const double weight = term == 0 ? weight_0 : term == 1 ? weight_1 : term == 2 ? weight_2 : weight_3;
            total += (weight * by_row[place.row * terms + term]) * by_level[term * levels + place.rest];
        }
        out[i] = static_cast<Real>(total);
    }
}

}  // namespace tradewind_device

// Parameters of each loop: the pass, then its own, then where it writes.
#define TRADEWIND_PASS(Real)                                                                                      \
    const long long *offset, const int *neighbour, const int *face, const int *end, const double *inverse_volume, \
        long long levels, Real dt, long long gauge, const Real *flux, const Real *q, const Real *divergence,      \
        const Real *limits, const Real *down, const Real *inverse_mass
#define TRADEWIND_THE_PASS                           \
    {{offset, neighbour, face, end, inverse_volume}, \
     levels,                                         \
     dt,                                             \
     gauge != 0,                                     \
     flux,                                           \
     q,                                              \
     divergence,                                     \
     limits,                                         \
     down,                                           \
     inverse_mass}

#define TRADEWIND_OF_NODES(Real)                                                                         \
    (TRADEWIND_PASS(Real), long long begin, long long count, const int* list, const unsigned char* mask, \
     long long wanted, Real* out)
#define TRADEWIND_LOOP \
    (TRADEWIND_THE_PASS, tradewind_device::Nodes{begin, count, list, mask, static_cast<int>(wanted)}, out)
TRADEWIND_BOTH(mpdata_divergence, TRADEWIND_OF_NODES, TRADEWIND_LOOP)
TRADEWIND_BOTH(mpdata_upwind, TRADEWIND_OF_NODES, TRADEWIND_LOOP)
TRADEWIND_BOTH(mpdata_corrected, TRADEWIND_OF_NODES, TRADEWIND_LOOP)
TRADEWIND_BOTH(mpdata_limits, TRADEWIND_OF_NODES, TRADEWIND_LOOP)
#undef TRADEWIND_LOOP
#undef TRADEWIND_OF_NODES

#define TRADEWIND_OF_ALL(Real) (TRADEWIND_PASS(Real), long long count, Real* out)
#define TRADEWIND_LOOP (TRADEWIND_THE_PASS, count, out)
TRADEWIND_BOTH(mpdata_next_fluxes, TRADEWIND_OF_ALL, TRADEWIND_LOOP)
TRADEWIND_BOTH(mpdata_next_columns, TRADEWIND_OF_ALL, TRADEWIND_LOOP)
TRADEWIND_BOTH(mpdata_advance, TRADEWIND_OF_ALL, TRADEWIND_LOOP)
TRADEWIND_BOTH(mpdata_plain_fluxes, TRADEWIND_OF_ALL, TRADEWIND_LOOP)
TRADEWIND_BOTH(mpdata_plain_corrections, TRADEWIND_OF_ALL, TRADEWIND_LOOP)
#undef TRADEWIND_LOOP
#undef TRADEWIND_OF_ALL

#define TRADEWIND_OF_SUMS(Real) (TRADEWIND_PASS(Real), long long count, long long advances, Real* out)
TRADEWIND_BOTH(mpdata_plain_sums, TRADEWIND_OF_SUMS, (TRADEWIND_THE_PASS, count, advances != 0, out))
#undef TRADEWIND_OF_SUMS

#define TRADEWIND_OF_FLOW(Real)                                                                                        \
    (const double* by_row, const double* by_level, long long rows, long long terms, long long levels, double weight_0, \
     double weight_1, double weight_2, double weight_3, Real* out)
TRADEWIND_BOTH(mpdata_flow, TRADEWIND_OF_FLOW,
               (by_row, by_level, rows, terms, levels, weight_0, weight_1, weight_2, weight_3, out))
#undef TRADEWIND_OF_FLOW
#undef TRADEWIND_PASS
#undef TRADEWIND_THE_PASS
