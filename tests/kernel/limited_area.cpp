// Loops of a semi-implicit step on a C grid against plain ones, bit for bit, on any threads.
#include "base/error.hpp"
#include "kernel/limited_area/stencils.hpp"
#include "testing/testing.hpp"

namespace testing::limited_area {

using namespace tradewind;
using kernel::Array, kernel::Team, kernel::Waves;

template <class Real>
std::vector<Real> field(Draw& draw, const std::array<Index, 3>& points) {
    std::vector<Real> values(static_cast<std::size_t>(points[0] * points[1] * points[2]));
    auto seed = static_cast<std::uint64_t>(draw.integer(0, 1000));
    for (auto& value : values)
        value = static_cast<Real>(static_cast<double>((seed = seed * 6364136223846793005u + 1) >> 40) * 1e-7 - 0.8);
    return values;
}

template <class Real>
void check(Draw& draw) {
    const std::array<Index, 3> inside{draw.integer(1, 40), draw.integer(1, 9), draw.integer(1, 5)};
    const std::array<Index, 3> all{inside[0] + 2, inside[1] + 2, inside[2]};
    const auto u = field<Real>(draw, all), v = field<Real>(draw, all), phi = field<Real>(draw, all);
    const auto after = field<Real>(draw, all), levels = field<Real>(draw, inside);
    const auto unwritten = static_cast<Real>(99);
    std::vector<Real> right(levels.size()), u_next(u.size(), unwritten), v_next = u_next, placed = u_next;
    std::vector<double> speeds;
    for (Index z = 0; z < inside[2]; ++z) speeds.push_back(1.0 / static_cast<double>(z + 1));
    const double s = 1.7;
    Team team(static_cast<int>(draw.integer(1, 5)));
    const Waves<Real> waves{{u.data(), all}, {v.data(), all}, {phi.data(), all}};
    wave_right_side<Real>(waves, {speeds.data(), {inside[2], 1, 1}}, s, {right.data(), inside}, team);
    wave_winds<Real>(waves, {after.data(), all}, s, {u_next.data(), all}, {v_next.data(), all}, team);
    kernel::place_levels<Real>({levels.data(), inside}, {placed.data(), all}, team);
    const auto at = [&](const std::vector<Real>& values, Index x, Index y, Index z) {
        return values[static_cast<std::size_t>(x + all[0] * (y + all[1] * z))];
    };
    const auto by = static_cast<Real>(s);
    for (Index z = 0; z < inside[2]; ++z)
        for (Index y = 0; y < all[1]; ++y)
            for (Index x = 0; x < all[0]; ++x) {
                if (x == 0 || y == 0 || x > inside[0] || y > inside[1]) {
                    for (const auto* each : {&u_next, &v_next, &placed}) CHECK_EQUAL(at(*each, x, y, z), unwritten);
                    continue;
                }
                const auto own = static_cast<std::size_t>(x - 1 + inside[0] * (y - 1 + inside[1] * z));
                const Real winds = (at(u, x, y, z) - at(u, x - 1, y, z)) + (at(v, x, y, z) - at(v, x, y - 1, z));
                const Real around =
                    (at(phi, x - 1, y, z) + at(phi, x + 1, y, z)) + (at(phi, x, y - 1, z) + at(phi, x, y + 1, z));
                const Real lap = around - Real(4) * at(phi, x, y, z);
                const auto gain = static_cast<Real>(s * speeds[static_cast<std::size_t>(z)]);
                CHECK_EQUAL(right[own], at(phi, x, y, z) - gain * (Real(2) * winds - by * lap));
                const auto both = [&](Index east, Index north) {
                    return at(phi, east, north, z) + at(after, east, north, z);
                };
                CHECK_EQUAL(at(u_next, x, y, z), at(u, x, y, z) - by * (both(x + 1, y) - both(x, y)));
                CHECK_EQUAL(at(v_next, x, y, z), at(v, x, y, z) - by * (both(x, y + 1) - both(x, y)));
                CHECK_EQUAL(at(placed, x, y, z), levels[own]);
            }
}

PROPERTY("stencils of a semi-implicit step have the bits of plain loops, and write no halo", 60) {
    check<float>(draw);
    check<double>(draw);
}

TEST("fields of other shapes are refused") {
    std::vector<double> values(2 * 5 * 6);
    const Array<double> whole{values.data(), {6, 5, 2}}, inside{values.data(), {4, 3, 2}},
        less{values.data(), {4, 3, 1}};
    const auto constant = [](const Array<double>& array) { return Array<const double>{array.values, array.points}; };
    const Waves<double> waves{constant(whole), constant(whole), constant(whole)};
    const Array<const double> speeds{values.data(), {2, 1, 1}};
    Team team(1);
    CHECK_THROWS(InputError, {"one point more on all four sides"},
                 kernel::wave_right_side<double>(waves, speeds, 1.0, less, team));
    CHECK_THROWS(InputError, {"speeds: 2 values, one of each mode"},
                 kernel::wave_right_side<double>(waves, {values.data(), {3, 1, 1}}, 1.0, inside, team));
    CHECK_THROWS(InputError, {"u, v and phi: arrays of one shape"},
                 kernel::wave_right_side<double>({constant(inside), waves.v, waves.phi}, speeds, 1.0, inside, team));
    CHECK_THROWS(InputError, {"arrays of the shape of the present ones"},
                 kernel::wave_winds<double>(waves, constant(inside), 1.0, whole, whole, team));
    CHECK_THROWS(InputError, {"one point more on all four sides"},
                 kernel::place_levels<double>(constant(whole), whole, team));
}

}  // namespace testing::limited_area
