// The loops of MPDATA against plain loops over edges, bit for bit, on a whole mesh and on parts of it.
#include "kernel/mpdata/mpdata.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/error.hpp"
#include "base/random.hpp"
#include "kernel/mpdata/graph.hpp"
#include "testing/testing.hpp"

namespace testing::mpdata {

using namespace tradewind;
using kernel::Graph, kernel::Nodes, kernel::Pass, kernel::Team;

// Vectors of 16 and of 8 single-precision values, of 8 and of 4 doubles, and what is left.
constexpr Index levels = 19;
constexpr Index columns = 17, rows = 12, nodes = columns * rows;

double number(std::uint64_t seed, std::uint64_t i) {
    return static_cast<double>(mix(seed, i) >> 11) * 0x1p-53;
}

// Triangles on a torus: each node has six neighbours. Edges go from the lower to the higher node, in ascending order.
std::vector<std::array<Index, 2>> mesh_edges() {
    std::vector<std::array<Index, 2>> edges;
    for (Index i = 0; i < nodes; ++i) {
        const Index x = i % columns, y = i / columns;
        for (const auto& [dx, dy] : {std::array<Index, 2>{1, 0}, {0, 1}, {1, 1}}) {
            const Index other = (x + dx) % columns + (y + dy) % rows * columns;
            edges.push_back({std::min(i, other), std::max(i, other)});
        }
    }
    std::sort(edges.begin(), edges.end());
    return edges;
}

// A field on the whole mesh, and MPDATA on it in loops over edges: sums over the faces of a node in the order of edges.
template <class Real>
struct Reference {
    using Values = std::vector<Real>;

    std::vector<std::array<Index, 2>> edges = mesh_edges();
    Values flux = Values(edges.size() * levels), q = Values(nodes * levels), inverse = Values(nodes);
    Real dt;

    Reference() {
        for (std::size_t i = 0; i < flux.size(); ++i) flux[i] = static_cast<Real>(number(1, i) - 0.5);
        for (std::size_t i = 0; i < q.size(); ++i) q[i] = static_cast<Real>(number(2, i));
        for (std::size_t i = 0; i < inverse.size(); ++i) inverse[i] = static_cast<Real>(1 + number(3, i));
        dt =
            static_cast<Real>(0.1);  // six faces of less than 0.5 over at least half of a unit: less than all flows out
    }

    template <class Body>
    Values over_edges(const Body& body) const {
        Values values(flux.size());
        for (std::size_t e = 0; e < edges.size(); ++e) {
            for (Index k = 0; k < levels; ++k) {
                values[e * levels + static_cast<std::size_t>(k)] =
                    body(e * levels + static_cast<std::size_t>(k), static_cast<std::size_t>(edges[e][0] * levels + k),
                         static_cast<std::size_t>(edges[e][1] * levels + k));
            }
        }
        return values;
    }
    // Sums over the edges of each node of what is at their first and at their second node, over its volume.
    Values added(const Values& first, const Values& second) const {
        Values total(nodes * levels);
        for (std::size_t e = 0; e < edges.size(); ++e) {
            for (Index k = 0; k < levels; ++k) {
                total[static_cast<std::size_t>(edges[e][0] * levels + k)] +=
                    first[e * levels + static_cast<std::size_t>(k)];
                total[static_cast<std::size_t>(edges[e][1] * levels + k)] +=
                    second[e * levels + static_cast<std::size_t>(k)];
            }
        }
        for (std::size_t i = 0; i < total.size(); ++i) total[i] *= inverse[i / levels];
        return total;
    }
    Values upwind(const Values& by, const Values& of) const {
        return over_edges([&](auto e, auto a, auto b) {
            return std::max(by[e], Real(0)) * of[a] + std::min(by[e], Real(0)) * of[b];
        });
    }
    Values divergence(const Values& through) const {
        return added(through, over_edges([&](auto e, auto, auto) { return -through[e]; }));
    }
    Values less(const Values& of, const Values& change) const {
        Values result(of.size());
        for (std::size_t i = 0; i < of.size(); ++i) result[i] = of[i] - dt * change[i];
        return result;
    }
    Values limited(const Values& by, const Values& before, const Values& after, bool gauge) const {
        Values low(after.size()), high(after.size());
        for (std::size_t i = 0; i < after.size(); ++i) {
            low[i] = std::min(before[i], after[i]), high[i] = std::max(before[i], after[i]);
        }
        Values lowest = low, highest = high;
        over_edges([&](auto, auto a, auto b) {
            lowest[a] = std::min(lowest[a], low[b]), lowest[b] = std::min(lowest[b], low[a]);
            highest[a] = std::max(highest[a], high[b]), highest[b] = std::max(highest[b], high[a]);
            return Real(0);
        });
        const auto through = gauge ? by : upwind(by, after);
        const auto out = over_edges([&](auto e, auto, auto) { return std::max(through[e], Real(0)); });
        const auto into = over_edges([&](auto e, auto, auto) { return std::max(-through[e], Real(0)); });
        auto share_in = added(into, out), split_work = added(out, into);
        for (std::size_t i = 0; i < after.size(); ++i) {
            const Real tiny = std::numeric_limits<Real>::min();
            share_in[i] = (highest[i] - after[i]) / (dt * share_in[i] + tiny);
            split_work[i] = (after[i] - lowest[i]) / (dt * split_work[i] + tiny);
        }
        return over_edges([&](auto e, auto a, auto b) {
            const Real share = by[e] > 0 ? std::min(split_work[a], share_in[b]) : std::min(split_work[b], share_in[a]);
            return by[e] * std::min(share, Real(1));
        });
    }
    Values step(int passes, bool gauge, bool limiter) const {
        Values by = flux, now = q, change = divergence(upwind(by, now));
        for (int pass = 2; pass <= passes; ++pass) {
            const auto before = now;
            now = less(now, change);
            by = over_edges([&](auto e, auto a, auto b) {
                const Real half = Real(0.5), half_dt = half * dt;
                const Real through =
                    half * (std::abs(by[e]) * (now[b] - now[a]) - half_dt * by[e] * (change[a] + change[b]));
                return gauge ? through : through / (half * (now[a] + now[b]) + Real(1e-30));
            });
            if (limiter) by = limited(by, before, now, gauge);
            change = divergence(gauge ? by : upwind(by, now));
        }
        return less(now, change);
    }
};

// The nodes of every third part of the mesh, or all, and those of the halo behind them.
struct Part {
    std::vector<Index> ids;  // own, then halo
    Index own = 0;
    std::vector<std::size_t> edge_ids;
    std::unique_ptr<Graph> graph;

    template <class Real>
    Part(const Reference<Real>& whole, int part, int parts) {
        const auto inside = [&](Index node) { return node * parts / nodes == part; };
        for (Index node = 0; node < nodes; ++node) {
            if (inside(node)) ids.push_back(node);
        }
        own = static_cast<Index>(ids.size());
        std::vector<Index> halo;
        for (std::size_t e = 0; e < whole.edges.size(); ++e) {
            const auto [a, b] = whole.edges[e];
            if (!inside(a) && !inside(b)) continue;
            edge_ids.push_back(e);
            if (!inside(a)) halo.push_back(a);
            if (!inside(b)) halo.push_back(b);
        }
        std::sort(halo.begin(), halo.end());
        halo.erase(std::unique(halo.begin(), halo.end()), halo.end());
        ids.insert(ids.end(), halo.begin(), halo.end());
        const auto local = [&](Index node) {
            const auto begin = ids.begin() + (inside(node) ? 0 : own),
                       end = inside(node) ? ids.begin() + own : ids.end();
            return static_cast<std::int32_t>(std::lower_bound(begin, end, node) - ids.begin());
        };
        std::vector<std::int64_t> offsets{0};
        std::vector<std::int32_t> neighbours, faces, ends;
        std::vector<double> inverse;
        for (Index i = 0; i < own; ++i) {
            for (std::size_t e = 0; e < edge_ids.size(); ++e) {
                const auto [a, b] = whole.edges[edge_ids[e]];
                const auto node = ids[static_cast<std::size_t>(i)];
                if (a != node && b != node) continue;
                neighbours.push_back(local(a == node ? b : a));
                faces.push_back(static_cast<std::int32_t>(2 * e + (b == node)));
            }
            offsets.push_back(static_cast<std::int64_t>(neighbours.size()));
            inverse.push_back(
                static_cast<double>(whole.inverse[static_cast<std::size_t>(ids[static_cast<std::size_t>(i)])]));
        }
        for (const auto e : edge_ids)
            ends.push_back(local(whole.edges[e][0])), ends.push_back(local(whole.edges[e][1]));
        graph = std::make_unique<Graph>(offsets, neighbours, faces, ends, inverse, static_cast<Index>(ids.size()));
    }
    // The rows of a field that these nodes, or edges, have.
    template <class Real, class Id>
    static std::vector<Real> rows_of(const std::vector<Real>& whole, const std::vector<Id>& these, Index each = 1) {
        std::vector<Real> part;
        for (const auto id : these) {
            const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(id) * each * levels;
            part.insert(part.end(), begin, begin + each * levels);
        }
        return part;
    }
    template <class Real>
    std::vector<Real> empty(Index each = 1) const {
        return std::vector<Real>(ids.size() * static_cast<std::size_t>(each * levels),
                                 std::numeric_limits<Real>::quiet_NaN());
    }
};

// Compares the rows of nodes first..last - 1 of a part, and that nothing else was written.
template <class Real>
void check_rows(const std::vector<Real>& found, const std::vector<Real>& wanted, Index first, Index last) {
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto node = static_cast<Index>(i) / levels;
        if (node >= first && node < last)
            CHECK_EQUAL(found[i], wanted[i]);
        else
            CHECK(std::isnan(found[i]));
    }
}

template <class Real>
void check_parts() {
    const Reference<Real> whole;
    const Part all(whole, 0, 1);
    Team team(3);
    const auto change = whole.divergence(whole.upwind(whole.flux, whole.q));
    for (int number = 0; number < 4; ++number) {
        const Part part = number == 3 ? Part(whole, 0, 1) : Part(whole, number, 3);
        const auto flux = part.rows_of(whole.flux, part.edge_ids), q = part.rows_of(whole.q, part.ids);
        const auto divergence = part.rows_of(change, part.ids);
        Pass<Real> pass{part.graph.get(), levels, whole.dt, true, flux.data(), q.data(), nullptr, nullptr};
        const Nodes own{0, part.own};
        auto out = part.template empty<Real>();
        kernel::upwind_divergence(pass, own, out.data(), team);
        check_rows(out, divergence, 0, part.own);
        for (const bool gauge : {true, false}) {
            for (const bool limiter : {false, true}) {
                pass.gauge = gauge;
                pass.divergence = divergence.data();
                std::vector<Real> limits;
                if (limiter) {  // of the halo, too, as an exchange would bring them
                    auto of_all = all.template empty<Real>(2);
                    const Pass<Real> total{all.graph.get(),   levels,         whole.dt,      gauge,
                                           whole.flux.data(), whole.q.data(), change.data(), nullptr};
                    kernel::limits(total, Nodes{0, nodes}, of_all.data(), team);
                    limits = part.rows_of(of_all, part.ids, 2);
                }
                pass.limits = limiter ? limits.data() : nullptr;
                auto result = part.template empty<Real>();
                kernel::corrected(pass, own, result.data(), team);
                check_rows(result, part.rows_of(whole.step(2, gauge, limiter), part.ids), 0, part.own);
            }
        }
    }
    // A sweep, and loops as one writes them first.
    const auto wanted = whole.step(2, true, false);
    for (const int threads : {1, 3}) {
        Team some(threads);
        const Pass<Real> pass{all.graph.get(),   levels,         whole.dt, true,
                              whole.flux.data(), whole.q.data(), nullptr,  nullptr};
        std::vector<Real> kept(static_cast<std::size_t>(kernel::kept_rows(*all.graph) * threads * levels));
        auto out = all.template empty<Real>();
        kernel::swept(pass, 0, nodes, kept.data(), out.data(), some);
        check_rows(out, wanted, 0, nodes);
        if (threads == 1) {
            auto part = all.template empty<Real>();
            kernel::swept(pass, 40, 150, kept.data(), part.data(), some);
            check_rows(part, wanted, 40, 150);
        }
        std::vector<Real> through(whole.flux.size());
        auto divergence = all.template empty<Real>();
        auto plain = all.template empty<Real>();
        kernel::plain_divergence(pass, through.data(), divergence.data(), some);
        auto second = pass;
        second.divergence = divergence.data();
        kernel::plain_corrected(second, through.data(), plain.data(), some);
        check_rows(plain, wanted, 0, nodes);
    }
    // Further passes.
    for (const int passes : {3, 4}) {
        for (const bool limiter : {false, true}) {
            auto flux = whole.flux, q = whole.q;
            auto out = all.template empty<Real>();
            for (int number = 2; number <= passes; ++number) {
                auto divergence = all.template empty<Real>();
                auto limits = all.template empty<Real>(2);
                Pass<Real> pass{all.graph.get(), levels, whole.dt, false, flux.data(), q.data(), nullptr, nullptr};
                kernel::upwind_divergence(pass, Nodes{0, nodes}, divergence.data(), team);
                pass.divergence = divergence.data();
                if (limiter) {
                    kernel::limits(pass, Nodes{0, nodes}, limits.data(), team);
                    pass.limits = limits.data();
                }
                if (number == passes) {
                    kernel::corrected(pass, Nodes{0, nodes}, out.data(), team);
                } else {
                    auto next_flux = flux, next_q = q;
                    kernel::next_pass<Real>(pass, next_flux.data(), nullptr, next_q.data(), team);
                    flux = next_flux, q = next_q;
                }
            }
            check_rows(out, whole.step(passes, false, limiter), 0, nodes);
        }
    }
}

TEST("passes, limiters, sweeps and plain loops have the same bits on a whole mesh and on parts, in double precision") {
    check_parts<double>();
}
TEST("passes, limiters, sweeps and plain loops have the same bits on a whole mesh and on parts, in single precision") {
    check_parts<float>();
}

TEST("a sweep takes the nodes without a neighbour in the halo, and calls are for some nodes by list and by mask") {
    const Reference<double> whole;
    const Part part(whole, 1, 3);
    const auto flux = part.rows_of(whole.flux, part.edge_ids), q = part.rows_of(whole.q, part.ids);
    const Pass<double> pass{part.graph.get(), levels, whole.dt, true, flux.data(), q.data(), nullptr, nullptr};
    const auto wanted = part.rows_of(whole.step(2, true, false), part.ids);
    for (const int threads : {1, 3}) {
        Team team(threads);
        std::vector<double> kept(static_cast<std::size_t>(kernel::kept_rows(*part.graph) * threads * levels));
        auto out = part.empty<double>();
        kernel::swept(pass, 0, part.own, kept.data(), out.data(), team);
        int swept = 0;
        for (Index node = 0; node < part.own; ++node) {
            const auto at = static_cast<std::size_t>(node * levels);
            if (part.graph->beside_halo(node))
                CHECK(std::isnan(out[at]));
            else
                CHECK_EQUAL(out[at], wanted[at]), ++swept;
        }
        CHECK(swept > 10 && swept < part.own);
    }
    const auto divergence = part.rows_of(whole.divergence(whole.upwind(whole.flux, whole.q)), part.ids);
    const std::vector<std::int32_t> some = {3, 37, 12, 50};
    std::vector<std::uint8_t> mask(static_cast<std::size_t>(part.own));
    for (const auto node : some) mask[static_cast<std::size_t>(node)] = 1;
    Team team(2);
    const auto check = [&](const Nodes& chosen, const std::function<bool(Index)>& touched) {
        auto out = part.empty<double>();
        kernel::upwind_divergence(pass, chosen, out.data(), team);
        for (std::size_t i = 0; i < out.size(); ++i) {
            if (touched(static_cast<Index>(i) / levels))
                CHECK_EQUAL(out[i], divergence[i]);
            else
                CHECK(std::isnan(out[i]));
        }
    };
    check({1, 3, some.data(), nullptr, 0}, [](Index node) { return node == 37 || node == 12; });
    check({0, part.own, nullptr, mask.data(), 1},
          [&](Index node) { return node < part.own && mask[static_cast<std::size_t>(node)] == 1; });
    check({20, part.own, nullptr, mask.data(), 0},
          [&](Index node) { return node >= 20 && node < part.own && mask[static_cast<std::size_t>(node)] == 0; });
    const std::vector<std::int32_t> bad{99};
    CHECK_THROWS(InputError, ({"faces: entry 0 is 99"}),
                 Graph(std::vector<std::int64_t>{0, 1}, std::vector<std::int32_t>{1}, bad,
                       std::vector<std::int32_t>{0, 1}, std::vector<double>{1}, 2));
    CHECK_THROWS(InputError, ({"neighbours: entry 0 is 99"}),
                 Graph(std::vector<std::int64_t>{0, 1}, bad, std::vector<std::int32_t>{0},
                       std::vector<std::int32_t>{0, 1}, std::vector<double>{1}, 2));
}

}  // namespace testing::mpdata
