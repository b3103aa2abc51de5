#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "bind.hpp"
#include "kernel/spectral/legendre.hpp"
#include "kernel/spectral/spectral.hpp"
#include "spectral/balance.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

namespace {

using kernel::Gaussian;
template <class Number, int axes>
using Dense = nb::ndarray<Number, nb::ndim<axes>, nb::c_contig, nb::device::cpu>;
template <class Real>
using FourierRows = nb::ndarray<std::complex<Real>, nb::ndim<2>, nb::device::cpu>;  // any strides

template <class Number>
nb::ndarray<nb::numpy, double, nb::ndim<1>> rounded(const std::vector<Number>& values) {
    auto* copy = new std::vector<double>(values.begin(), values.end());
    const nb::capsule owner(copy, [](void* kept) noexcept { delete static_cast<std::vector<double>*>(kept); });
    return {copy->data(), {copy->size()}, owner};
}

void require(bool fits, const char* what) {
    if (!fits) throw InputError(std::string(what) + ": the shapes of the arrays do not fit each other");
}

template <class Real>
kernel::Row<Real> row_of(const FourierRows<Real>& row) {
    require(row.stride(1) == 1 || row.shape(1) < 2, "a row of Fourier coefficients");
    return {row.data(), static_cast<Index>(row.shape(0)), static_cast<Index>(row.shape(1)),
            static_cast<Index>(row.stride(0))};
}

template <class Real>
kernel::ByWavenumber<Real> wavenumbers_of(const Dense<std::complex<Real>, 2>& values,
                                          const Dense<const Index, 1>& places, const kernel::Row<Real>& row,
                                          double mean_factor, double factor) {
    const auto kept = static_cast<Index>(places.shape(0)), size = static_cast<Index>(values.shape(0));
    require(kept <= row.wavenumbers && static_cast<Index>(values.shape(1)) == row.fields,
            "Fourier coefficients by wavenumber");
    const Index* place = places.data();
    require(std::all_of(place, place + kept, [size](Index at) { return 0 <= at && at < size; }),
            "places of Fourier coefficients");
    return {values.data(), place, kept, mean_factor, factor};
}

template <class Real>
void spread_row(const FourierRows<Real>& row, const Dense<std::complex<Real>, 2>& values,
                const Dense<const Index, 1>& places, double mean_factor, double factor) {
    const kernel::Row<Real> from = row_of(row);
    const kernel::ByWavenumber<Real> to = wavenumbers_of(values, places, from, mean_factor, factor);
    const nb::gil_scoped_release release;
    kernel::spread_row(from, to);
}

template <class Real>
void collect_row(const Dense<std::complex<Real>, 2>& values, const Dense<const Index, 1>& places,
                 const FourierRows<Real>& row, double mean_factor, double factor) {
    const kernel::Row<Real> to = row_of(row);
    const kernel::ByWavenumber<Real> from = wavenumbers_of(values, places, to, mean_factor, factor);
    const nb::gil_scoped_release release;
    kernel::collect_row(from, to);
}

// Latitudes and numbers per row, once the three arrays fit each other.
template <class Real>
std::pair<Index, Index> parity_shape(const Dense<Real, 2>& rows, const Dense<Real, 2>& even,
                                     const Dense<Real, 2>& odd) {
    require(rows.shape(0) == 2 * even.shape(0) && odd.shape(0) == even.shape(0) && rows.shape(1) == even.shape(1) &&
                rows.shape(1) == odd.shape(1),
            "rows and parities");
    return {static_cast<Index>(even.shape(0)), static_cast<Index>(even.shape(1))};
}

template <class Real>
void split_parities(const Dense<Real, 2>& rows, const Dense<Real, 2>& even, const Dense<Real, 2>& odd) {
    const auto [latitudes, width] = parity_shape(rows, even, odd);
    const nb::gil_scoped_release release;
    kernel::split_parities(rows.data(), latitudes, width, even.data(), odd.data());
}

template <class Real>
void join_parities(const Dense<Real, 2>& even, const Dense<Real, 2>& odd, const Dense<Real, 2>& rows) {
    const auto [latitudes, width] = parity_shape(rows, even, odd);
    const nb::gil_scoped_release release;
    kernel::join_parities(even.data(), odd.data(), latitudes, width, rows.data());
}

void legendre(const Gaussian& gaussian, Index first, Index m, Index top, const Dense<double, 1>& values,
              std::optional<Index> end) {
    const nb::gil_scoped_release release;
    kernel::legendre(gaussian, first, end.value_or(gaussian.latitudes()), m, top, values.data(),
                     static_cast<Index>(values.shape(0)));
}

// Nothing is converted: a copy would be worked on in the place of the array.
template <class Real>
void bind_copies(nb::module_& module) {
    module.def("spread_row", &spread_row<Real>, "row"_a.noconvert(), "values"_a.noconvert(), "places"_a.noconvert(),
               "mean_factor"_a, "factor"_a,
               "Copy Fourier coefficients of a row [field][wavenumber] to values[places[m]][field], times a factor.");
    module.def("collect_row", &collect_row<Real>, "values"_a.noconvert(), "places"_a.noconvert(), "row"_a.noconvert(),
               "mean_factor"_a, "factor"_a,
               "Copy values[places[m]][field], times a factor, to a row [field][wavenumber]; the others become 0.");
    module.def("split_parities", &split_parities<Real>, "rows"_a.noconvert(), "even"_a.noconvert(), "odd"_a.noconvert(),
               "Sums (even) and differences (odd) of the rows of both hemispheres, which lie from north to south.");
    module.def("join_parities", &join_parities<Real>, "even"_a.noconvert(), "odd"_a.noconvert(), "rows"_a.noconvert(),
               "FourierRows of both hemispheres, from north to south, of their sums and differences.");
}

}  // namespace

void bind_spectral(nb::module_& module) {
    nb::class_<Gaussian>(module, "Gaussian",
                         "Gaussian latitudes of one hemisphere, from the pole to the equator, in more digits than a\n"
                         "double has; the arrays are rounded. Raises InputError for a number that cannot be.")
        .def(
            "__init__",
            [](Gaussian* self, Index latitudes) { new (self) Gaussian(kernel::gaussian_latitudes(latitudes)); },
            "latitudes"_a)
        .def_prop_ro("latitudes", &Gaussian::latitudes)
        .def_prop_ro(
            "colatitude", [](const Gaussian& g) { return rounded(g.colatitude); }, nb::rv_policy::automatic, "Radians.")
        .def_prop_ro(
            "sine", [](const Gaussian& g) { return rounded(g.sine); }, nb::rv_policy::automatic,
            "Sine of the colatitude.")
        .def_prop_ro(
            "versine", [](const Gaussian& g) { return rounded(g.versine); }, nb::rv_policy::automatic,
            "1 - the sine of the latitude.")
        .def_prop_ro(
            "weight", [](const Gaussian& g) { return rounded(g.weight); }, nb::rv_policy::automatic,
            "Shares of the sphere; those of both hemispheres together are 1.");
    module.def(
        "legendre", &legendre, "gaussian"_a, "first_row"_a, "m"_a, "top"_a, "values"_a.noconvert(),
        "end"_a = nb::none(),
        "Compute P(n, m), n = m..top, at the latitudes from `first` to before `end`, to the equator unless given,\n"
        "normalised to mean square 1 over the sphere: values are [n - m even][latitude], then [n - m odd][latitude].");
    nb::class_<kernel::LegendreRecurrence>(module, "LegendreRecurrence",
                                           "P(n, m) of a wavenumber, n = m..top, as of `legendre`, a few degrees at a "
                                           "time.")
        .def(nb::init<const Gaussian&, Index, Index>(), "gaussian"_a, "m"_a, "top"_a, nb::keep_alive<1, 2>(),
             nb::call_guard<nb::gil_scoped_release>())
        .def("start", &kernel::LegendreRecurrence::start, "first_row"_a, "end"_a,
             nb::call_guard<nb::gil_scoped_release>(), "Go to n = m at the latitudes from `first_row` to before `end`.")
        .def(
            "next",
            [](kernel::LegendreRecurrence& self, Index degrees, const Dense<double, 1>& values) {
                const nb::gil_scoped_release release;
                self.next(degrees, values.data(), static_cast<Index>(values.shape(0)));
            },
            "degrees"_a, "values"_a.noconvert(),
            "Compute the next degrees: values are [first, third, ... degree][latitude], then those between them.");
    module.def(
        "negligible_latitudes", &kernel::negligible_latitudes, "gaussian"_a, "m"_a, "top"_a,
        "Return the number of latitudes, from the pole on, at which P(n, m) is below 2^-100 for all n = m..top.");
    bind_copies<double>(module);
    bind_copies<float>(module);
    module.def("packed", &spectral::packed, "weights"_a, "sets"_a, nb::call_guard<nb::gil_scoped_release>(),
               "Return items dealt to sets with loads as equal as a good packing makes them, each list ascending.");
    module.def("even_cuts", &spectral::even_cuts, "weights"_a, "parts"_a,
               "Return where to cut a sequence so that the largest part is as small as whole entries allow.");
}

}  // namespace tradewind::python
