// The operator of the Helmholtz problem, its columns and the vectors of its solver, against plain loops.
#include "kernel/helmholtz/helmholtz.hpp"

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "kernel/helmholtz/vectors.hpp"
#include "testing/testing.hpp"

namespace testing::helmholtz {

using namespace tradewind;
using kernel::Team, kernel::View;

template <class Real>
struct Field {
    std::array<Index, 3> points;
    std::vector<Real> values;

    Field(std::array<Index, 3> size, Draw& draw)
        : points(size), values(static_cast<std::size_t>(size[0] * size[1] * size[2])) {
        for (auto& value : values) value = static_cast<Real>(draw.real(-1, 1));
    }
    Real& at(Index x, Index y, Index z) {
        return values[static_cast<std::size_t>((z * points[1] + y) * points[0] + x)];
    }
    // Without `margin` points on all four sides.
    View<Real> view(Index margin = 0) {
        return {&at(margin, margin, 0),
                {points[0] - 2 * margin, points[1] - 2 * margin, points[2]},
                points[0],
                points[0] * points[1]};
    }
    View<const Real> read(Index margin = 0) {
        const auto v = view(margin);
        return {v.values, v.points, v.row, v.level};
    }
};

// Numbers of each point as the loops have them.
template <class Real>
struct Numbers {
    std::array<Index, 3> points;
    Index count, blocks;
    std::vector<Real> values;

    Numbers(std::array<Index, 3> size, Index each)
        : points(size),
          count(each),
          blocks((size[0] + kernel::block - 1) / kernel::block),
          values(static_cast<std::size_t>(size[2] * size[1] * blocks * each * kernel::block)) {}
    Real& at(Index number, Index x, Index y, Index z) {
        return values[static_cast<std::size_t>(
            (((z * points[1] + y) * blocks + x / kernel::block) * count + number) * kernel::block + x % kernel::block)];
    }
    kernel::PointNumbers<Real> numbers() const {
        const Index row = blocks * count * kernel::block;
        return {values.data(), row, row * points[1]};
    }
};

// The sums have some tens of terms.
template <class Real>
void check_close(Real found, double wanted, double size) {
    if (!(std::abs(found - wanted) <= 500 * std::numeric_limits<Real>::epsilon() * size))
        throw Failure(text_of(found) + " is not " + text_of(wanted), std::source_location::current());
}

template <class Real>
void check_operator(Draw& draw) {
    const std::array<Index, 3> points{draw.integer(1, 40), draw.integer(1, 6), draw.integer(3, 12)};
    Field<Real> in({points[0] + 2, points[1] + 2, points[2]}, draw), out(points, draw);
    Numbers<Real> factors(points, kernel::stencil_points);
    for (auto& value : factors.values) value = static_cast<Real>(draw.real(-1, 1));
    Team team(static_cast<int>(draw.integer(1, 3)));
    kernel::helmholtz(in.read(), factors.numbers(), out.view(), team);
    const Index dx[] = {0, -1, 1, 0, 0}, dy[] = {0, 0, 0, -1, 1}, nz = points[2];
    for (Index z = 0; z < nz; ++z) {
        // In place of the level below the lowest stands the third from below, above the highest the third from above.
        const Index levels[] = {z, z > 0 ? z - 1 : 2, z + 1 < nz ? z + 1 : nz - 3};
        for (Index y = 0; y < points[1]; ++y) {
            for (Index x = 0; x < points[0]; ++x) {
                double wanted = 0, size = 0;
                for (int i = 0; i < 15; ++i) {
                    const double value = in.at(x + 1 + dx[i / 3], y + 1 + dy[i / 3], levels[i % 3]);
                    const double term = factors.at(i, x, y, z) * value;
                    wanted += term, size += std::abs(term);
                }
                check_close(out.at(x, y, z), wanted, size);
            }
        }
    }
}

PROPERTY("the operator is the sum of its factors times the points around, on any threads", 20) {
    check_operator<float>(draw);
    check_operator<double>(draw);
}

template <class Real>
void check_columns(Draw& draw) {
    const std::array<Index, 3> points{draw.integer(1, 300), draw.integer(1, 3), draw.integer(1, 40)};
    Field<Real> right(points, draw), minus(points, draw), plus(points, draw), plain(points, draw), more(points, draw);
    Numbers<Real> factors(points, kernel::column_factors), matrix(points, 3);  // matrix: below, diagonal, above
    for (Index z = 0; z < points[2]; ++z) {
        for (Index y = 0; y < points[1]; ++y) {
            for (Index x = 0; x < points[0]; ++x) {
                const double below = z > 0 ? draw.real(-1, 1) : 0, above = z + 1 < points[2] ? draw.real(-1, 1) : 0;
                const double diagonal = 3 + draw.real(0, 1);
                const double entries[] = {below, diagonal, above};
                for (int i = 0; i < 3; ++i) matrix.at(i, x, y, z) = static_cast<Real>(entries[i]);
                const double pivot = diagonal - (z > 0 ? below * static_cast<double>(factors.at(2, x, y, z - 1)) : 0);
                const double kept[] = {below, 1 / pivot, above / pivot};
                for (int i = 0; i < 3; ++i) factors.at(i, x, y, z) = static_cast<Real>(kept[i]);
            }
        }
    }
    Team team(static_cast<int>(draw.integer(1, 3)));
    const auto subtracted = minus.read(), added = plus.read();
    kernel::solve_columns<Real>(right.read(), nullptr, nullptr, factors.numbers(), plain.view(), team);
    kernel::solve_columns<Real>(right.read(), &subtracted, &added, factors.numbers(), more.view(), team);
    for (Index z = 0; z < points[2]; ++z) {
        for (Index y = 0; y < points[1]; ++y) {
            for (Index x = 0; x < points[0]; ++x) {
                double product = 0, other = 0;
                for (Index k = std::max<Index>(0, z - 1); k <= std::min(points[2] - 1, z + 1); ++k) {
                    const double factor = matrix.at(k - z + 1, x, y, z);
                    product += factor * plain.at(x, y, k);
                    other += factor * (more.at(x, y, k) - plus.at(x, y, k));
                }
                check_close(static_cast<Real>(product), right.at(x, y, z), 10);
                check_close(static_cast<Real>(other), right.at(x, y, z) - minus.at(x, y, z), 20);
            }
        }
    }
}

PROPERTY("columns are solved, on any threads", 20) {
    check_columns<float>(draw);
    check_columns<double>(draw);
}

template <class Real>
void check_vectors(Draw& draw) {
    const std::array<Index, 3> points{draw.integer(1, 80), draw.integer(1, 5), draw.integer(1, 4)};
    const auto count = static_cast<std::size_t>(draw.integer(1, 8));
    std::vector<Field<Real>> fields;
    kernel::Pairs<Real> pairs;
    kernel::Terms<Real> terms;
    std::vector<Real> factors;
    for (std::size_t i = 0; i < count; ++i)
        fields.emplace_back(std::array<Index, 3>{points[0] + 2, points[1] + 2, points[2]}, draw);
    for (auto& field : fields) {
        pairs.emplace_back(field.read(1), fields[0].read(1));
        factors.push_back(static_cast<Real>(draw.real(-2, 2)));
        terms.emplace_back(factors.back(), field.read(1));
    }
    Team one(1), several(static_cast<int>(draw.integer(2, 3)));
    const auto found = kernel::products(pairs, one);
    CHECK_EQUAL(kernel::products(pairs, several), found);
    auto exact = kernel::exact_products(pairs, several);
    CHECK_EQUAL(exact.not_finite, 0);
    std::vector<Real> wanted;  // of the combination
    for (std::size_t i = 0; i < count; ++i) {
        double sum = 0, size = 0;
        kernel::ExactSum expected;
        for (Index z = 0; z < points[2]; ++z) {
            for (Index y = 1; y <= points[1]; ++y) {
                for (Index x = 1; x <= points[0]; ++x) {
                    const double term = static_cast<double>(fields[i].at(x, y, z)) * fields[0].at(x, y, z);
                    sum += term, size += std::abs(term);
                    expected.add(term);
                    if (i > 0) continue;
                    Real value = factors[0] * fields[0].at(x, y, z);
                    for (std::size_t k = 1; k < count; ++k) value = value + factors[k] * fields[k].at(x, y, z);
                    wanted.push_back(value);
                }
            }
        }
        check_close(found[i], sum, size);
        CHECK(exact.sums[i].normal() == expected.normal());
    }
    kernel::combine(fields.back().view(1), terms, several);
    std::size_t at = 0;
    for (Index z = 0; z < points[2]; ++z) {
        for (Index y = 1; y <= points[1]; ++y) {
            for (Index x = 1; x <= points[0]; ++x) CHECK_EQUAL(fields.back().at(x, y, z), wanted[at++]);
        }
    }
}

PROPERTY("scalar products and combinations of fields with gaps are those of plain loops, on any threads", 20) {
    check_vectors<float>(draw);
    check_vectors<double>(draw);
}

TEST("terms that are not finite are counted, and shapes that do not go together refused") {
    Draw draw(std::uint64_t{1});
    Field<double> a({5, 3, 4}, draw), b({5, 3, 3}, draw), narrow({5, 2, 4}, draw), around({7, 5, 4}, draw),
        low({7, 5, 2}, draw), thin({5, 3, 2}, draw);
    Numbers<double> factors({5, 3, 4}, kernel::stencil_points);
    Team team(1);
    a.values[3] = std::nan(""), a.values[7] = INFINITY;
    CHECK_EQUAL(kernel::exact_products<double>({{a.read(), a.read()}}, team).not_finite, 2);
    CHECK(kernel::products<double>({}, team).empty());
    const auto refused = [](std::string_view text, Action call) { CHECK_THROWS(InputError, {text}, call()); };
    refused("one point more", [&] { kernel::helmholtz(a.read(), factors.numbers(), a.view(), team); });
    refused("2 levels: 3", [&] { kernel::helmholtz(low.read(), factors.numbers(), thin.view(), team); });
    refused("arrays of one shape",
            [&] { kernel::solve_columns<double>(narrow.read(), nullptr, nullptr, factors.numbers(), a.view(), team); });
    refused("arrays of one shape", [&] { kernel::products<double>({{a.read(), b.read()}}, team); });
    refused("0 terms: 1..8", [&] { kernel::combine<double>(a.view(), {}, team); });
    refused("9 terms: 1..8", [&] { kernel::combine(a.view(), kernel::Terms<double>(9, {1.0, a.read()}), team); });
    refused("arrays of one shape", [&] { kernel::combine<double>(a.view(), {{1.0, b.read()}}, team); });
}

}  // namespace testing::helmholtz
