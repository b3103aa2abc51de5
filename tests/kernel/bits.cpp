// Checksums of what loops compute: the same bits on every kind of processor, with vectors of every width, from every
// compiler. Whoever changes the operations of a loop or their order writes its new checksum here.
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.hpp"
#include "kernel/helmholtz/helmholtz.hpp"
#include "kernel/mpdata/graph.hpp"
#include "kernel/mpdata/mpdata.hpp"
#include "kernel/nekbone/conjugate_gradients.hpp"
#include "kernel/semi_lagrangian/semi_lagrangian.hpp"
#include "testing/testing.hpp"

namespace testing::kernel_bits {

using namespace tradewind;
using namespace tradewind::kernel;

template <class Real = double>
std::vector<Real> drawn(std::uint64_t seed, Index count, double low = 0, double high = 1) {
    std::vector<Real> values;
    for (Index i = 0; i < count; ++i) {
        const double number = static_cast<double>(mix(seed, static_cast<std::uint64_t>(i)) >> 11) * 0x1p-53;
        values.push_back(static_cast<Real>(low + (high - low) * number));
    }
    return values;
}

struct Checksum {
    std::uint64_t found = 0;

    template <class Real>
    void take(const std::vector<Real>& values) {
        using Whole = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
        for (const Real value : values) {
            CHECK(std::isfinite(value));
            found = mix(found, std::bit_cast<Whole>(value));
        }
    }
};

// Operators with and without factors, and loops of conjugate gradients, on two bent elements; `points` per direction.
void take_elements(int points, Checksum& sum) {
    const auto n = static_cast<std::size_t>(points);
    auto nodes = drawn(1, points, -0.5 / points, 0.5 / points);
    for (std::size_t i = 0; i < n; ++i) nodes[i] += 2.0 * static_cast<double>(i) / (points - 1) - 1;
    std::vector<double> vertices;
    for (const double bend : drawn(2, 2 * Elements::corners * Elements::directions, -0.1, 0.1)) {
        const auto place = vertices.size() % 24;
        vertices.push_back((place / 3 >> place % 3 & 1 ? 1.0 : 0.0) + bend);
    }
    const std::vector<std::uint8_t> open{0b000111, 0b111010};
    const Elements elements(nodes, drawn(3, points, 0.5, 1), drawn(4, points * points, -1, 1), vertices, open);
    const Index volume = 2 * elements.volume();
    std::vector<double> factors(static_cast<std::size_t>(6 * volume)), mass(static_cast<std::size_t>(volume));
    Team team(1);
    geometric_factors(elements, factors.data(), team);
    element_mass(elements, mass.data(), team);
    const std::vector<std::int32_t> which{0, 1};
    const auto u = drawn(5, volume, -1, 1);
    for (const double* const given : {static_cast<const double*>(nullptr), static_cast<const double*>(factors.data())})
        for (const double* const diagonal :
             {static_cast<const double*>(nullptr), static_cast<const double*>(mass.data())}) {
            const Operator by{&elements, 0.3, given, diagonal, false};
            auto out = drawn(6, volume), p = drawn(7, volume), x = drawn(8, volume), r = drawn(9, volume);
            auto w = drawn(10, volume), s = drawn(11, volume), z = drawn(12, volume);
            std::vector<double> sums(2), pair(4);
            apply_to_direction(by, which, 0.5, u.data(), p.data(), out.data(), sums.data(), team);
            sum.take(out), sum.take(p), sum.take(sums);
            update(by, 0.25, p.data(), out.data(), x.data(), r.data(), sums.data(), team);
            sum.take(x), sum.take(r), sum.take(sums);
            const Pipelined vectors{x.data(), r.data(), w.data(), p.data(), s.data(), z.data()};
            update_pipelined(by, 0.25, 0.5, out.data(), vectors, pair.data(), team);
            for (const auto* each : {&x, &r, &w, &p, &s, &z, &pair}) sum.take(*each);
        }
}

TEST("loops over spectral elements have the same bits everywhere") {
    Checksum sum;
    for (const int points : {4, 5, 8, 9, 10, 12}) take_elements(points, sum);
    CHECK_EQUAL(sum.found, 0xdaa1cdcde0ce108bu);
}

// All loops of a pass, on a ring of nodes with four neighbours each.
template <class Real>
void take_mpdata(Index levels, Checksum& sum) {
    constexpr Index nodes = 40;
    std::vector<std::int32_t> edges, neighbours, faces;
    std::vector<std::vector<std::array<Index, 2>>> own(nodes);
    for (Index first = 0; first < nodes; ++first) {
        for (Index second = first + 1; second < nodes; ++second) {
            const Index apart = second - first;
            if (apart != 1 && apart != 7 && apart != nodes - 1 && apart != nodes - 7) continue;
            const auto number = static_cast<Index>(edges.size());  // twice that of the edge
            own[static_cast<std::size_t>(first)].push_back({number, second});
            own[static_cast<std::size_t>(second)].push_back({number + 1, first});
            edges.insert(edges.end(), {static_cast<std::int32_t>(first), static_cast<std::int32_t>(second)});
        }
    }
    std::vector<std::int64_t> offsets{0};
    for (const auto& each : own) {
        for (const auto& [face, other] : each) {
            faces.push_back(static_cast<std::int32_t>(face));
            neighbours.push_back(static_cast<std::int32_t>(other));
        }
        offsets.push_back(static_cast<std::int64_t>(faces.size()));
    }
    const Graph graph(offsets, neighbours, faces, edges, drawn(1, nodes, 1, 2), nodes);
    const auto flux = drawn<Real>(2, graph.edges() * levels, -0.5, 0.5), q = drawn<Real>(3, nodes * levels);
    std::vector<Real> divergence(q.size()), limited(2 * q.size()), out(q.size()), next(flux.size());
    Team team(1);
    const Nodes all{0, nodes};
    Pass<Real> pass{&graph, levels, Real(0.1), true, flux.data(), q.data(), nullptr, nullptr};
    upwind_divergence(pass, all, divergence.data(), team);
    sum.take(divergence);
    std::vector<Real> kept(static_cast<std::size_t>(kept_rows(graph) * levels));
    swept(pass, 0, nodes, kept.data(), out.data(), team);
    sum.take(out);
    pass.divergence = divergence.data();
    for (const bool gauge : {true, false}) {
        pass.gauge = gauge, pass.limits = nullptr;
        corrected(pass, all, out.data(), team);
        sum.take(out);
        limits(pass, all, limited.data(), team);
        sum.take(limited);
        pass.limits = limited.data();
        corrected(pass, all, out.data(), team);
        sum.take(out);
    }
    next_pass<Real>(pass, next.data(), nullptr, out.data(), team);
    sum.take(next), sum.take(out);
}

TEST("loops of MPDATA have the same bits everywhere") {
    Checksum sum;
    for (const Index levels : {19, 60}) take_mpdata<float>(levels, sum), take_mpdata<double>(levels, sum);
    CHECK_EQUAL(sum.found, 0xab905d7b5a6020f3u);
}

TEST("the operator of Helmholtz and its columns have the same bits everywhere") {
    constexpr Index nx = 27, ny = 5, nz = 6, row = (nx + block - 1) / block * block;
    const auto field = drawn(1, (nx + 2) * (ny + 2) * nz, -1, 1), factors = drawn(2, row * ny * nz * stencil_points);
    const auto systems = drawn(3, row * ny * nz * column_factors);
    std::vector<double> out(nx * ny * nz);
    const View<double> to{out.data(), {nx, ny, nz}, nx, nx * ny};
    Team team(1);
    helmholtz({field.data(), {nx + 2, ny + 2, nz}, nx + 2, (nx + 2) * (ny + 2)},
              {factors.data(), row * stencil_points, row * ny * stencil_points}, to, team);
    Checksum sum;
    sum.take(out);
    const View<const double> right{out.data(), to.points, to.row, to.level};
    solve_columns(right, nullptr, nullptr, {systems.data(), row * column_factors, row * ny * column_factors}, to, team);
    sum.take(out);
    CHECK_EQUAL(sum.found, 0x514ad32b27cad857u);
}

// Trajectories to all quadrants, and tracers at their ends.
template <class Real>
void take_semi_lagrangian(Geometry geometry, bool lifted, Checksum& sum) {
    constexpr Index nx = 71, ny = 5, nz = 5, points = nx * ny * nz, margin = 4;
    Trajectories<Real> what;
    what.geometry = geometry;
    what.lifted = lifted;
    what.half_step = 0.5;
    what.grid = {90, 45};
    what.block = {{10, 20}, {nx, ny}, nz, geometry == Geometry::sphere ? 90 : 0};
    std::vector<double> cosines, sines;  // without a library's functions, whose bits may differ
    for (const double t : drawn(1, nx, -4, 4)) {
        cosines.push_back((1 - t * t) / (1 + t * t)), sines.push_back(2 * t / (1 + t * t));
    }
    const std::vector<double> cos_y{0.28, 0.6, 1.0, 0.8, 0.96}, sin_y{-0.96, -0.8, 0.0, 0.6, 0.28};
    what.cos_x = cosines.data(), what.sin_x = sines.data(), what.cos_y = cos_y.data(), what.sin_y = sin_y.data();
    const double fast = geometry == Geometry::sphere ? 0.05 : 1.0;
    const auto wind = drawn<Real>(2, what.components() * points, -fast, fast);
    std::vector<double> departures(static_cast<std::size_t>((lifted ? 3 : 2) * points));
    what.wind = wind.data();
    what.departures = departures.data();
    what.guess = true;
    Team team(1);
    Index lost = -1;
    const CellRange guessed = trace(what, lost, team);
    sum.take(departures);
    // The winds of the iterations and the tracers are in a window of all cells that departure points come near to.
    for (std::size_t axis = 0; axis < 2; ++axis) {
        what.window.first[axis] = guessed.low[axis] - margin;
        what.window.cells[axis] = guessed.high[axis] - guessed.low[axis] + 2 * margin;
    }
    const Index cells = what.window.cells[0] * what.window.cells[1];
    std::vector<std::int32_t> place(static_cast<std::size_t>(cells));
    std::iota(place.begin(), place.end(), 0);
    what.window.place = place.data();
    const auto around = drawn<Real>(3, what.components() * nz * cells, -fast, fast);
    what.extrapolated = {around.data(), cells};
    what.iterations = 2;
    trace(what, lost, team);
    sum.take(departures);
    for (const bool full : {false, true}) {
        for (const bool limiter : {false, true}) {
            auto tracer = drawn<Real>(4, nz * cells);
            const Interpolation by{what.block,
                                   what.window,
                                   departures.data(),
                                   full,
                                   limiter,
                                   lifted,
                                   1,
                                   margin * what.window.cells[0] + margin,
                                   nx};
            interpolate<Real>(by, {tracer.data(), cells}, team);
            sum.take(tracer);
        }
    }
}

TEST("loops of a semi-Lagrangian step have the same bits everywhere") {
    Checksum sum;
    for (const auto geometry : {Geometry::plane, Geometry::sphere}) {
        for (const bool lifted : {false, true}) {
            take_semi_lagrangian<float>(geometry, lifted, sum);
            take_semi_lagrangian<double>(geometry, lifted, sum);
        }
    }
    CHECK_EQUAL(sum.found, 0x7c0abbe70e4eeab7u);
}

}  // namespace testing::kernel_bits
