// Exact sums, against whole numbers of 128 bits.
#include "kernel/diagnosis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "kernel/exact_sum.hpp"
#include "testing/testing.hpp"

namespace testing::diagnosis {

using namespace tradewind;
using kernel::Diagnosis, kernel::ExactSum, kernel::Team;

// A sum of multiples of 2^-82, the unit of its digit 31, as a whole number of them.
__int128 whole(ExactSum sum) {
    const auto& digits = sum.normal();
    __int128 value = 0;
    for (int i = ExactSum::digits - 1; i >= 0; --i) {
        if (i < 31) CHECK_EQUAL(digits[static_cast<std::size_t>(i)], 0);
        if (i >= 31) value = (value << 32) + digits[static_cast<std::size_t>(i)];
    }
    return value;
}

template <class Real>
Diagnosis diagnosed(const std::vector<Real>& values, int threads) {
    Team team(threads);
    const auto n = static_cast<Index>(values.size());
    return kernel::diagnose<Real>({values.data(), {1, 1, n}}, {{0, 0, 0}, {1, 1, n}}, team);
}

template <class Real>
void check_sums(Draw& draw, std::int64_t largest) {
    std::vector<Real> values;
    __int128 sum = 0, squares = 0;
    for (auto n = draw.integer(1, 60); n > 0; --n) {
        const auto number = draw.integer(-largest, largest);
        const int exponent = static_cast<int>(draw.integer(0, 40));
        values.push_back(static_cast<Real>(std::ldexp(static_cast<double>(number), exponent - 41)));
        sum += static_cast<__int128>(number) << (exponent + 41);
        squares += static_cast<__int128>(number) * number << (2 * exponent);
    }
    auto found = diagnosed(values, static_cast<int>(draw.integer(1, 4)));
    CHECK(whole(found.sum) == sum);
    CHECK(whole(found.squares) == squares);
    CHECK_EQUAL(found.minimum, *std::min_element(values.begin(), values.end()));
    CHECK_EQUAL(found.maximum, *std::max_element(values.begin(), values.end()));
    CHECK(!found.not_finite);
    // Parts add up to the same.
    const auto cut = values.begin() + draw.integer(0, static_cast<std::int64_t>(values.size()));
    auto parts = diagnosed(std::vector<Real>(values.begin(), cut), 1).sum;
    parts.add(diagnosed(std::vector<Real>(cut, values.end()), 1).sum);
    CHECK(parts.normal() == found.sum.normal());
}

PROPERTY("sums and sums of squares are exact, of parts too", 100) {
    check_sums<double>(draw, 1 << 20);
    check_sums<float>(draw, 1 << 12);
}

TEST("what cancels and what is tiny is not lost") {
    auto sum = diagnosed<double>({1e100, 1.0, -1e100, 5e-324, -5e-324}, 1).sum;
    CHECK(whole(sum) == static_cast<__int128>(1) << 82);
    auto tiny = diagnosed<double>({5e-324, 5e-324, 5e-324}, 1).sum;
    CHECK_EQUAL(tiny.normal()[0], 3);  // the unit is the smallest double
    ExactSum many;
    for (int i = 0; i < 1 << 20; ++i) many.add(-0.5);
    CHECK(whole(many) == -(static_cast<__int128>(1) << (82 + 19)));
}

TEST("what is not finite is found, and only the region counts") {
    const double infinity = std::numeric_limits<double>::infinity();
    for (const double bad : {std::nan(""), infinity, -infinity, 1e200}) {
        for (const int threads : {1, 3}) {
            std::vector<double> field(60, 1.0);  // 5 x 4 x 3 points
            field[33] = field[34] = field[40] = bad;
            Team team(threads);
            auto found = kernel::diagnose<double>({field.data(), {5, 4, 3}}, {{0, 0, 0}, {5, 4, 3}}, team);
            CHECK(found.not_finite == (std::array<Index, 3>{3, 2, 1}));
            CHECK(whole(found.sum) == static_cast<__int128>(57) << 82);
        }
    }
    std::vector<double> field(60, std::nan(""));
    for (int z = 1; z < 3; ++z) {
        for (int x = 2; x < 5; ++x) field[static_cast<std::size_t>(z * 20 + 5 + x)] = 2;
    }
    Team team(1);
    auto found = kernel::diagnose<double>({field.data(), {5, 4, 3}}, {{2, 1, 1}, {5, 2, 3}}, team);
    CHECK(whole(found.sum) == static_cast<__int128>(12) << 82);
    CHECK(whole(found.squares) == static_cast<__int128>(24) << 82);
    CHECK_THROWS(InputError, ({}), kernel::diagnose<double>({field.data(), {5, 4, 3}}, {{0, 0, 0}, {5, 4, 4}}, team));
    for (const int threads : {0, -1, 1025}) CHECK_THROWS(InputError, ({"1..1024 are allowed"}), Team(threads));
}

}  // namespace testing::diagnosis
