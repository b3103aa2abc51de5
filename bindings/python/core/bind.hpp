// One function per part of the core; each fills the module in the order of the folders of src/.
#pragma once

#include <nanobind/nanobind.h>

namespace tradewind::python {

void bind_layout(nanobind::module_& module);
void bind_pattern(nanobind::module_& module);
void bind_fetch(nanobind::module_& module);
void bind_gather_scatter(nanobind::module_& module);
void bind_schedule(nanobind::module_& module);
void bind_choice(nanobind::module_& module);
void bind_machine(nanobind::module_& module);
void bind_calls(nanobind::module_& module);
void bind_simulation(nanobind::module_& module);
void bind_kernel(nanobind::module_& module);
void bind_spectral(nanobind::module_& module);
void bind_solver(nanobind::module_& module);
void bind_limited_area(nanobind::module_& module);
void bind_mpdata(nanobind::module_& module);
void bind_semi_lagrangian(nanobind::module_& module);
void bind_semi_lagrangian_rows(nanobind::module_& module);
void bind_elements(nanobind::module_& module);
void bind_verify(nanobind::module_& module);

}  // namespace tradewind::python
