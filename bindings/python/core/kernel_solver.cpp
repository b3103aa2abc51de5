#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "bind.hpp"
#include "kernel/helmholtz/helmholtz.hpp"
#include "kernel/helmholtz/vectors.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

namespace {

using kernel::ExactSum;
using kernel::PointNumbers;
using kernel::Team;
using kernel::View;

template <class Real>
using Strided = nb::ndarray<Real, nb::ndim<3>, nb::device::cpu>;  // any strides but along x
template <class Real>
using Numbers = nb::ndarray<const Real, nb::ndim<5>, nb::device::cpu>;
template <class Real>
using Pair = std::pair<Strided<const Real>, Strided<const Real>>;

template <class Real>
View<Real> view_of(const Strided<Real>& field) {
    if (field.stride(2) != 1 && field.shape(2) > 1)
        throw InputError("a field: values that are adjacent along x are needed");
    return {
        field.data(),
        {static_cast<Index>(field.shape(2)), static_cast<Index>(field.shape(1)), static_cast<Index>(field.shape(0))},
        static_cast<Index>(field.stride(1)),
        static_cast<Index>(field.stride(0))};
}

// Numbers of each point of an array, [z][y][block][number][point].
template <class Real>
PointNumbers<Real> numbers_of(const Numbers<Real>& numbers, const std::array<Index, 3>& points, Index count) {
    const auto extent = [&](std::size_t axis) { return static_cast<Index>(numbers.shape(axis)); };
    const Index blocks = (points[layout::X] + kernel::block - 1) / kernel::block;
    if (extent(0) != points[layout::Z] || extent(1) != points[layout::Y] || extent(2) != blocks || extent(3) != count ||
        extent(4) != kernel::block)
        throw InputError("factors: " + std::to_string(count) + " of each point, [z][y][" + std::to_string(blocks) +
                         "][" + std::to_string(count) + "][" + std::to_string(kernel::block) + "], are needed");
    if (numbers.stride(4) != 1 || numbers.stride(3) != kernel::block ||
        (numbers.stride(2) != count * kernel::block && blocks > 1))
        throw InputError("factors: the numbers of a row must be adjacent");
    return {numbers.data(), static_cast<Index>(numbers.stride(1)), static_cast<Index>(numbers.stride(0))};
}

template <class Real>
void helmholtz(const Strided<const Real>& field, const Numbers<Real>& factors, const Strided<Real>& out, Team& team) {
    const View<const Real> from = view_of(field);
    const View<Real> to = view_of(out);
    const PointNumbers<Real> numbers = numbers_of(factors, to.points, kernel::stencil_points);
    const nb::gil_scoped_release release;
    kernel::helmholtz(from, numbers, to, team);
}

template <class Real>
void solve_columns(const Strided<const Real>& right, const Numbers<Real>& factors, const Strided<Real>& solution,
                   Team& team, const std::optional<Strided<const Real>>& minus,
                   const std::optional<Strided<const Real>>& plus) {
    const View<const Real> from = view_of(right);
    const View<Real> to = view_of(solution);
    const PointNumbers<Real> numbers = numbers_of(factors, to.points, kernel::column_factors);
    const View<const Real> less = minus ? view_of(*minus) : View<const Real>{};
    const View<const Real> more = plus ? view_of(*plus) : View<const Real>{};
    const nb::gil_scoped_release release;
    kernel::solve_columns(from, minus ? &less : nullptr, plus ? &more : nullptr, numbers, to, team);
}

template <class Real>
kernel::Pairs<Real> pairs_of(const std::vector<Pair<Real>>& pairs) {
    kernel::Pairs<Real> found;
    for (const auto& [a, b] : pairs) found.emplace_back(view_of(a), view_of(b));
    return found;
}

template <class Real>
std::vector<double> products(const std::vector<Pair<Real>>& pairs, Team& team) {
    const kernel::Pairs<Real> all = pairs_of<Real>(pairs);
    const nb::gil_scoped_release release;
    return kernel::products(all, team);
}

template <class Real>
std::pair<std::vector<std::array<std::int64_t, ExactSum::digits>>, std::int64_t> exact_products(
    const std::vector<Pair<Real>>& pairs, Team& team) {
    const kernel::Pairs<Real> all = pairs_of<Real>(pairs);
    std::vector<std::array<std::int64_t, ExactSum::digits>> digits;
    const nb::gil_scoped_release release;
    kernel::ExactProducts found = kernel::exact_products(all, team);
    for (ExactSum& sum : found.sums) digits.push_back(sum.normal());
    return {digits, found.not_finite};
}

template <class Real>
void combine(const Strided<Real>& target, const std::vector<std::pair<double, Strided<const Real>>>& terms,
             Team& team) {
    kernel::Terms<Real> all;
    for (const auto& [factor, field] : terms) all.emplace_back(factor, view_of(field));
    const View<Real> to = view_of(target);
    const nb::gil_scoped_release release;
    kernel::combine(to, all, team);
}

// Nothing is converted: a copy would be worked on in the place of the array.
template <class Real>
void bind_solver_loops(nb::module_& module) {
    module.def(
        "helmholtz", &helmholtz<Real>, "field"_a.noconvert(), "factors"_a.noconvert(), "out"_a.noconvert(), "team"_a,
        "out = A field, [z][y][x]; the field has one point more on all four sides. Factors in blocks of 8 points of a "
        "row, [z][y][x / 8][15][x % 8]: for the\n"
        "columns (x, y), (x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1) those of the levels z, z - 1, z + 1; in\n"
        "place of the level below the lowest stands the third from below, and alike above. Raises InputError.");
    module.def(
        "solve_columns", &solve_columns<Real>, "right"_a.noconvert(), "factors"_a.noconvert(), "solution"_a.noconvert(),
        "team"_a, "minus"_a.noconvert() = nb::none(), "plus"_a.noconvert() = nb::none(),
        "Solve a tridiagonal system for each column of [z][y][x]: right - minus is its right-hand side, and plus\n"
        "is added to its solution. Factors [z][y][x / 8][3][x % 8]: that of the point below, 1 / pivot, and that of "
        "the point\n"
        "above times 1 / pivot. Raises InputError.");
    module.def("products", &products<Real>, "pairs"_a.noconvert(), "team"_a,
               "Return the scalar products of pairs of fields [z][y][x], in one sweep. Raises InputError.");
    module.def(
        "exact_products", &exact_products<Real>, "pairs"_a.noconvert(), "team"_a,
        "Return the scalar products of pairs of fields as exact sums of rounded terms, the sum of\n"
        "digit[i] * 2^(32 i - 1074) each, and the number of terms that are not finite, which are left out. Raises\n"
        "InputError.");
    module.def(
        "combine", &combine<Real>, "target"_a.noconvert(), "terms"_a, "team"_a,
        "target = the sum of factors times fields [z][y][x], 1 to 8 pairs; the target may be one of the fields.\n"
        "Raises InputError.");
}

}  // namespace

void bind_solver(nb::module_& module) {
    bind_solver_loops<double>(module);
    bind_solver_loops<float>(module);
}

}  // namespace tradewind::python
