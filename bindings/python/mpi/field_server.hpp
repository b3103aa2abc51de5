#pragma once

#include <nanobind/nanobind.h>

namespace tradewind::python {

void bind_field_server(nanobind::module_& module);

}  // namespace tradewind::python
