#include <nanobind/nanobind.h>

#include "../errors.hpp"
#include "base/error.hpp"
#include "bind.hpp"

namespace nb = nanobind;

NB_MODULE(_core, module) {
    module.doc() =
        "The compiled core of Tradewind: layouts, patterns, schedules, and what verifies and simulates them.";
    nb::set_leak_warnings(false);  // what is alive when the interpreter ends is not a leak
    // Errors of the core become those of tradewind.base.errors, which has one class a family.
    static nb::object input_error = nb::module_::import_("tradewind.base.errors").attr("InputError");
    static nb::object peer_error = nb::module_::import_("tradewind.base.errors").attr("PeerError");
    static nb::object verification_error = nb::module_::import_("tradewind.base.errors").attr("VerificationError");
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const tradewind::InputError& e) {
            tradewind::python::set_error(input_error.ptr(), e.what());
        } catch (const tradewind::VerificationError& e) {
            tradewind::python::set_error(verification_error.ptr(), e.what());
        } catch (const tradewind::PeerFailed& e) {
            tradewind::python::set_error(peer_error.ptr(), e.what());
        } catch (const tradewind::Interrupted&) {
            PyErr_SetNone(PyExc_KeyboardInterrupt);
        }
    });
    tradewind::python::bind_layout(module);
    tradewind::python::bind_pattern(module);
    tradewind::python::bind_fetch(module);
    tradewind::python::bind_gather_scatter(module);
    tradewind::python::bind_schedule(module);
    tradewind::python::bind_choice(module);
    tradewind::python::bind_machine(module);
    tradewind::python::bind_calls(module);
    tradewind::python::bind_simulation(module);
    tradewind::python::bind_kernel(module);
    tradewind::python::bind_spectral(module);
    tradewind::python::bind_solver(module);
    tradewind::python::bind_limited_area(module);
    tradewind::python::bind_mpdata(module);
    tradewind::python::bind_semi_lagrangian(module);
    tradewind::python::bind_semi_lagrangian_rows(module);
    tradewind::python::bind_elements(module);
    tradewind::python::bind_verify(module);
}
