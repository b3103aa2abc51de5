#pragma once

#include <nanobind/nanobind.h>

namespace tradewind {

void bind_points(nanobind::module_& module);

}  // namespace tradewind
