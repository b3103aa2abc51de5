// The loops of a semi-Lagrangian step on rows of different lengths: what stencils reproduce, and which cells they need.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/random.hpp"
#include "kernel/semi_lagrangian/reduced.hpp"
#include "testing/testing.hpp"

namespace testing::semi_lagrangian_rows {

using namespace tradewind;
using namespace tradewind::kernel;
using Values = std::vector<double>;

constexpr double pi = 3.14159265358979323846;
constexpr Index half = 8, ny = 2 * half, nz = 5, points = 150;  // chunks of 64, 64 and 22 points

Index columns(Index row) {
    return 20 + 4 * std::min(row, ny - 1 - row);
}
double latitude(Index row) {
    if (row < 0) return pi - latitude(-1 - row);
    if (row >= ny) return -pi - latitude(2 * ny - 1 - row);
    return pi / 2 - static_cast<double>(4 * row + 3) * pi / static_cast<double>(4 * ny + 2);
}

ReducedRows octahedral() {
    std::vector<Index> lengths;
    Values latitudes;
    for (Index row = 0; row < ny; ++row) {
        lengths.push_back(columns(row));
        latitudes.push_back(latitude(row));
    }
    return {lengths, latitudes};
}

double number(std::uint64_t seed, Index i, double low, double high) {
    return low + (high - low) * static_cast<double>(mix(seed, static_cast<std::uint64_t>(i)) >> 11) * 0x1p-53;
}

// All rows, and two beyond each pole, of a rank that has the whole grid, point after point.
struct Whole {
    ReducedRows rows = octahedral();
    Index count = 0;  // of points
    std::vector<std::int32_t> place;
    Values longitude, north;  // [point]
    Whole() {
        std::vector<Index> first;
        for (Index row = 0; row < ny; ++row) {
            first.push_back(count);
            for (Index x = 0; x < columns(row); ++x, ++count) {
                longitude.push_back(2 * pi * static_cast<double>(x) / static_cast<double>(columns(row)));
                north.push_back(latitude(row));
            }
        }
        for (Index row = -2; row < ny + 2; ++row) {
            const Index folded = row < 0 ? -1 - row : row >= ny ? 2 * ny - 1 - row : row, n = columns(folded);
            for (Index x = -1; x < n + 2; ++x)
                place.push_back(static_cast<std::int32_t>(first[static_cast<std::size_t>(folded)] +
                                                          (x + (folded == row ? 0 : n / 2) + n) % n));
        }
    }
    RowWindow window() const { return {rows, -2, ny + 4, place.data()}; }
};

const Block block{{0, 0}, {points, 1}, nz, 0};

// Departure points [x, y(, z)][z][0][point] between longitudes that do not meet, away from the poles or not.
Values departures(bool lifted, bool on_rows, bool to_poles = false) {
    Values at(static_cast<std::size_t>((lifted ? 3 : 2) * points * nz));
    for (Index i = 0; i < points * nz; ++i) {
        at[static_cast<std::size_t>(i)] = number(1, i, 0.1, 0.4);
        const double y = number(2, i, to_poles ? -0.5 : 1.0, static_cast<double>(to_poles ? ny : ny - 2) - 0.51);
        at[static_cast<std::size_t>(points * nz + i)] = on_rows ? std::round(y) : y;
        if (lifted) at[static_cast<std::size_t>(2 * points * nz + i)] = number(3, i, 0, nz - 1);
    }
    return at;
}

using Field = std::function<double(double, double, double)>;
double there(const Field& field, const Values& at, Index i) {
    const double y = at[static_cast<std::size_t>(points * nz + i)], low = std::floor(y);
    const auto row = static_cast<Index>(low);
    const double north = latitude(row) + (y - low) * (latitude(row + 1) - latitude(row));
    const double z = at.size() == 3 * points * nz ? at[static_cast<std::size_t>(2 * points * nz + i)]
                                                  : static_cast<double>(i / points);
    return field(2 * pi * at[static_cast<std::size_t>(i)], north, z);
}

Values interpolated(const Whole& whole, const Field& field, const Values& at, bool full, bool limiter = false,
                    int threads = 1) {
    Values values(static_cast<std::size_t>(whole.count * nz));
    for (Index i = 0; i < whole.count * nz; ++i) {
        const auto point = static_cast<std::size_t>(i % whole.count);
        values[static_cast<std::size_t>(i)] =
            field(whole.longitude[point], whole.north[point], static_cast<double>(i / whole.count));
    }
    Interpolation what;
    what.block = block;
    what.departures = at.data();
    what.full = full, what.limiter = limiter, what.lifted = at.size() == 3 * points * nz;
    what.tracers = 1, what.own_pitch = points;
    Team team(threads);
    CHECK_EQUAL(interpolate<double>(what, whole.window(), {values.data(), whole.count}, team), -1);
    Values own;
    for (Index i = 0; i < points * nz; ++i)
        own.push_back(values[static_cast<std::size_t>(i / points * whole.count + i % points)]);
    return own;
}

double error(const Whole& whole, const std::array<int, 3>& power, const Values& at, bool full = false) {
    const Field monomial = [&](double x, double y, double z) {
        return std::pow(x - 1.5, power[0]) * std::pow(y, power[1]) * std::pow(z / 2, power[2]);
    };
    const auto found = interpolated(whole, monomial, at, full);
    double largest = 0;
    for (Index i = 0; i < points * nz; ++i)
        largest = std::max(largest, std::abs(found[static_cast<std::size_t>(i)] - there(monomial, at, i)));
    return largest;
}

TEST("on rows of different lengths stencils reproduce the polynomials that they should, and no others") {
    const Whole whole;
    const auto flat = departures(false, false), on_rows = departures(false, true), lifted = departures(true, false);
    for (int b = 0; b <= 3; ++b) {
        for (int a = 0; a <= 3; ++a) {
            if (a <= 1) CHECK(error(whole, {a, b, 0}, flat) < 1e-13);
            CHECK(error(whole, {a, b, 0}, flat, true) < 1e-13);
            CHECK(error(whole, {a, b, 3}, lifted, true) < 1e-11);
        }
    }
    for (const int a : {2, 3}) {
        CHECK(error(whole, {a, 0, 0}, flat) > 1e-5);
        CHECK(error(whole, {a, 0, 0}, on_rows) < 1e-13);
    }
    CHECK(error(whole, {0, 4, 0}, flat, true) > 1e-7);
    CHECK(error(whole, {1, 1, 3}, lifted) < 1e-12);
    CHECK(error(whole, {0, 2, 0}, lifted) > 1e-6);
}

TEST("across the poles a smooth field is found, the limiter makes no new extremes, and threads change no bit") {
    const Whole whole;
    const auto at = departures(false, false, true);
    const Field smooth = [](double x, double y, double) { return 1 + std::cos(y) * std::cos(x) + 0.5 * std::sin(y); };
    const auto found = interpolated(whole, smooth, at, true);
    for (Index i = 0; i < points * nz; ++i)
        CHECK(std::abs(found[static_cast<std::size_t>(i)] - there(smooth, at, i)) < 2e-3);
    CHECK(interpolated(whole, smooth, at, true, false, 3) == found);
    const Field step = [](double x, double y, double) { return std::sin(3 * x) + y > 0.3 ? 1.0 : 0.0; };
    const auto free = interpolated(whole, step, at, false), limited = interpolated(whole, step, at, false, true);
    CHECK(*std::max_element(free.begin(), free.end()) > 1);
    CHECK(*std::max_element(limited.begin(), limited.end()) == 1);
    CHECK(*std::min_element(limited.begin(), limited.end()) == 0);
}

TEST("the cells that are marked are those that an interpolation reads, and each of them") {
    Whole whole;
    const auto every = whole.place;
    Values values(static_cast<std::size_t>(whole.count * nz), 1.0);
    for (const bool full : {false, true}) {
        auto at = departures(false, false, true);
        std::fill(at.begin() + 60, at.begin() + points * nz, 0.25);  // few cells, so that each counts
        std::fill(at.begin() + points * nz + 60, at.end(), 7.5);
        std::vector<std::uint8_t> marks(every.size());
        mark(at.data(), block, {whole.rows, -2, ny + 4}, full ? Reach::cubic : Reach::quasi_cubic, marks.data());
        Interpolation what;
        what.block = block;
        what.departures = at.data();
        what.full = full, what.tracers = 1, what.own_pitch = points;
        Team team(1);
        for (std::size_t cell = 0; cell < every.size(); ++cell) whole.place[cell] = marks[cell] == 1 ? every[cell] : -1;
        CHECK_EQUAL(interpolate<double>(what, whole.window(), {values.data(), whole.count}, team), -1);
        for (std::size_t cell = 0; cell < every.size(); cell += 7) {
            if (marks[cell] == 0) continue;
            whole.place[cell] = -1;
            CHECK_THROWS(InputError, ({"the window does not have the stencil"}),
                         interpolate<double>(what, whole.window(), {values.data(), whole.count}, team));
            whole.place[cell] = every[cell];
        }
    }
}

// Winds [component][z][0][point] of a rotation about an axis in the plane of longitude 0, in radians per second.
Values rotation(const Whole& whole, double alpha, Index count, Index levels) {
    Values wind;
    const double ax = -std::sin(alpha), az = std::cos(alpha);
    for (Index c = 0; c < 3; ++c) {
        for (Index i = 0; i < levels * count; ++i) {
            const auto p = static_cast<std::size_t>(i % count);
            const double x = std::cos(whole.north[p]) * std::cos(whole.longitude[p]);
            const double y = std::cos(whole.north[p]) * std::sin(whole.longitude[p]), z = std::sin(whole.north[p]);
            wind.push_back(c == 0 ? -az * y : c == 1 ? az * x - ax * z : ax * y);
        }
    }
    return wind;
}

TEST("departure points of a rotation, over the poles, too") {
    const Whole whole;
    const Index count = whole.count;
    Values cos_x, sin_x, cos_y, sin_y;
    for (std::size_t p = 0; p < static_cast<std::size_t>(count); ++p) {
        cos_x.push_back(std::cos(whole.longitude[p])), sin_x.push_back(std::sin(whole.longitude[p]));
        cos_y.push_back(std::cos(whole.north[p])), sin_y.push_back(std::sin(whole.north[p]));
    }
    for (const double alpha : {0.0, 0.7, pi / 2}) {
        const Values wind = rotation(whole, alpha, count, 1);
        Values at(static_cast<std::size_t>(2 * count));
        Trajectories<double> what;
        what.geometry = Geometry::sphere;
        what.half_step = 0.1;
        what.block = {{0, 0}, {count, 1}, 1, 0};
        what.cos_x = cos_x.data(), what.sin_x = sin_x.data(), what.cos_y = cos_y.data(), what.sin_y = sin_y.data();
        what.wind = wind.data();
        what.extrapolated = {wind.data(), count};
        what.guess = true, what.iterations = 4;
        what.departures = at.data();
        Index not_finite = -1;
        Team team(1);
        const auto range = trace(what, whole.window(), not_finite, team);
        CHECK_EQUAL(not_finite, -1);
        const auto again = rows_reached(at.data(), what.block);
        CHECK(again.low == range.low && again.high == range.high && range.low[1] == (alpha == 0.0 ? 0 : -1));
        for (Index i = 0; i < count; ++i) {
            const auto p = static_cast<std::size_t>(i);
            const double ax = -std::sin(alpha), az = std::cos(alpha), turn = -2 * what.half_step;
            const double place[] = {cos_y[p] * cos_x[p], cos_y[p] * sin_x[p], sin_y[p]};
            const double across[] = {-az * place[1], az * place[0] - ax * place[2], ax * place[1]};
            const double along = ax * place[0] + az * place[2], axis[] = {ax, 0, az};
            const double y = at[p + static_cast<std::size_t>(count)], low = std::floor(y);
            const auto row = static_cast<Index>(low);
            const double north = latitude(row) + (y - low) * (latitude(row + 1) - latitude(row)), east = 2 * pi * at[p];
            const double found[] = {std::cos(north) * std::cos(east), std::cos(north) * std::sin(east),
                                    std::sin(north)};
            double apart = 0;
            for (int c = 0; c < 3; ++c) {
                const double turned =
                    std::cos(turn) * place[c] + std::sin(turn) * across[c] + (1 - std::cos(turn)) * along * axis[c];
                apart = std::max(apart, std::abs(found[c] - turned));
            }
            CHECK(apart < 2.5e-3);  // linear winds between rows 0.2 apart
        }
    }
}

TEST("invalid rows, points without rows and values that are no numbers are refused") {
    CHECK_THROWS(InputError, ({"two or more"}), ReducedRows({20}, {0.0}));
    CHECK_THROWS(InputError, ({"row 1 of a reduced grid: an even number of columns"}),
                 ReducedRows({20, 21}, {latitude(0), latitude(1)}));
    CHECK_THROWS(InputError, ({"of a reduced grid", "from the north"}), ReducedRows({20, 20}, {-0.6, 0.6}));
    Whole whole;
    CHECK_THROWS(InputError, ({"rows -3..1: those of the grid and two beyond"}), RowWindow(whole.rows, -3, 5));
    auto at = departures(false, false);
    std::vector<std::uint8_t> marks(whole.place.size());
    for (const double value : {-1.0, static_cast<double>(ny), std::nan(""), 1e300}) {
        at[points * nz + 5] = value;
        if (value == -1.0) continue;  // between the first rows of two sides
        CHECK_THROWS(InputError, ({"does not have the stencil"}),
                     mark(at.data(), block, {whole.rows, -2, ny + 4}, Reach::cubic, marks.data()));
    }
}

}  // namespace testing::semi_lagrangian_rows
