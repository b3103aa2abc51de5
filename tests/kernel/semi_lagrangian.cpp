// The loops of a semi-Lagrangian step: what their stencils reproduce, and which columns and cells they need.
#include "kernel/semi_lagrangian/semi_lagrangian.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/random.hpp"
#include "testing/testing.hpp"

namespace testing::semi_lagrangian {

using namespace tradewind;
using namespace tradewind::kernel;
using Values = std::vector<double>;

constexpr Index nx = 103, ny = 9, nz = 6;  // chunks of 16, 64, 7 and 16 columns
constexpr Index margin = 4, first_x = 30, first_y = 20;
constexpr Index columns = nx + 2 * margin, rows = ny + 2 * margin, cells = columns * rows, points = nx * ny * nz;
const Block block{{first_x, first_y}, {nx, ny}, nz, 0};

double number(std::uint64_t seed, Index i, double low, double high) {
    return low + (high - low) * static_cast<double>(mix(seed, static_cast<std::uint64_t>(i)) >> 11) * 0x1p-53;
}

// Departure points [x, y(, z)][z][y][x] up to as far away as the margin lets them be; on whole rows or levels if asked.
Values departures(bool lifted, bool on_rows = false, bool on_levels = false) {
    Values at(static_cast<std::size_t>((lifted ? 3 : 2) * points));
    for (Index i = 0; i < points; ++i) {
        const double x = static_cast<double>(i % nx + first_x), y = static_cast<double>(i / nx % ny + first_y);
        at[static_cast<std::size_t>(i)] = x + number(1, i, -2.9, 1.9);
        const double across = y + number(2, i, -2.9, 1.9);
        at[static_cast<std::size_t>(points + i)] = on_rows ? std::round(across) : across;
        if (!lifted) continue;
        const double ends[] = {0, nz - 1, 0.3, nz - 1.3};
        const double height = i < 4 ? ends[i] : number(3, i, 0, nz - 1);
        at[static_cast<std::size_t>(2 * points + i)] = on_levels ? std::round(height) : height;
    }
    return at;
}

using Power = std::array<int, 3>;
double monomial(const Power& power, double x, double y, double z) {
    return std::pow((x - first_x - nx / 2.0) / 9, power[0]) * std::pow((y - first_y - ny / 2.0) / 3, power[1]) *
           std::pow(z / 2, power[2]);
}

struct Form {
    bool full = false, limiter = false;
    int threads = 1;
};

// A field on the window, by rows, and its values interpolated to the departure points of the block.
Values interpolated(const std::function<double(double, double, double)>& field, const Values& at,
                    const Form& form = {}) {
    Values values(static_cast<std::size_t>(cells * nz));
    for (Index i = 0; i < cells * nz; ++i) {
        values[static_cast<std::size_t>(i)] =
            field(static_cast<double>(i % columns + first_x - margin),
                  static_cast<double>(i / columns % rows + first_y - margin), static_cast<double>(i / cells));
    }
    std::vector<std::int32_t> place(cells);
    std::iota(place.begin(), place.end(), 0);
    Interpolation what;
    what.block = block;
    what.window = {{-margin, -margin}, {columns, rows}, place.data()};
    what.departures = at.data();
    what.full = form.full, what.limiter = form.limiter, what.lifted = at.size() == 3 * points;
    what.tracers = 1;
    what.own_first = margin * columns + margin, what.own_pitch = columns;
    Team team(form.threads);
    CHECK_EQUAL(interpolate<double>(what, {values.data(), cells}, team), -1);
    Values own;
    for (Index i = 0; i < points; ++i) {
        own.push_back(
            values[static_cast<std::size_t>(i / (nx * ny) * cells + what.own_first + i / nx % ny * columns + i % nx)]);
    }
    return own;
}

// Largest error of a monomial at the departure points.
double error(const Power& power, const Values& at, bool full = false) {
    const auto found =
        interpolated([&](double x, double y, double z) { return monomial(power, x, y, z); }, at, {full, false, 1});
    double error = 0, size = 1;
    for (std::size_t i = 0; i < points; ++i) {
        const double z = at.size() == 3 * points ? at[2 * points + i] : static_cast<double>(i / (nx * ny));
        const double wanted = monomial(power, at[i], at[points + i], z);
        error = std::max(error, std::abs(found[i] - wanted)), size = std::max(size, std::abs(wanted));
    }
    return error / size;
}
void reproduces(const Power& largest, const Values& at, double tolerance, bool full) {
    for (int a = 0; a <= largest[0]; ++a) {
        for (int b = 0; b <= largest[1]; ++b) {
            for (int c = 0; c <= largest[2]; ++c) CHECK(error({a, b, c}, at, full) < tolerance);
        }
    }
}

TEST("stencils of 12, 16, 32 and 64 points reproduce the polynomials that they should, and no others") {
    const auto flat = departures(false), on_rows = departures(false, true);
    reproduces({1, 3, 1}, flat, 1e-13, false);
    for (const Power& power : {Power{2, 0, 0}, Power{3, 0, 0}}) {
        CHECK(error(power, flat) > 1e-5);
        CHECK(error(power, on_rows) < 1e-13);
    }
    reproduces({3, 3, 1}, flat, 1e-13, true);
    CHECK(error({4, 0, 0}, flat, true) > 1e-8);
    const auto lifted = departures(true), on_levels = departures(true, false, true);
    reproduces({1, 1, 3}, lifted, 1e-12, false);
    for (const Power& power : {Power{0, 2, 0}, Power{2, 0, 0}, Power{0, 3, 0}}) CHECK(error(power, lifted) > 1e-5);
    reproduces({1, 3, 2}, on_levels, 1e-12, false);
    reproduces({3, 3, 3}, lifted, 1e-11, true);
    CHECK(error({0, 0, 4}, lifted, true) > 1e-7);
}

TEST("the limiter keeps values between the nearest, and threads change no bit") {
    for (const bool lifted : {false, true}) {
        const auto at = departures(lifted);
        const Power power{3, 3, lifted ? 3 : 0};
        const auto field = [&](double x, double y, double z) { return monomial(power, x, y, z); };
        const auto free = interpolated(field, at), limited = interpolated(field, at, {false, true, 1});
        CHECK(free != limited);
        CHECK(interpolated(field, at, {false, false, 3}) == free);
        for (std::size_t i = 0; i < points; ++i) {
            double low = std::numeric_limits<double>::infinity(), high = -low;
            for (int corner = 0; corner < 8; ++corner) {
                const double z = lifted ? at[2 * points + i] : static_cast<double>(i / (nx * ny));
                const double value = monomial(power, corner & 1 ? std::ceil(at[i]) : std::floor(at[i]),
                                              corner & 2 ? std::ceil(at[points + i]) : std::floor(at[points + i]),
                                              corner & 4 ? std::ceil(z) : std::floor(z));
                low = std::min(low, value), high = std::max(high, value);
            }
            CHECK(low - 1e-12 <= limited[i] && limited[i] <= high + 1e-12);
        }
    }
}

// Columns of the window in an order: those of the block row by row from the first on, then all others in any order.
std::vector<std::int32_t> own_rows_first() {
    std::vector<std::int32_t> place(cells, -1);
    std::vector<std::int32_t> others;
    std::int32_t next = 0;
    for (Index i = 0; i < cells; ++i) {
        const Index x = i % columns - margin, y = i / columns - margin;
        if (x >= 0 && x < nx && y >= 0 && y < ny)
            place[static_cast<std::size_t>(i)] = next++;
        else
            others.push_back(static_cast<std::int32_t>(i));
    }
    Draw draw(std::uint64_t{5});
    for (const auto cell : draw.shuffled(others)) place[static_cast<std::size_t>(cell)] = next++;
    return place;
}

TEST("columns that lie by rows or in any other order give the same bits, to winds and to tracers") {
    std::vector<std::int32_t> by_rows(cells);
    std::iota(by_rows.begin(), by_rows.end(), 0);
    const auto own_rows = own_rows_first();
    for (const bool lifted : {false, true}) {
        for (const int kind : {0, 1, 2}) {  // stencils that follow one another, do so in part of a row, or not
            auto at = departures(lifted);
            for (Index i = 0; i < points && kind < 2; ++i) {
                const Index x = i % nx;
                at[static_cast<std::size_t>(i)] =
                    static_cast<double>(x + first_x) - 1.3 + (kind == 1 && x > 20 ? 0.6 : 0.0);
                at[static_cast<std::size_t>(points + i)] = static_cast<double>(i / nx % ny + first_y) + 0.8;
            }
            const Index components = lifted ? 3 : 2;
            Values wind(static_cast<std::size_t>(components * points)), tracer[2], traced[2];
            for (std::size_t i = 0; i < wind.size(); ++i) wind[i] = number(6, static_cast<Index>(i), 0, 1);
            for (const int form : {0, 1}) {
                const auto& place = form == 0 ? by_rows : own_rows;
                const auto laid_out = [&](std::uint64_t seed, Index levels) {
                    Values values(static_cast<std::size_t>(levels * cells));
                    for (Index i = 0; i < levels * cells; ++i) {
                        values[static_cast<std::size_t>(
                            i / cells * cells + place[static_cast<std::size_t>(i % cells)])] = number(seed, i, 0, 1);
                    }
                    return values;
                };
                auto values = laid_out(7, nz);
                const auto around = laid_out(8, components * nz);
                Interpolation what;
                what.block = block;
                what.window = {{-margin, -margin}, {columns, rows}, place.data()};
                what.departures = at.data();
                what.lifted = lifted;
                what.tracers = 1;
                what.own_first = form == 0 ? margin * columns + margin : 0;
                what.own_pitch = form == 0 ? columns : nx;
                Team team(1);
                CHECK_EQUAL(interpolate<double>(what, {values.data(), cells}, team), -1);
                for (Index i = 0; i < points; ++i) {
                    tracer[form].push_back(values[static_cast<std::size_t>(i / (nx * ny) * cells + what.own_first +
                                                                           i / nx % ny * what.own_pitch + i % nx)]);
                }
                traced[form] = at;
                Trajectories<double> trajectories;
                trajectories.lifted = lifted;
                trajectories.half_step = 0.5;
                trajectories.block = block;
                trajectories.wind = wind.data();
                trajectories.extrapolated = {around.data(), cells};
                trajectories.window = what.window;
                trajectories.iterations = 1;
                trajectories.departures = traced[form].data();
                Index not_finite = -1;
                trace(trajectories, not_finite, team);
                CHECK_EQUAL(not_finite, -1);
            }
            CHECK(tracer[0] == tracer[1]);
            CHECK(traced[0] == traced[1]);
        }
    }
}

TEST("a guess and iterations at once are those one by one") {
    std::vector<std::int32_t> place(cells);
    std::iota(place.begin(), place.end(), 0);
    for (const bool lifted : {false, true}) {
        const Index components = lifted ? 3 : 2;
        Values wind(static_cast<std::size_t>(components * points)),
            around(static_cast<std::size_t>(components * nz * cells));
        for (std::size_t i = 0; i < wind.size(); ++i) wind[i] = number(9, static_cast<Index>(i), -2, 2);
        for (std::size_t i = 0; i < around.size(); ++i) around[i] = number(10, static_cast<Index>(i), -1, 1);
        Values apart(wind.size(), std::nan("")), at_once = apart;
        Trajectories<double> trajectories;
        trajectories.lifted = lifted;
        trajectories.half_step = 0.5;
        trajectories.block = block;
        trajectories.wind = wind.data();
        trajectories.extrapolated = {around.data(), cells};
        trajectories.window = {{-margin, -margin}, {columns, rows}, place.data()};
        trajectories.departures = apart.data();
        Index not_finite = -1;
        Team one(1), two(2);
        trajectories.guess = true;
        trace(trajectories, not_finite, one);
        trajectories.guess = false;
        trajectories.iterations = 1;
        CellRange last;
        for (int i = 0; i < 3; ++i) last = trace(trajectories, not_finite, one);
        trajectories.guess = true;
        trajectories.iterations = 3;
        trajectories.departures = at_once.data();
        const auto found = trace(trajectories, not_finite, two);
        CHECK(at_once == apart);
        CHECK(found.low == last.low && found.high == last.high);
        CHECK_EQUAL(not_finite, -1);
        // With the winds of the block alone most chunks at its edges wait; each fetch has the columns that are marked.
        Chunks chunks(block);
        const auto with = [&](int done) {
            return std::count_if(chunks.all.begin(), chunks.all.end(), [=](const Chunk& c) { return c.done == done; });
        };
        Values waited(wind.size(), std::nan(""));
        std::vector<std::uint8_t> marks(cells);
        std::vector<std::int32_t> here(cells);
        const auto hold_marked = [&] {
            for (std::size_t i = 0; i < cells; ++i) {
                const auto x = static_cast<Index>(i) % columns - margin, y = static_cast<Index>(i) / columns - margin;
                here[i] = marks[i] == 1 || (x >= 0 && x < nx && y >= 0 && y < ny) ? place[i] : -1;
            }
        };
        hold_marked();
        trajectories.chunks = &chunks;
        trajectories.departures = waited.data();
        trajectories.window.place = here.data();
        trace(trajectories, not_finite, two);
        CHECK(with(0) > 0 && with(3) > 0);
        trajectories.guess = false;
        for (int done = 0; done < 3; ++done) {
            trajectories.done = done;
            hold_marked();
            CHECK_THROWS(InputError, ({"the window does not have the winds"}), trace(trajectories, not_finite, one));
            mark(waited.data(), block, trajectories.window, Reach::linear, marks.data(), &chunks, done);
            hold_marked();
            trace(trajectories, not_finite, one);
            CHECK_EQUAL(with(done), 0);
            std::fill(marks.begin(), marks.end(), std::uint8_t{0});
        }
        CHECK(waited == at_once);
        const auto reached = chunks.cells(3);
        CHECK(reached.low == found.low && reached.high == found.high);
    }
}

TEST("departure points nearer to a grid line than rounding lie on it") {
    const Values wind(2 * points, 1e-11);
    Values at(wind.size());
    Trajectories<double> trajectories;
    trajectories.half_step = 0.5;
    trajectories.block = block;
    trajectories.wind = wind.data();
    trajectories.guess = true;
    trajectories.departures = at.data();
    Index not_finite = -1;
    Team team(1);
    trace(trajectories, not_finite, team);
    for (std::size_t i = 0; i < points; ++i) {
        CHECK_EQUAL(at[i], static_cast<double>(i % nx + first_x));
        CHECK_EQUAL(at[points + i], static_cast<double>(i / nx % ny + first_y));
    }
}

// Around the parallel: from half a period west of the middle to half east of it.
TEST("cells of departure points are the numbers rounded down, on a circle those nearest to the block") {
    for (const Index period : {0, 24}) {
        for (const Index count : {1, 15, 16, 17, 64, 83}) {
            const Block row{{5, -7}, {count, 1}, 1, period};
            Values at(static_cast<std::size_t>(2 * count));
            std::array<Index, 2> low{1 << 20, 1 << 20}, high{-(1 << 20), -(1 << 20)};
            for (Index i = 0; i < 2 * count; ++i) {
                double& value = at[static_cast<std::size_t>(i)] = number(11, i, -60, 60);
                const auto axis = static_cast<std::size_t>(i / count);
                if (count == 83 && axis == 0) value = std::round(value);
                auto cell = static_cast<Index>(std::floor(value)) - (axis == 0 ? 5 : -7);
                if (period > 0 && axis == 0) {
                    const auto from = static_cast<Index>(std::floor(static_cast<double>(count - period) / 2));
                    cell = ((cell - from) % period + period) % period + from;
                }
                low[axis] = std::min(low[axis], cell), high[axis] = std::max(high[axis], cell);
            }
            const auto found = cells_of(at.data(), row);
            CHECK(found.low == low && found.high == high);
        }
    }
}

TEST("columns that are not there are refused, and values that are no numbers reported") {
    const Block small{{0, 0}, {4, 4}, 2, 0};
    std::vector<std::int32_t> place(64);
    std::iota(place.begin(), place.end(), 0);
    Values field(128), at(64);
    for (std::size_t i = 0; i < 32; ++i)
        at[i] = static_cast<double>(i % 4), at[32 + i] = static_cast<double>(i / 4 % 4);
    Interpolation what;
    what.block = small;
    what.window = {{-2, -2}, {8, 8}, place.data()};
    what.departures = at.data();
    what.tracers = 1, what.own_first = 18, what.own_pitch = 8;
    Team team(1);
    auto damaged = field;
    damaged[64 + 3 * 8 + 4] = INFINITY;
    // The stencil of [1][0][0] reaches [1][3][4] with the weight 0, which is a product, too.
    CHECK_EQUAL(interpolate<double>(what, {damaged.data(), 64}, team), 16);
    const auto refused = [&] {
        CHECK_THROWS(InputError, ({"the window does not have the stencil"}),
                     interpolate<double>(what, {field.data(), 64}, team));
    };
    for (const double value : {-2.0, 5.1, std::nan(""), 1e300}) {
        at[5] = value;
        refused();
    }
    std::fill(at.begin(), at.end(), 0.5);
    place[18] = -1;
    refused();
    // Marks: the columns of the stencils, those within the block left out.
    const Block three{{10, 10}, {3, 3}, 1, 0};
    Values shifted(18, 10.5);
    shifted[0] = 8.25;  // the cell -2, 0
    std::vector<std::uint8_t> marks(100);
    const Window window{{-5, -5}, {10, 10}, nullptr};
    const auto marked = [&](Index x, Index y) { return marks[static_cast<std::size_t>((y + 5) * 10 + x + 5)] == 1; };
    mark(shifted.data(), three, window, Reach::linear, marks.data());
    for (const Index y : {0, 1}) CHECK(marked(-2, y) && marked(-1, y) && !marked(-3, y));
    mark(shifted.data(), three, window, Reach::quasi_cubic, marks.data());
    for (Index x = -3; x < 1; ++x) CHECK(marked(x, 0) && marked(x, 1));
    for (const Index y : {-1, 2}) CHECK(marked(-2, y) && marked(-1, y));
    std::fill(marks.begin(), marks.end(), std::uint8_t{0});
    std::fill(shifted.begin(), shifted.end(), 10.5);
    mark(shifted.data(), three, window, Reach::linear, marks.data());
    CHECK(std::count(marks.begin(), marks.end(), 1) == 0);
}

TEST("a wind that is no number is reported on the sphere") {
    Values cos_x(70), sin_x(70), wind(3 * 280, 1e-7), at(2 * 280);
    const Values cos_y(2, 1.0), sin_y(2, 0.0);
    for (std::size_t i = 0; i < 70; ++i) {
        const double angle = 2.0 * static_cast<double>(i) / 69;
        cos_x[i] = std::cos(angle), sin_x[i] = std::sin(angle);
    }
    Trajectories<double> trajectories;
    trajectories.geometry = Geometry::sphere;
    trajectories.half_step = 1;
    trajectories.grid = {140, 70};
    trajectories.cos_x = cos_x.data(), trajectories.sin_x = sin_x.data();
    trajectories.cos_y = cos_y.data(), trajectories.sin_y = sin_y.data();
    trajectories.block = {{0, 0}, {70, 2}, 2, 140};
    trajectories.wind = wind.data();
    trajectories.guess = true;
    trajectories.departures = at.data();
    Team team(1);
    Index not_finite = -1;
    trace(trajectories, not_finite, team);
    CHECK_EQUAL(not_finite, -1);
    for (const std::size_t component : {0, 1, 2}) {
        auto damaged = wind;
        damaged[component * 280 + 140 + 67] = std::nan("");
        trajectories.wind = damaged.data();
        not_finite = -1;
        trace(trajectories, not_finite, team);
        CHECK_EQUAL(not_finite, 140 + 67);
    }
}

}  // namespace testing::semi_lagrangian
