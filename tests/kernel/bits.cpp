// Checksums of what loops compute: the same bits on every kind of processor, with vectors of every width, from every
// compiler. Whoever changes the operations of a loop or their order writes its new checksum here.
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.hpp"
#include "kernel/helmholtz/helmholtz.hpp"
#include "kernel/limited_area/cyclic.hpp"
#include "kernel/limited_area/layers.hpp"
#include "kernel/limited_area/stencils.hpp"
#include "kernel/mpdata/graph.hpp"
#include "kernel/mpdata/mpdata.hpp"
#include "kernel/nekbone/conjugate_gradients.hpp"
#include "kernel/nekbone/preconditioners.hpp"
#include "kernel/semi_lagrangian/semi_lagrangian.hpp"
#include "kernel/spectral/area_transform.hpp"
#include "kernel/spectral/products.hpp"
#include "kernel/spectral/row_transform.hpp"
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

// Two bent elements; `points` per direction.
Elements two_elements(int points) {
    const auto n = static_cast<std::size_t>(points);
    auto nodes = drawn(1, points, -0.5 / points, 0.5 / points);
    for (std::size_t i = 0; i < n; ++i) nodes[i] += 2.0 * static_cast<double>(i) / (points - 1) - 1;
    std::vector<double> vertices;
    for (const double bend : drawn(2, 2 * Elements::corners * Elements::directions, -0.1, 0.1)) {
        const auto place = vertices.size() % 24;
        vertices.push_back((place / 3 >> place % 3 & 1 ? 1.0 : 0.0) + bend);
    }
    const std::vector<std::uint8_t> open{0b000111, 0b111010};
    return {nodes, drawn(3, points, 0.5, 1), drawn(4, points * points, -1, 1), vertices, open};
}

// Operators with and without factors, and loops of conjugate gradients.
template <class Real>
void take_elements(int points, Checksum& sum) {
    const Elements elements = two_elements(points);
    const Index volume = 2 * elements.volume();
    std::vector<Real> factors(static_cast<std::size_t>(6 * volume)), mass(static_cast<std::size_t>(volume));
    Team team(1);
    geometric_factors(elements, factors.data(), team);
    element_mass(elements, mass.data(), team);
    const std::vector<std::int32_t> which{0, 1};
    const auto u = drawn<Real>(5, volume, -1, 1);
    for (const Real* const given : {static_cast<const Real*>(nullptr), static_cast<const Real*>(factors.data())})
        for (const Real* const diagonal : {static_cast<const Real*>(nullptr), static_cast<const Real*>(mass.data())}) {
            const Operator<Real> by{&elements, 0.3, given, diagonal, false};
            auto out = drawn<Real>(6, volume), p = drawn<Real>(7, volume), x = drawn<Real>(8, volume),
                 r = drawn<Real>(9, volume);
            auto w = drawn<Real>(10, volume), s = drawn<Real>(11, volume), z = drawn<Real>(12, volume);
            std::vector<double> sums(2), pair(4);
            apply_to_direction(by, which, 0.5, u.data(), p.data(), out.data(), sums.data(), team);
            sum.take(out), sum.take(p), sum.take(sums);
            update(by, 0.25, p.data(), out.data(), x.data(), r.data(), sums.data(), team);
            sum.take(x), sum.take(r), sum.take(sums);
            const Pipelined<Real> vectors{x.data(), r.data(), w.data(), p.data(), s.data(), z.data()};
            update_pipelined(by, 0.25, 0.5, out.data(), vectors, pair.data(), team);
            for (const auto* each : {&x, &r, &w, &p, &s, &z}) sum.take(*each);
            sum.take(pair);
        }
}

// Preconditioners, with two kinds of one-dimensional problems.
template <class Real>
void take_preconditioners(int points, Checksum& sum) {
    const Elements elements = two_elements(points);
    const Index m = points + 2, volume = 2 * elements.volume();
    const auto vectors = drawn<Real>(1, 2 * m * m, -1, 1), transposed = drawn<Real>(2, 2 * m * m, -1, 1);
    const auto values = drawn<Real>(3, 2 * m, 1, 2), weights = drawn<Real>(4, volume),
               r = drawn<Real>(5, volume, -1, 1);
    const std::vector<std::int32_t> kinds{0, 1, 0, 1, 1, 0};
    const Subdomains<Real> by{&elements,     kinds.data(), vectors.data(), transposed.data(),
                              values.data(), 0.3,          weights.data()};
    std::vector<Real> faces(static_cast<std::size_t>(12 * points * points)), z(static_cast<std::size_t>(volume));
    std::vector<double> sums(2);
    Team team(1);
    take_layers(by, r.data(), faces.data(), team);
    sum.take(faces);
    solve_subdomains(by, r.data(), faces.data(), z.data(), team);
    sum.take(faces), sum.take(z);
    add_layers(elements, faces.data(), z.data(), team);
    scale(elements, weights.data(), z.data(), r.data(), z.data(), sums.data(), team);
    sum.take(z), sum.take(sums);
}

TEST("preconditioners of spectral elements have the same bits everywhere") {
    Checksum sum, single;
    for (const int points : {4, 6, 7, 8, 10})
        take_preconditioners<double>(points, sum), take_preconditioners<float>(points, single);
    CHECK_EQUAL(sum.found, 0x54d0db76082a7370u);
    CHECK_EQUAL(single.found, 0xf95a9e600b8fa5a4u);
}

TEST("loops over spectral elements have the same bits everywhere") {
    Checksum sum, single;
    for (const int points : {4, 5, 8, 9, 10, 12})
        take_elements<double>(points, sum), take_elements<float>(points, single);
    CHECK_EQUAL(sum.found, 0xdaa1cdcde0ce108bu);
    CHECK_EQUAL(single.found, 0xc0a58e6d5e258505u);
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

template <class Real>
std::uint64_t helmholtz_bits() {
    constexpr Index nx = 27, ny = 5, nz = 6, row = (nx + block - 1) / block * block;
    const auto field = drawn<Real>(1, (nx + 2) * (ny + 2) * nz, -1, 1);
    const auto factors = drawn<Real>(2, row * ny * nz * stencil_points);
    const auto systems = drawn<Real>(3, row * ny * nz * column_factors);
    std::vector<Real> out(nx * ny * nz);
    const View<Real> to{out.data(), {nx, ny, nz}, nx, nx * ny};
    Team team(1);
    helmholtz<Real>({field.data(), {nx + 2, ny + 2, nz}, nx + 2, (nx + 2) * (ny + 2)},
                    {factors.data(), row * stencil_points, row * ny * stencil_points}, to, team);
    Checksum sum;
    sum.take(out);
    const View<const Real> right{out.data(), to.points, to.row, to.level};
    solve_columns<Real>(right, nullptr, nullptr, {systems.data(), row * column_factors, row * ny * column_factors}, to,
                        team);
    sum.take(out);
    return sum.found;
}

TEST("the operator of Helmholtz and its columns have the same bits everywhere") {
    CHECK_EQUAL(helmholtz_bits<double>(), 0x514ad32b27cad857u);
    CHECK_EQUAL(helmholtz_bits<float>(), 0x68b46bc3c7fe9067u);
}

template <class Real>
void take_semi_implicit(Checksum& sum) {
    const std::array<Index, 3> all{39, 7, 3}, inside{37, 5, 3};
    const Index points = 39 * 7 * 3;
    const auto u = drawn<Real>(1, points, -1, 1), v = drawn<Real>(2, points, -1, 1),
               phi = drawn<Real>(3, points, -1, 1);
    const auto after = drawn<Real>(4, points, -1, 1);
    std::vector<Real> right(37 * 5 * 3), u_after(u.size()), v_after(u.size());
    const std::vector<double> speeds{1.0, 0.3, 0.1};
    Team team(1);
    const Waves<Real> waves{{u.data(), all}, {v.data(), all}, {phi.data(), all}};
    wave_right_side<Real>(waves, {speeds.data(), {3, 1, 1}}, 1.7, {right.data(), inside}, team);
    wave_winds<Real>(waves, {after.data(), all}, 1.7, {u_after.data(), all}, {v_after.data(), all}, team);
    sum.take(right), sum.take(u_after), sum.take(v_after);
}

// Complex numbers lie as pairs of real ones.
template <class Real>
void take_wavenumbers(Checksum& sum) {
    constexpr Index lines = 35, points = 11, levels = 3, coefficients = 13, layers = 19;
    using Complex = std::complex<Real>;
    Team team(1);
    auto field = drawn<Real>(1, 2 * lines * points * levels, -1, 1);
    const auto ratio = drawn(2, lines * levels, -0.9, 0.9), gain = drawn(3, lines * levels, 0.1, 1);
    const std::array<Index, 3> shape{lines, points, levels}, plane{lines, levels, 1};
    auto* const values = reinterpret_cast<Complex*>(field.data());
    solve_cyclic<Real>({values, shape}, {values, shape}, {ratio.data(), plane}, {gain.data(), plane}, team);
    sum.take(field);
    const auto columns = drawn<Real>(4, 2 * 3 * layers * coefficients, -1, 1);
    const auto modes = drawn(5, layers * layers, -0.3, 0.3), speeds = drawn(6, layers);
    const auto slopes = drawn(7, 4 * coefficients, -1, 1);
    std::vector<Real> stepped(columns.size());
    const std::array<Index, 3> all{3 * layers, 1, coefficients};
    step_layers<Real>({{modes.data(), {layers, layers, 1}},
                       {speeds.data(), {layers, 1, 1}},
                       {reinterpret_cast<const std::complex<double>*>(slopes.data()), {2, coefficients, 1}},
                       1.7},
                      {{reinterpret_cast<const Complex*>(columns.data()), all}},
                      {{reinterpret_cast<Complex*>(stepped.data()), all}}, team);
    sum.take(stepped);
}

TEST("loops of a semi-implicit step have the same bits everywhere") {
    Checksum sum;
    take_semi_implicit<float>(sum), take_semi_implicit<double>(sum);
    take_wavenumbers<float>(sum), take_wavenumbers<double>(sum);
    CHECK_EQUAL(sum.found, 0xa55ffe0106ceb419u);
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

// A product whose width no vector divides, and rows of small radices and a prime, there and back.
template <class Real>
void take_transforms(Checksum& sum) {
    const Index rows = 9, columns = 200, width = 23;
    const auto a = drawn<Real>(1, rows * columns), b = drawn<Real>(2, columns * width);
    std::vector<Real> c(static_cast<std::size_t>(rows * width));
    multiply(Product<Real>{rows, columns, width, a.data(), 1, rows, b.data(), width, c.data(), width});
    sum.take(c);
    for (const Index points : {Index{20}, Index{14}, Index{15}}) {
        const RowTransform<Real> transform(points);
        std::vector<Real> scratch(static_cast<std::size_t>(transform.scratch()));
        std::vector<std::vector<Real>> fields;
        std::vector<Real*> lines;
        for (std::uint64_t field = 0; field < 19; ++field) fields.push_back(drawn<Real>(field, points));
        for (auto& field : fields) lines.push_back(field.data());
        const std::vector<Index> places{0, 1, 2, 3, 4, 5};
        std::vector<std::complex<Real>> values(places.size() * fields.size());
        const RowCoefficients<Real> by{values.data(), places.data(), 19, 6, Real{1}, static_cast<Real>(0.75)};
        transform.to_fourier(std::vector<const Real*>(lines.begin(), lines.end()).data(), by, scratch.data());
        transform.to_points(by, lines.data(), scratch.data());
        for (const auto value : values) sum.take(std::vector<Real>{value.real(), value.imag()});
        for (const auto& field : fields) sum.take(field);
    }
}

template <class Real>
void take_area(Checksum& sum) {
    constexpr Index nx = 30, ny = 21, fields = 3, kept = 11;
    using Complex = std::complex<Real>;
    const AreaTransform<Real> transform(nx, ny);
    const std::vector<Index> limits{10, 10, 9, 9, 8, 7, 6, 4, 3, 1, 0};
    auto lines = drawn<Real>(1, nx * ny * fields, -1, 1);
    const Index coefficients = 2 * std::accumulate(limits.begin(), limits.end(), Index{0}) + kept;
    std::vector<Real> waves(2 * kept * ny * fields), ellipse(static_cast<std::size_t>(2 * coefficients * fields));
    const Array<Real> points{lines.data(), {nx, ny, fields}};
    const Array<Complex> along{reinterpret_cast<Complex*>(waves.data()), {kept, ny, fields}};
    const Array<Complex> columns{reinterpret_cast<Complex*>(ellipse.data()), {fields, 1, coefficients}};
    Team team(1);
    transform.to_waves({points.values, points.points}, along, Real{0.5}, team);
    sum.take(waves);
    transform.to_ellipse({along.values, along.points}, limits, columns, Real{0.5}, team);
    sum.take(ellipse);
    transform.from_ellipse({columns.values, columns.points}, limits, along, team);
    sum.take(waves);
    transform.to_lines({along.values, along.points}, points, Real{0.5}, team);
    sum.take(lines);
}

TEST("stages of the transform of a limited area have the same bits everywhere") {
    Checksum sum;
    take_area<float>(sum), take_area<double>(sum);
    CHECK_EQUAL(sum.found, 0x83c1e14407e4ec45u);
}

TEST("loops of spherical-harmonics transforms have the same bits everywhere") {
    Checksum sum;
    take_transforms<float>(sum);
    take_transforms<double>(sum);
    CHECK_EQUAL(sum.found, 0x7d319a0a5c54f9bfu);
}

}  // namespace testing::kernel_bits
