// Arrays of Python as the compiled loops see them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "kernel/array.hpp"

namespace tradewind::python {

namespace nb = nanobind;

template <class Real>
using Field = nb::ndarray<Real, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

template <class Real>
kernel::Array<Real> array_of(const Field<Real>& field) {
    return {
        field.data(),
        {static_cast<Index>(field.shape(2)), static_cast<Index>(field.shape(1)), static_cast<Index>(field.shape(0))}};
}

template <class Real>
using Plane = nb::ndarray<Real, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Real>
kernel::Array<Real> array_of(const Plane<Real>& plane) {
    return {plane.data(), {static_cast<Index>(plane.shape(1)), static_cast<Index>(plane.shape(0)), 1}};
}

using Line = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline kernel::Array<const double> array_of(const Line& line) {
    return {line.data(), {static_cast<Index>(line.shape(0)), 1, 1}};
}

}  // namespace tradewind::python
