#include "kernel/nekbone/elements.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "bind.hpp"
#include "kernel/nekbone/conjugate_gradients.hpp"
#include "kernel/nekbone/element_sums.hpp"
#include "kernel/nekbone/preconditioners.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

// A namespace of its own, as several files of bindings are compiled as one.
namespace elements {

namespace {

using kernel::ElementBrick;
using kernel::Elements;
using kernel::Operator;
using kernel::Team;

template <class T>
using Values = nb::ndarray<T, nb::c_contig, nb::device::cpu>;
template <class T>
using List = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = List<std::int32_t>;

template <class A>
auto span_of(const A& array) {
    return std::span(array.data(), array.size());
}

// Throws InputError for another number of values.
template <class A>
auto data_of(const char* what, const A& values, Index wanted) {
    if (static_cast<Index>(values.size()) != wanted)
        throw InputError(std::string(what) + ": " + std::to_string(values.size()) +
                         " values: " + std::to_string(wanted) + " are allowed");
    return values.data();
}

// An operator, and the arrays that it is made of.
template <class Real>
class Bound {
  public:
    Bound(const Elements& elements, double shift, std::optional<Values<const Real>> factors,
          std::optional<Values<const Real>> mass, bool closes_first_only)
        : factors_(std::move(factors)), mass_(std::move(mass)) {
        by.elements = &elements;
        by.shift = shift;
        by.closes_first_only = closes_first_only;
        if (factors_) by.factors = data_of("factors", *factors_, 6 * size());
        if (mass_) by.mass = data_of("mass", *mass_, size());
    }

    Index size() const { return by.elements->count() * by.elements->volume(); }
    const Real* data(const char* what, const Values<const Real>& values) const { return data_of(what, values, size()); }
    Real* data(const char* what, const Values<Real>& values) const { return data_of(what, values, size()); }

    Operator<Real> by;

  private:
    std::optional<Values<const Real>> factors_, mass_;
};

template <class Real>
std::span<const std::int32_t> which_of(const Bound<Real>& bound, const Numbers& which) {
    const auto span = span_of(which);
    const Index count = bound.by.elements->count();
    for (const std::int32_t element : span)
        if (element < 0 || element >= count)
            throw InputError("element " + std::to_string(element) + ": 0.." + std::to_string(count - 1) +
                             " are allowed");
    return span;
}

template <class Real>
void apply(const Bound<Real>& bound, const Numbers& which, const Values<const Real>& u, const Values<Real>& out,
           Team& team) {
    const auto elements = which_of(bound, which);
    const Real* from = bound.data("u", u);
    Real* to = bound.data("out", out);
    if (from == to) throw InputError("u and out are one array: the loop reads what it has written");
    const nb::gil_scoped_release release;
    kernel::apply(bound.by, elements, from, to, team);
}

template <class Real>
void apply_to_direction(const Bound<Real>& bound, const Numbers& which, double beta, const Values<const Real>& r,
                        const Values<Real>& p, const Values<Real>& out, const Values<double>& sums, Team& team) {
    const auto elements = which_of(bound, which);
    const Real* residual = bound.data("r", r);
    Real *direction = bound.data("p", p), *to = bound.data("out", out);
    double* sum = data_of("sums", sums, bound.by.elements->count());
    if (direction == to) throw InputError("p and out are one array: the loop reads what it has written");
    const nb::gil_scoped_release release;
    kernel::apply_to_direction(bound.by, elements, beta, residual, direction, to, sum, team);
}

template <class Real>
void update(const Bound<Real>& bound, double alpha, const Values<const Real>& p, const Values<Real>& out,
            const Values<Real>& x, const Values<Real>& r, const Values<double>& sums, Team& team) {
    const Real* direction = bound.data("p", p);
    Real *product = bound.data("out", out), *solution = bound.data("x", x), *residual = bound.data("r", r);
    double* sum = data_of("sums", sums, bound.by.elements->count());
    const nb::gil_scoped_release release;
    kernel::update(bound.by, alpha, direction, product, solution, residual, sum, team);
}

template <class Real>
void update_pipelined(const Bound<Real>& bound, double alpha, double beta, const Values<Real>& q,
                      const std::array<Values<Real>, 6>& vectors, const Values<double>& sums, Team& team) {
    static constexpr std::array<const char*, 6> names{"x", "r", "w", "p", "s", "z"};
    std::array<Real*, 6> found{};
    for (std::size_t i = 0; i < names.size(); ++i) found[i] = bound.data(names[i], vectors[i]);
    Real* product = bound.data("q", q);
    double* sum = data_of("sums", sums, 2 * bound.by.elements->count());
    const nb::gil_scoped_release release;
    const kernel::Pipelined<Real> all{found[0], found[1], found[2], found[3], found[4], found[5]};
    kernel::update_pipelined(bound.by, alpha, beta, product, all, sum, team);
}

template <class Real>
void sum_by_lists(const List<std::int64_t>& offsets, const Numbers& places, const Values<Real>& values, Team& team) {
    const auto begin = span_of(offsets);
    const auto at = span_of(places);
    const auto count = static_cast<Index>(values.size()), most = static_cast<Index>(at.size());
    for (std::size_t i = 0; i + 1 < begin.size(); ++i)
        if (begin[i] < 0 || begin[i] >= begin[i + 1] || begin[i + 1] > most)
            throw InputError("offsets: ascending ones of 0.." + std::to_string(most) + " are allowed");
    for (const std::int32_t place : at)
        if (place < 0 || place >= count)
            throw InputError("place " + std::to_string(place) + ": 0.." + std::to_string(count - 1) + " are allowed");
    Real* to = values.data();
    const nb::gil_scoped_release release;
    kernel::sum_shared_by_lists(begin, at, to, team);
}

template <class Real>
void sum_by_strides(const ElementBrick& brick, const Values<Real>& values, Team& team) {
    const Index n = brick.points;
    Real* to = data_of("values", values, brick.elements[0] * brick.elements[1] * brick.elements[2] * n * n * n);
    const nb::gil_scoped_release release;
    kernel::sum_shared_by_strides(brick, to, team);
}

// Subdomains, and the arrays that they are made of.
template <class Real>
class BoundSubdomains {
  public:
    BoundSubdomains(const Elements& elements, const Numbers& kinds, Values<const Real> vectors,
                    Values<const Real> transposed, Values<const Real> values, double shift, Values<const Real> weights)
        : kinds_(kinds),
          vectors_(std::move(vectors)),
          transposed_(std::move(transposed)),
          values_(std::move(values)),
          weights_(std::move(weights)) {
        const Index m = elements.points() + 2, count = static_cast<Index>(values_.size()) / m;
        by.elements = &elements;
        by.kinds = data_of("kinds", kinds_, 3 * elements.count());
        by.values = data_of("values", values_, count * m);
        by.vectors = data_of("vectors", vectors_, count * m * m);
        by.transposed = data_of("transposed", transposed_, count * m * m);
        by.weights = data_of("weights", weights_, size());
        by.shift = shift;
        for (const std::int32_t kind : span_of(kinds_))
            if (kind < 0 || kind >= count)
                throw InputError("kind " + std::to_string(kind) + ": 0.." + std::to_string(count - 1) + " are allowed");
        if (elements.points() < 3)
            throw InputError("points " + std::to_string(elements.points()) + ": 3 or more have a layer inside a side");
    }

    Index size() const { return by.elements->count() * by.elements->volume(); }
    Index layers() const { return by.elements->count() * 6 * by.elements->points() * by.elements->points(); }

    kernel::Subdomains<Real> by;

  private:
    Numbers kinds_;
    Values<const Real> vectors_, transposed_, values_, weights_;
};

template <class Real>
void bind_subdomains(nb::module_& module, const char* name) {
    using Bound = BoundSubdomains<Real>;
    using From = Values<const Real>;
    using To = Values<Real>;
    nb::class_<Bound>(module, name,
                      "Overlapping subdomains of the additive Schwarz method: an element and the first inner layer of\n"
                      "each one beyond its sides, solved by fast diagonalisation as a brick.")
        .def(nb::init<const Elements&, const Numbers&, From, From, From, double, From>(), "elements"_a, "kinds"_a,
             "vectors"_a.noconvert(), "transposed"_a.noconvert(), "values"_a.noconvert(), "shift"_a,
             "weights"_a.noconvert(), nb::keep_alive<1, 2>(),
             "kinds [element * 3]: the problem along x, y, z; by kind, on m = points + 2 points: eigenvectors\n"
             "[point][mode], their transpose, eigenvalues [mode]; shift: is added to the sum of three of these; "
             "weights\n"
             "[element][point] multiply the residual before and the result after.")
        .def(
            "take_layers",
            [](const Bound& bound, const From& r, const To& faces, Team& team) {
                const Real* from = data_of("r", r, bound.size());
                Real* to = data_of("faces", faces, bound.layers());
                const nb::gil_scoped_release release;
                kernel::take_layers(bound.by, from, to, team);
            },
            "r"_a.noconvert(), "faces"_a.noconvert(), "team"_a,
            "faces [element][6][point] = the weighted layer of r inside each open side, else 0.")
        .def(
            "solve",
            [](const Bound& bound, const From& r, const To& faces, const To& z, Team& team) {
                const Real* from = data_of("r", r, bound.size());
                Real *layers = data_of("faces", faces, bound.layers()), *to = data_of("z", z, bound.size());
                const nb::gil_scoped_release release;
                kernel::solve_subdomains(bound.by, from, layers, to, team);
            },
            "r"_a.noconvert(), "faces"_a.noconvert(), "z"_a.noconvert(), "team"_a,
            "z = the solution of each subdomain in its element, faces that beyond its sides; in, faces is the sum of\n"
            "both elements' layers. Own layers are subtracted from z, where `add_layers` adds the sum of both.")
        .def(
            "add_layers",
            [](const Bound& bound, const To& faces, const To& z, Team& team) {
                const Real* from = data_of("faces", faces, bound.layers());
                Real* to = data_of("z", z, bound.size());
                const nb::gil_scoped_release release;
                kernel::add_layers(*bound.by.elements, from, to, team);
            },
            "faces"_a.noconvert(), "z"_a.noconvert(), "team"_a, "z += the layers inside each open side.");
}

ElementBrick brick_of(int points, const std::array<Index, 3>& elements, const std::array<std::array<bool, 2>, 3>& on) {
    if (points < Elements::minimum_points || points > Elements::maximum_points)
        throw InputError("points " + std::to_string(points) + ": " + std::to_string(Elements::minimum_points) + ".." +
                         std::to_string(Elements::maximum_points) + " are allowed");
    for (const Index count : elements)
        if (count < 1 || count > 1'000'000)
            throw InputError("elements " + std::to_string(count) + ": 1..1000000 along an axis are allowed");
    return {points, elements, on};
}

// The loops over fields of a precision that are no methods of an operator.
template <class Real>
void bind_loops(nb::class_<Elements>& elements, nb::class_<ElementBrick>& brick, nb::module_& module) {
    elements
        .def(
            "factors",
            [](const Elements& elements, const Values<Real>& out, Team& team) {
                kernel::geometric_factors(elements, data_of("out", out, 6 * elements.count() * elements.volume()),
                                          team);
            },
            "out"_a.noconvert(), "team"_a,
            "out [element][6][point] = the upper triangle, by rows, of the metric with the weights of quadrature.")
        .def(
            "mass",
            [](const Elements& elements, const Values<Real>& out, Team& team) {
                kernel::element_mass(elements, data_of("out", out, elements.count() * elements.volume()), team);
            },
            "out"_a.noconvert(), "team"_a, "out [element][point] = the diagonal mass matrix.")
        .def(
            "dot",
            [](const Elements& elements, const Values<const Real>& a, const Values<const Real>& b,
               const Values<double>& sums, Team& team) {
                const Index size = elements.count() * elements.volume();
                const Real *one = data_of("a", a, size), *other = data_of("b", b, size);
                double* to = data_of("sums", sums, elements.count());
                const nb::gil_scoped_release release;
                kernel::dot(elements, one, other, to, team);
            },
            "a"_a.noconvert(), "b"_a.noconvert(), "sums"_a.noconvert(), "team"_a,
            "sums[element] = the element's part of the product of two fields; each point counts once.")
        .def(
            "scale",
            [](const Elements& elements, const Values<const Real>& factors, const Values<const Real>& from,
               const Values<const Real>& r, const Values<Real>& z, const Values<double>& sums, Team& team) {
                const Index size = elements.count() * elements.volume();
                const Real *by = data_of("factors", factors, size), *source = data_of("source", from, size),
                           *residual = data_of("r", r, size);
                Real* to = data_of("z", z, size);
                double* sum = data_of("sums", sums, elements.count());
                const nb::gil_scoped_release release;
                kernel::scale(elements, by, source, residual, to, sum, team);
            },
            "factors"_a.noconvert(), "source"_a.noconvert(), "r"_a.noconvert(), "z"_a.noconvert(), "sums"_a.noconvert(),
            "team"_a, "z = factors source, sums[element] = the element's part of r z; each point counts once.")
        .def(
            "set_boundary",
            [](const Elements& elements, const Values<Real>& u, Team& team) {
                kernel::set_boundary(elements, data_of("u", u, elements.count() * elements.volume()), team);
            },
            "u"_a.noconvert(), "team"_a, "Set the values on the boundary to 0.");
    brick.def("sum_shared", &sum_by_strides<Real>, "values"_a.noconvert(), "team"_a,
              "Values of points that only elements of this rank share become their sums, along x, then y, then z.");
    module.def("sum_by_lists", &sum_by_lists<Real>, "offsets"_a, "places"_a, "values"_a.noconvert(), "team"_a,
               "Values at places[offsets[i]], ..., places[offsets[i + 1] - 1] become their sum, for each i.");
}

template <class Real>
void bind_operator(nb::module_& module, const char* name) {
    using Operators = Bound<Real>;
    nb::class_<Operators>(
        module, name,
        "-div grad u + shift u on spectral elements: its second part by the diagonal mass matrix\n"
        "[element][point], or, without one, shift times the values themselves. factors: see\n"
        "`Elements.factors`; None: computed anew in each call. closes_first_only: results are set to 0 on the\n"
        "boundary in the first element alone, as Nekbone does after its first call.")
        .def(nb::init<const Elements&, double, std::optional<Values<const Real>>, std::optional<Values<const Real>>,
                      bool>(),
             "elements"_a, "shift"_a, "factors"_a.noconvert().none() = nb::none(),
             "mass"_a.noconvert().none() = nb::none(), "closes_first_only"_a = false, nb::keep_alive<1, 2>())
        .def("apply", &apply<Real>, "which"_a, "u"_a.noconvert(), "out"_a.noconvert(), "team"_a,
             "out = A u in some elements, not summed over elements, and without the shift of an operator that has no\n"
             "mass.")
        .def("apply_to_direction", &apply_to_direction<Real>, "which"_a, "beta"_a, "r"_a.noconvert(), "p"_a.noconvert(),
             "out"_a.noconvert(), "sums"_a.noconvert(), "team"_a,
             "p = r + beta p, out = A p as by `apply`, sums[element] = the element's part of p A p.")
        .def(
            "complete",
            [](const Operators& bound, const Values<const Real>& p, const Values<Real>& out, Team& team) {
                const Real* from = bound.data("p", p);
                Real* to = bound.data("out", out);
                const nb::gil_scoped_release release;
                kernel::complete(bound.by, from, to, team);
            },
            "p"_a.noconvert(), "out"_a.noconvert(), "team"_a,
            "out = A p, of out from `apply` that has been summed over elements.")
        .def("update", &update<Real>, "alpha"_a, "p"_a.noconvert(), "out"_a.noconvert(), "x"_a.noconvert(),
             "r"_a.noconvert(), "sums"_a.noconvert(), "team"_a,
             "x += alpha p, r -= alpha A p, sums[element] = the element's part of r r; out as in `complete`.")
        .def("update_pipelined", &update_pipelined<Real>, "alpha"_a, "beta"_a, "q"_a.noconvert(),
             "vectors"_a.noconvert(), "sums"_a.noconvert(), "team"_a,
             "A step of pipelined conjugate gradients on the vectors x, r, w, p, s, z, with q = A w as out in\n"
             "`complete`: z = q + beta z, s = w + beta s, p = r + beta p, x += alpha p, r -= alpha s, w -= alpha z;\n"
             "sums [2][element]: parts of r r and w r.");
}

void bind_all(nb::module_& module) {
    nb::class_<Elements> elements(module, "Elements",
                                  "A rank's hexahedral spectral elements, trilinear between their vertices.");
    elements
        .def(
            "__init__",
            [](Elements* self, const List<double>& nodes, const List<double>& weights, const Values<const double>& by,
               const Values<const double>& vertices, const List<std::uint8_t>& open) {
                new (self) Elements(span_of(nodes), span_of(weights), span_of(by), span_of(vertices), span_of(open));
            },
            "nodes"_a, "weights"_a, "derivative"_a, "vertices"_a, "open"_a,
            "nodes, weights [n] of quadrature, derivative [n][n]; vertices [element][8][3], x fastest; open\n"
            "[element]: bit 2 d + s set where another element lies beyond the side s along d, else the solution is 0\n"
            "there. Raises InputError, also for an element that is inside out.")
        .def_prop_ro("points", &Elements::points, "Points in each direction of an element.")
        .def_prop_ro("count", &Elements::count);
    nb::class_<ElementBrick> brick(module, "ElementBrick", "How a rank's elements lie: a brick, x fastest.");
    brick.def(
        "__init__",
        [](ElementBrick* self, int points, const std::array<Index, 3>& elements,
           const std::array<std::array<bool, 2>, 3>& beyond) {
            new (self) ElementBrick(brick_of(points, elements, beyond));
        },
        "points"_a, "elements"_a, "beyond"_a,
        "elements along x, y, z; beyond [axis][low, high]: whether elements of other ranks lie there.");
    bind_loops<double>(elements, brick, module);
    bind_loops<float>(elements, brick, module);
    bind_operator<double>(module, "ElementOperator");
    bind_operator<float>(module, "SingleElementOperator");
    bind_subdomains<double>(module, "Subdomains");
    bind_subdomains<float>(module, "SingleSubdomains");
}

}  // namespace

}  // namespace elements

void bind_elements(nb::module_& module) {
    elements::bind_all(module);
}

}  // namespace tradewind::python
