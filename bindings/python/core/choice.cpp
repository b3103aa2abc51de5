// Method of a plan for its exchange, and tuning files: the rules that all languages share.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "../errors.hpp"
#include "algorithm/tuning.hpp"
#include "bind.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

void bind_choice(nb::module_& module) {
    module.def(
        "choose_method",
        [](std::shared_ptr<pattern::Pattern> pattern, const std::array<std::string, 3>& asked,
           const std::string& environment, const std::pair<std::string, nb::bytes>& tuning, const std::string& dtype,
           Index fields, const std::string& memory,
           const std::optional<std::tuple<std::string, std::string, Index>>& host) {
            const std::string& origin = tuning.first;
            const std::string file(tuning.second.c_str(), tuning.second.size());
            const auto tuned = [&]() -> std::optional<algorithm::TunedMethod> {
                if (file.empty()) return {};
                std::optional<Host> here;
                if (host) here = std::make_from_tuple<Host>(*host);
                return algorithm::tuned_method(file, origin, *pattern, dtype, fields, memory, here);
            };
            const auto chosen = algorithm::choose_method(pattern, {asked[0], asked[1], asked[2]}, environment, tuned);
            const auto texts = [](const algorithm::Method& method) {
                return std::array{text_of(method.algorithm), text_of(method.transport), text_of(method.packing)};
            };
            return std::tuple(texts(chosen.method), texts(chosen.origin), text_of(chosen.warning));
        },
        "pattern"_a, "asked"_a, "environment"_a, "tuning"_a, "dtype"_a, "fields"_a, "memory"_a, "host"_a,
        "The method for a pattern, where each part came from (\"argument\", the variable, the file, or \"default\"), "
        "and a warning. `asked`: algorithm, transport and packing. `environment`: the text of the pattern's variable. "
        "`tuning`: what errors call the setting of the tuning file, and its bytes. Raises InputError for what cannot "
        "be.");
    module.def("tuning_request", &algorithm::tuning_request, "pattern"_a, "dtype"_a, "fields"_a, "memory"_a,
               "The keys and values of a request for a plan, by which an entry of a tuning file is found.");
    module.def(
        "kept_entries",
        [](const nb::bytes& path, const std::string& text) {
            const std::string kept = algorithm::kept_entries({path.c_str(), path.size()}, text);
            return nb::bytes(kept.data(), kept.size());
        },
        "path"_a, "text"_a,
        "The text of those entries of a tuning file that none of the entries of `text` replaces. Raises InputError "
        "with "
        "what is wrong in the file, each mistake with its line.");
    module.def("cpu_name", &cpu_name, "Return the name of this processor, as the system gives it.");
}

}  // namespace tradewind::python
