// Two passes of MPDATA in one sweep through memory: each flux and each value of the tracer is read once.
#include <algorithm>

#include "kernel/mpdata/faces.hpp"

namespace tradewind::kernel {

namespace {

// A thread's sweep: along the edges a first time for the divergences, and a second time, as far behind as a node's
// edges reach, for the fluxes that correct. Sums of nodes grow in rings of rows.
template <class Real, int B, bool columns>
class Sweep {
  public:
    TRADEWIND_INLINE Sweep(const Pass<Real>& pass, Index first, Index last, Real* kept, Real* out)
        : pass_(pass),
          graph_(*pass.graph),
          levels_(pass.levels),
          mask_(graph_.window() - 1),
          first_(first),
          last_(last),
          // A row apart, so that a node's three rows do not fall into the same places of the caches.
          divergence_(kept),
          once_(kept + (graph_.window() + 1) * levels_),
          sum_(kept + 2 * (graph_.window() + 1) * levels_),
          unused_(kept + 3 * (graph_.window() + 1) * levels_),
          out_(out),
          room_(pass) {}

    TRADEWIND_INLINE void run() {
        if (first_ >= last_) return;
        begin_ = std::min(first_, graph_.lowest_from(first_));
        done_ = begin_;
        edge_ = graph_.edge_from(begin_);
        for (Index node = begin_; node < last_; ++node) {
            for (const Index ahead = graph_.reach(node); done_ <= ahead; ++done_) first_pass(done_);
            second_pass(node);
        }
    }

  private:
    // How far ahead values that come from memory are fetched, into the second-level cache: beyond an array's end
    // nothing happens. O320 with 60 levels takes 109 ms with 96 and 32 or twice that, 113 with half, 120 with a third,
    // and 132 with 12 and 4 into the first-level cache; O160 with 137 levels 66 in place of 89 ms, O80 with 16, which
    // is in a cache anyhow, 2.1 in place of 2.0.
    static constexpr Index edges_ahead = 96, nodes_ahead = 32;

    Real* row(Real* ring, Index node) const { return ring + (node & mask_) * levels_; }
    // Where a node's sum of a first pass grows; of the halo and of nodes before the sweep's, nowhere.
    Real* sum_of(Real* ring, Index node) const {
        return node >= begin_ && node < graph_.nodes() ? row(ring, node) : unused_;
    }
    // Whether an edge is the first of a node's: then its sum begins.
    bool opens(Index edge, Index node) const {
        return node >= graph_.nodes() || (graph_.faces()[graph_.begin(node)] >> 1) == edge;
    }

    // All edges up to a node's last one, and its divergence.
    TRADEWIND_INLINE void first_pass(Index node) {
        const Index end = std::max(edge_, graph_.edges_end(node));
        while (edge_ < end && graph_.ends()[2 * edge_] != node) stray(edge_++);
        const Index count = std::min<Index>(end - edge_, Graph::max_entries);
        const Real *flux[Graph::max_entries], *q[Graph::max_entries];
        Real* other_sum[Graph::max_entries];
        bool begins[Graph::max_entries];
        for (Index i = 0; i < count; ++i) {
            const Index edge = edge_ + i, other = graph_.ends()[2 * edge + 1];
            flux[i] = pass_.flux + edge * levels_;
            q[i] = pass_.q + other * levels_;
            other_sum[i] = sum_of(divergence_, other);
            begins[i] = opens(edge, other);
        }
        const bool begun = graph_.begin(node) < graph_.end(node) && !(count > 0 && opens(edge_, node));
        edge_ = end;
        const Real inverse_volume = static_cast<Real>(graph_.inverse_volume(node)), dt = pass_.dt;
        const Real* own = pass_.q + node * levels_;
        Real *sum_here = row(divergence_, node), *once = row(once_, node), *const through = room_.down();
        if constexpr (columns) upwind_column<B>(levels_, pass_.down + node * levels_, own, through);
        over_levels<B, Real>(levels_, [&](auto example, Index level) __attribute__((always_inline)) {
            using V = decltype(example);
            V sum{}, q1, q2, s, f, there{};
            if (begun) load(sum, sum_here + level);
            load(q1, own + level);
            for (Index i = 0; i < count; ++i) {
                __builtin_prefetch(flux[i] + level + edges_ahead * levels_, 0, 2);
                if (begins[i]) __builtin_prefetch(q[i] + level + nodes_ahead * levels_, 0, 2);
                load(s, flux[i] + level);
                load(q2, q[i] + level);
                upwind(f, s, q1, q2);
                sum = sum + f;
                if (begins[i])
                    there = -f;
                else {
                    load(there, other_sum[i] + level);
                    there = there - f;
                }
                store(other_sum[i] + level, there);
            }
            if constexpr (columns) add_column(sum, through, level);
            divide<columns>(sum, pass_, node, level, inverse_volume);
            store(sum_here + level, sum);
            q1 = q1 - dt * sum;
            store(once + level, q1);
        });
    }

    // An edge whose first node is of the halo, or before those of the sweep.
    TRADEWIND_INLINE void stray(Index edge) {
        const Index first = graph_.ends()[2 * edge], second = graph_.ends()[2 * edge + 1];
        if (second >= graph_.nodes() || second < begin_) return;
        const Real *flux = pass_.flux + edge * levels_, *q_first = pass_.q + first * levels_;
        const Real* q_second = pass_.q + second * levels_;
        Real* sum_here = row(divergence_, second);
        const bool begins = opens(edge, second);
        over_levels<B, Real>(levels_, [&](auto example, Index level) __attribute__((always_inline)) {
            using V = decltype(example);
            V sum{}, q1, q2, s, f;
            if (!begins) load(sum, sum_here + level);
            load(s, flux + level);
            load(q1, q_first + level);
            load(q2, q_second + level);
            upwind(f, s, q1, q2);
            sum = sum - f;
            store(sum_here + level, sum);
        });
    }

    // The correcting fluxes of the edges whose first node this is, and its value after them.
    TRADEWIND_INLINE void second_pass(Index node) {
        const Real *flux[Graph::max_entries], *once[Graph::max_entries], *divergence[Graph::max_entries];
        Real* other_sum[Graph::max_entries];
        bool begins[Graph::max_entries];
        Index count = 0;
        bool begun = false;
        for (Index entry = graph_.begin(node); entry < graph_.end(node); ++entry) {
            const Index face = graph_.faces()[entry], edge = face >> 1, other = graph_.neighbours()[entry];
            if ((face & 1) != 0) begun = true;
            if ((face & 1) != 0 || other >= graph_.nodes()) continue;
            flux[count] = pass_.flux + edge * levels_;
            once[count] = row(once_, other);
            divergence[count] = row(divergence_, other);
            other_sum[count] = row(sum_, other);
            begins[count++] = opens(edge, other);
        }
        const Real inverse_volume = static_cast<Real>(graph_.inverse_volume(node)), dt = pass_.dt;
        const Real *own = row(once_, node), *its = row(divergence_, node), *sum_here = row(sum_, node);
        Real* const through = room_.down();
        if constexpr (columns)
            corrected_faces<B, true, false, true>(pass_, node, its, through,
                                                  [&](auto& value, const auto&, Index level)
                                                      __attribute__((always_inline)) { load(value, own + level); });
        Real* to = node >= first_ && !graph_.beside_halo(node) ? out_ + node * levels_ : unused_;
        over_levels<B, Real>(levels_, [&](auto example, Index level) __attribute__((always_inline)) {
            using V = decltype(example);
            V sum{}, q1, q2, d1, d2, s, f, there{};
            if (begun) load(sum, sum_here + level);
            load(q1, own + level);
            load(d1, its + level);
            for (Index i = 0; i < count; ++i) {
                load(s, flux[i] + level);
                load(q2, once[i] + level);
                load(d2, divergence[i] + level);
                correction<true>(f, s, q1, q2, d1, d2, dt);
                sum = sum + f;
                if (begins[i])
                    there = -f;
                else {
                    load(there, other_sum[i] + level);
                    there = there - f;
                }
                store(other_sum[i] + level, there);
            }
            if constexpr (columns) add_column(sum, through, level);
            divide<columns>(sum, pass_, node, level, inverse_volume);
            q1 = q1 - dt * sum;
            store(to + level, q1);
        });
    }

    const Pass<Real>& pass_;
    const Graph& graph_;
    Index levels_, mask_, first_, last_;
    Index begin_ = 0, done_ = 0, edge_ = 0;  // the first node of the sweep; nodes and edges of the first pass
    Real *divergence_, *once_, *sum_, *unused_, *out_;
    ColumnRoom<Real> room_;
};

template <int B, class Real>
TRADEWIND_INLINE void run_sweep_by(const Pass<Real>& pass, Index first, Index last, Real* kept, Real* out) {
    if (pass.down == nullptr)
        Sweep<Real, B, false>(pass, first, last, kept, out).run();
    else
        Sweep<Real, B, true>(pass, first, last, kept, out).run();
}

TRADEWIND_BY_WIDTH(void, run_sweep, (const Pass<float>& pass, Index first, Index last, float* kept, float* out),
                   (pass, first, last, kept, out))
TRADEWIND_BY_WIDTH(void, run_sweep, (const Pass<double>& pass, Index first, Index last, double* kept, double* out),
                   (pass, first, last, kept, out))

}  // namespace

template <class Real>
void swept(const Pass<Real>& pass, Index first, Index last, Real* kept, Real* out, Team& team) {
    team.run([&](int thread) {
        const Index count = last - first, threads = team.threads();
        run_sweep(pass, first + count * thread / threads, first + count * (thread + 1) / threads,
                  kept + thread * kept_rows(*pass.graph) * pass.levels, out);
    });
}

template void swept(const Pass<float>&, Index, Index, float*, float*, Team&);
template void swept(const Pass<double>&, Index, Index, double*, double*, Team&);

}  // namespace tradewind::kernel
