#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "sim/network.hpp"
#include "sim/rank.hpp"
#include "sim/simulate.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind {

namespace {

using StepTuple = std::tuple<std::string, std::shared_ptr<Schedule>, int>;
using Progress = std::function<void(double, std::int64_t)>;

Program program(const std::vector<StepTuple>& steps, std::int64_t bytes_per_point) {
    std::vector<Step> made;
    for (const auto& [name, schedule, repeat] : steps) made.push_back({name, schedule, repeat});
    return {std::move(made), bytes_per_point};
}

SimulationOptions options(std::int64_t packet_bytes, int threads, std::uint64_t seed, bool adaptive,
                          Progress progress) {
    SimulationOptions options{{packet_bytes}, threads, seed, adaptive, {}};
    if (progress)
        options.progress = [progress = std::move(progress)](Picoseconds time, Bytes bytes) {
            const nb::gil_scoped_acquire gil;
            progress(time.seconds(), bytes.value);
            return PyErr_CheckSignals() == 0;
        };
    else
        options.progress = [](Picoseconds, Bytes) {
            const nb::gil_scoped_acquire gil;
            return PyErr_CheckSignals() == 0;
        };
    return options;
}

nb::ndarray<nb::numpy, std::uint64_t, nb::ndim<1>> array(const std::vector<std::uint64_t>& values) {
    auto* copy = new std::vector<std::uint64_t>(values);
    nb::capsule owner(copy, [](void* p) noexcept { delete static_cast<std::vector<std::uint64_t>*>(p); });
    return {copy->data(), {copy->size()}, owner};
}

template <SimulationResult (*Simulate)(const Machine&, const Program&, const Placement&, const SimulationOptions&)>
SimulationResult run(const Machine& machine, const std::vector<StepTuple>& steps, std::int64_t bytes_per_point,
                     const Placement& placement, std::int64_t packet_bytes, int threads, std::uint64_t seed,
                     Progress progress, bool adaptive) {
    const Program made = program(steps, bytes_per_point);
    const SimulationOptions chosen = options(packet_bytes, threads, seed, adaptive, std::move(progress));
    const nb::gil_scoped_release release;
    return Simulate(machine, made, placement, chosen);
}

}  // namespace

void bind_simulation(nb::module_& module) {
    nb::class_<SimulationResult>(module, "SimulationResult")
        .def_prop_ro("time_s", [](const SimulationResult& r) { return r.time.seconds(); })
        .def_prop_ro("time_ps", [](const SimulationResult& r) { return r.time.value; })
        .def_prop_ro("step_end_s",
                     [](const SimulationResult& r) {
                         std::vector<double> ends;
                         for (const Picoseconds end : r.step_end) ends.push_back(end.seconds());
                         return ends;
                     })
        .def_ro("messages", &SimulationResult::messages)
        .def_ro("bytes", &SimulationResult::bytes)
        .def_ro("packet_hops", &SimulationResult::packet_hops)
        .def_ro("windows", &SimulationResult::windows)
        .def_ro("solo_windows", &SimulationResult::solo_windows)
        .def_prop_ro("bound_s", [](const SimulationResult& r) { return r.bound.seconds(); })
        .def_ro("bound_by", &SimulationResult::bound_by)
        .def_ro("imbalance", &SimulationResult::imbalance)
        .def_prop_ro("delay_counts",
                     [](const SimulationResult& r) {
                         return std::vector<std::uint64_t>(r.delay.counts.begin(), r.delay.counts.end());
                     })
        .def_prop_ro(
            "port_bytes", [](const SimulationResult& r) { return array(r.port_bytes); }, nb::rv_policy::reference,
            "Bytes that each port of each switch has sent, [switch * radix + port].")
        .def_prop_ro(
            "nic_bytes", [](const SimulationResult& r) { return array(r.nic_bytes); }, nb::rv_policy::reference,
            "Bytes that each node has injected, [node].");
    nb::class_<Forecast>(module, "Forecast")
        .def_ro("messages", &Forecast::messages)
        .def_ro("bytes", &Forecast::bytes)
        .def_ro("packet_hops", &Forecast::packet_hops)
        .def_ro("memory_bytes", &Forecast::memory_bytes);
    module.def("simulate_packets", &run<simulate_packets>, "machine"_a, "steps"_a, "bytes_per_point"_a, "placement"_a,
               "packet_bytes"_a, "threads"_a, "seed"_a, "progress"_a.none() = nb::none(), "adaptive"_a = true);
    module.def("simulate_loggp", &run<simulate_loggp>, "machine"_a, "steps"_a, "bytes_per_point"_a, "placement"_a,
               "packet_bytes"_a, "threads"_a, "seed"_a, "progress"_a.none() = nb::none(), "adaptive"_a = true);
    module.def(
        "forecast",
        [](const Machine& machine, const std::vector<StepTuple>& steps, std::int64_t bytes_per_point,
           const Placement& placement, std::int64_t packet_bytes) {
            return forecast(machine, program(steps, bytes_per_point), placement, {{packet_bytes}, 1, 1, true, {}});
        },
        "machine"_a, "steps"_a, "bytes_per_point"_a, "placement"_a, "packet_bytes"_a);
    module.def("delay_lower_edge_s", &DelayHistogram::lower_edge, "bin"_a);
    module.attr("largest_packet") = SimulationOptions::largest_packet;
    module.attr("rank_bytes") = sim::rank_bytes;
}

}  // namespace tradewind
