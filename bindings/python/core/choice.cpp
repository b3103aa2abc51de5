// Method of a plan for its exchange: the rules that all languages share.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "algorithm/tuning.hpp"
#include "bind.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

void bind_choice(nb::module_& module) {
    module.def(
        "choose_method",
        [](std::shared_ptr<pattern::Pattern> pattern, const std::string& algorithm, const std::string& transport,
           const std::string& packing, const std::string& environment,
           const std::function<std::optional<std::tuple<std::string, std::string, std::string, std::string>>()>&
               tuned) {
            const algorithm::ChosenMethod chosen =
                algorithm::choose_method(pattern, {algorithm, transport, packing}, environment, [&]() {
                    std::optional<algorithm::TunedMethod> found;
                    if (const auto entry = tuned()) {
                        const auto& [by, carried, packed, file] = *entry;
                        found = algorithm::TunedMethod{{by, carried, packed}, file, ""};
                    }
                    return found;
                });
            const auto texts = [](const algorithm::Method& method) {
                return std::array{method.algorithm, method.transport, method.packing};
            };
            return std::make_pair(texts(chosen.method), texts(chosen.origin));
        },
        "pattern"_a, "algorithm"_a, "transport"_a, "packing"_a, "environment"_a, "tuned"_a,
        "The method for a pattern, and where each part came from: \"argument\", the variable, the file, or "
        "\"default\". `environment`: the text of the pattern's variable. `tuned`: returns the method of a file, and "
        "its name; called where a part is open. Raises InputError.");
    module.def("tuning_request", &algorithm::tuning_request, "pattern"_a, "dtype"_a, "fields"_a, "memory"_a,
               "The keys and values of a request for a plan, by which an entry of a tuning file is found.");
    module.def(
        "tuned_method",
        [](const std::string& text, const std::string& path, bool strict, const pattern::Pattern& pattern,
           const std::string& dtype, Index fields, const std::string& memory,
           const std::tuple<std::string, std::string, Index>& host) {
            const auto& [cpu, mpi, ranks_per_node] = host;
            const auto found =
                algorithm::tuned_method({path, strict}, algorithm::read_tuning(text, path), pattern, dtype, fields,
                                        memory, algorithm::Host{cpu, mpi, ranks_per_node});
            std::optional<std::tuple<std::string, std::string, std::string, std::string>> method;
            if (found)
                method.emplace(found->method.algorithm, found->method.transport, found->method.packing, found->warning);
            return method;
        },
        "text"_a, "path"_a, "strict"_a, "pattern"_a, "dtype"_a, "fields"_a, "memory"_a, "host"_a,
        "Return what C, C++ and Fortran take from the text of a tuning file: algorithm, transport, packing, and a "
        "warning.");
    module.def("tuning_keys", &algorithm::tuning_keys, "pattern"_a,
               "The keys that C, C++ and Fortran know in an entry of a tuning file, and whether it may lack them.");
}

}  // namespace tradewind::python
