#pragma once

#include <nanobind/nanobind.h>

namespace tradewind::python {

void bind_points(nanobind::module_& module);

}  // namespace tradewind::python
