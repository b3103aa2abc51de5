#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>
#include <tuple>

#include "bind.hpp"
#include "places.hpp"
#include "program/fingerprint.hpp"
#include "sim/busy_time.hpp"
#include "sim/clock.hpp"
#include "sim/critical_path.hpp"
#include "sim/mean_computing.hpp"
#include "sim/network.hpp"
#include "sim/rank.hpp"
#include "sim/simulate.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

namespace {

// As program::StepKind and sim::Progress count them.
constexpr const char* step_kinds[] = {"exchange", "start", "wait", "compute", "poke"};
constexpr const char* progress_kinds[] = {"calls", "pokes", "thread"};

sim::Progress progress_of(const std::string& name) {
    for (std::size_t k = 0; k < std::size(progress_kinds); ++k)
        if (name == progress_kinds[k]) return static_cast<sim::Progress>(k);
    throw InputError("progress '" + name + "': calls, pokes and thread are allowed");
}

// As TraceEventKind counts them.
constexpr const char* trace_event_kinds[] = {"stage",   "post", "compute", "match", "send", "copy",
                                             "arrival", "work", "start",   "wait",  "poke"};

using Progress = std::function<void(double, std::int64_t, std::int64_t)>;
using Enough = std::function<bool(const std::vector<double>&)>;

std::vector<double> seconds_of(const std::vector<Picoseconds>& times) {
    std::vector<double> seconds;
    for (const Picoseconds time : times) seconds.push_back(time.seconds());
    return seconds;
}

// No array: NumPy need not be loaded for it.
std::tuple<double, double, double> seconds_of(const sim::BusyTime& time) {
    return {1e-12 * static_cast<double>(time.sum), 1e-12 * static_cast<double>(time.minimum),
            1e-12 * static_cast<double>(time.maximum)};
}

sim::EarlyEnd early_end(int steps, std::vector<int> asked, Enough enough) {
    if (!enough) return {steps, std::move(asked), {}};
    return {steps, std::move(asked), [enough = std::move(enough)](const std::vector<Picoseconds>& ends) {
                const nb::gil_scoped_acquire gil;
                return enough(seconds_of(ends));
            }};
}

// Progress is reported with the GIL held; a signal may interrupt the simulation then.
void report_to(sim::SimulationOptions& options, Progress progress) {
    if (progress)
        options.progress = [progress = std::move(progress)](Picoseconds time, Bytes bytes, std::int64_t hops) {
            const nb::gil_scoped_acquire gil;
            progress(time.seconds(), bytes.value, hops);
            return PyErr_CheckSignals() == 0;
        };
    else
        options.progress = [](Picoseconds, Bytes, std::int64_t) {
            const nb::gil_scoped_acquire gil;
            return PyErr_CheckSignals() == 0;
        };
}

nb::ndarray<nb::numpy, std::uint64_t, nb::ndim<1>> array(const std::vector<std::uint64_t>& values) {
    auto* copy = new std::vector<std::uint64_t>(values);
    nb::capsule owner(copy, [](void* p) noexcept { delete static_cast<std::vector<std::uint64_t>*>(p); });
    return {copy->data(), {copy->size()}, owner};
}

nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>> copied(std::vector<std::int64_t> values) {
    auto* kept = new std::vector<std::int64_t>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
    return {kept->data(), {kept->size()}, owner};
}

// The times of a replay. Throws InputError where nothing was replayed.
const sim::ReplayTimes& replayed(const sim::SimulationResult& result) {
    if (!result.replay) throw InputError("no calls of a trace were simulated");
    return *result.replay;
}

// Those of a rank in a list of all.
template <class Values>
const Values& of_rank(const std::vector<Values>& all, Index rank) {
    return all[checked_place("rank", rank, all.size())];
}

nb::ndarray<nb::numpy, std::int64_t, nb::ndim<2>> path_of(const sim::SimulationResult& result) {
    const sim::ReplayTimes& times = replayed(result);
    auto* table = new std::vector<std::int64_t>;
    for (const sim::PathPiece& piece : sim::critical_path(times)) {
        const program::Call& call = times.calls->of(piece.rank)[piece.call];
        const std::int64_t peer = piece.is_message ? std::int64_t{call.peer} : -1;
        table->insert(table->end(),
                      {piece.rank, piece.call, call.label, piece.is_message, piece.begin, piece.end, peer});
    }
    nb::capsule owner(table, [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
    return {table->data(), {table->size() / 7, 7}, owner};
}

template <sim::SimulationResult (*Simulate)(const machine::Machine&, const program::Program&, const machine::Placement&,
                                            const sim::SimulationOptions&)>
sim::SimulationResult run(const machine::Machine& machine, const program::Program& program,
                          const machine::Placement& placement, const sim::SimulationOptions& chosen,
                          Progress progress) {
    sim::SimulationOptions options = chosen;
    report_to(options, std::move(progress));
    const nb::gil_scoped_release release;
    return Simulate(machine, program, placement, options);
}

template <class Values>
nb::ndarray<nb::numpy, double, nb::ndim<2>> packets_and_delays(const Values& values) {
    auto* copy = new std::vector<double>;
    for (const auto& value : values) {
        copy->push_back(static_cast<double>(value.packets));
        copy->push_back(value.delay.picoseconds() * 1e-12);
    }
    nb::capsule owner(copy, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return {copy->data(), {copy->size() / 2, 2}, owner};
}

nb::ndarray<nb::numpy, std::int64_t, nb::ndim<2>> table(const std::vector<sim::TraceEvent>& events) {
    auto* copy = new std::vector<std::int64_t>;
    copy->reserve(8 * events.size());
    for (const sim::TraceEvent& event : events)
        copy->insert(copy->end(), {event.rank, event.stage, event.begin.value, event.end.value,
                                   static_cast<std::int64_t>(event.kind), event.peer, event.nic, event.bytes});
    nb::capsule owner(copy, [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
    return {copy->data(), {events.size(), 8}, owner};
}

void bind_result(nb::module_& module) {
    nb::class_<sim::SimulationResult>(module, "SimulationResult")
        .def_prop_ro("time_s", [](const sim::SimulationResult& r) { return r.time.seconds(); })
        .def_prop_ro("time_ps", [](const sim::SimulationResult& r) { return r.time.value; })
        .def_prop_ro("step_end_s", [](const sim::SimulationResult& r) { return seconds_of(r.step_end); })
        .def_prop_ro(
            "spent_s",
            [](const sim::SimulationResult& r) {
                std::vector<double> seconds;
                for (const std::int64_t each : r.spent) seconds.push_back(1e-12 * static_cast<double>(each));
                return seconds;
            },
            "[rank * labels + label]: seconds in the calls of a trace; empty for programs.")
        .def_prop_ro(
            "ranks", [](const sim::SimulationResult& r) { return r.replay ? r.replay->call_end.size() : 0; },
            "Ranks whose calls were replayed; 0 for programs.")
        .def(
            "call_end_ps",
            [](const sim::SimulationResult& r, Index rank) { return copied(of_rank(replayed(r).call_end, rank)); },
            "rank"_a, "[call of `Calls.table`]: when it ended, ps. Raises InputError where no calls were replayed.")
        .def(
            "arrived_ps",
            [](const sim::SimulationResult& r, Index rank) {
                std::vector<std::int64_t> arrived;
                for (const auto& each : of_rank(replayed(r).messages, rank)) arrived.push_back(each.arrived);
                return copied(std::move(arrived));
            },
            "rank"_a, "[message that the rank receives]: when its last byte came, ps; else as `call_end_ps`.")
        .def_prop_ro(
            "busy_s",
            [](const sim::SimulationResult& r) -> std::optional<std::tuple<double, double, double>> {
                if (r.busy.minimum > r.busy.maximum) return std::nullopt;
                return seconds_of(r.busy);
            },
            "With noise, what `busy_time_s` returns, and the detours met while computing; None without, and of calls.")
        .def_ro("messages", &sim::SimulationResult::messages)
        .def_ro("bytes", &sim::SimulationResult::bytes)
        .def_ro("unexpected_bytes", &sim::SimulationResult::unexpected_bytes)
        .def_ro("steps_simulated", &sim::SimulationResult::steps_simulated)
        .def_ro("steps_skipped", &sim::SimulationResult::steps_skipped)
        .def_ro("no_skip", &sim::SimulationResult::no_skip, "Why no step was skipped; empty where some were.")
        .def_ro("packet_hops", &sim::SimulationResult::packet_hops)
        .def_prop_ro("bound_s", [](const sim::SimulationResult& r) { return r.bound.seconds(); })
        .def_ro("bound_by", &sim::SimulationResult::bound_by)
        .def_ro("imbalance", &sim::SimulationResult::imbalance)
        .def_prop_ro("delay_counts",
                     [](const sim::SimulationResult& r) {
                         return std::vector<std::uint64_t>(r.delay.counts.begin(), r.delay.counts.end());
                     })
        .def_prop_ro(
            "delay_series", [](const sim::SimulationResult& r) { return packets_and_delays(r.delay_series.values); },
            nb::rv_policy::reference, "[bin of time][packets that arrived, sum of their delays in s].")
        .def_prop_ro("delay_bin_s",
                     [](const sim::SimulationResult& r) { return std::ldexp(1e-12, r.delay_series.shift); })
        .def_prop_ro(
            "delay_pairs", [](const sim::SimulationResult& r) { return packets_and_delays(r.delay_pairs.values); },
            nb::rv_policy::reference,
            "[source block * blocks + destination block][packets, sum of their delays in s]; empty unless asked for.")
        .def_prop_ro(
            "passages",
            [](const sim::SimulationResult& r) {
                std::vector<std::tuple<std::uint32_t, std::uint32_t, std::int64_t, std::int64_t>> passages;
                for (const sim::Passage& p : r.passages)
                    passages.emplace_back(p.switch_id, p.port, p.bytes, p.time.value);
                return passages;
            },
            "(switch, port by which it goes on, bytes, time in ps of its head at the switch) of every packet to the "
            "rank that was followed, in order of time.")
        .def_prop_ro(
            "trace_events", [](const sim::SimulationResult& r) { return table(r.trace_events); },
            nb::rv_policy::reference,
            "[event][rank, stage of the program, begin (ps), end (ps), kind (of trace_event_kinds), peer, NIC, bytes] "
            "of the "
            "ranks that are shown, by rank and in order of time. Peer -1: none, or unknown.")
        .def_prop_ro(
            "port_bytes", [](const sim::SimulationResult& r) { return array(r.port_bytes.all()); },
            nb::rv_policy::reference, "Bytes that each port of each switch has sent, [switch * radix + port].")
        .def_prop_ro(
            "nic_bytes", [](const sim::SimulationResult& r) { return array(r.nic_bytes.all()); },
            nb::rv_policy::reference, "Bytes that each node has injected, [node].")
        .def_prop_ro(
            "carried_bytes",
            [](const sim::SimulationResult& r) {
                double bytes = 0;  // of many ranks more than 64 bits hold
                for (const auto* each : {&r.port_bytes, &r.nic_bytes})
                    for (const auto& [number, sent] : each->used) bytes += static_cast<double>(sent);
                return bytes;
            },
            "Bytes times the ports that they go through, injection and ejection included.");
}

program::StepKind kind_of(const std::string& name) {
    for (std::size_t k = 0; k < std::size(step_kinds); ++k)
        if (name == step_kinds[k]) return static_cast<program::StepKind>(k);
    throw InputError("a step of kind '" + name + "'");
}

void bind_order(nb::module_& module) {
    nb::class_<program::Exchange>(
        module, "Exchange", "A schedule among the ranks of a program from `first` on, or among `ranks`, which ascend.")
        .def(
            "__init__",
            [](program::Exchange* self, std::string name, std::shared_ptr<schedule::Schedule> schedule,
               std::int64_t bytes_per_point, Rank first, std::vector<Rank> ranks) {
                new (self)
                    program::Exchange{std::move(name), std::move(schedule), bytes_per_point,
                                      ranks.empty() ? program::Members(first) : program::Members(std::move(ranks))};
            },
            "name"_a, "schedule"_a, "bytes_per_point"_a, "first"_a = 0, "ranks"_a = std::vector<Rank>())
        .def_ro("name", &program::Exchange::name);
    nb::class_<program::GroupStep>(module, "GroupStep", "A step of a group: one of `step_kinds`.")
        .def(
            "__init__",
            [](program::GroupStep* self, std::string name, const std::string& kind, int exchange, int repeat,
               const program::Compute& compute) {
                new (self) program::GroupStep{std::move(name), kind_of(kind), exchange, repeat, compute};
            },
            "name"_a, "kind"_a, "exchange"_a = -1, "repeat"_a = 1, "compute"_a = program::Compute{});
    nb::class_<program::Group>(
        module, "Group", "Ranks with the same steps: `members`, ascending; none: those that follow the group before.")
        .def(
            "__init__",
            [](program::Group* self, std::string name, Rank ranks, std::vector<program::GroupStep> steps, int repeat,
               std::vector<Rank> members) {
                new (self) program::Group{std::move(name), ranks, std::move(steps), repeat,
                                          program::Members(std::move(members))};
            },
            "name"_a, "ranks"_a, "steps"_a, "repeat"_a = 1, "members"_a = std::vector<Rank>());
    nb::class_<program::Order>(module, "Order",
                               "In which order the ranks of each group start exchanges, wait for them and compute.")
        .def(nb::init<std::vector<program::Exchange>, std::vector<program::Group>>(), "exchanges"_a, "groups"_a)
        .def_prop_ro("ranks", &program::Order::ranks)
        .def_prop_ro("lines", &program::Order::lines, "Number of exchanges that may be open at once.")
        .def(
            "times",
            [](const program::Order& order, std::size_t exchange) {
                if (exchange >= order.exchanges().size()) throw nb::index_error();
                return order.times(exchange);
            },
            "exchange"_a, "Return the number of times that an exchange takes place.")
        .def_prop_ro("stages", &program::Order::stages,
                     "Number of stages of all exchanges, as often as they take place.")
        .def(
            "at",
            [](const program::Order& order, std::uint32_t stage) {
                if (!order.has(stage))
                    throw InputError("stage " + std::to_string(stage) + ": no exchange of the program has it");
                const program::Instance& instance = order.at(stage);
                return std::tuple(instance.exchange, instance.first, instance.line);
            },
            "stage"_a, "Return (exchange, its first stage, line) that a stage of a simulation's trace events is of.");
    module.attr("step_kinds") = std::vector<std::string>(std::begin(step_kinds), std::end(step_kinds));
}

void bind_program(nb::module_& module) {
    nb::class_<program::Compute>(module, "Compute",
                                 "Computation: seconds, or flops and bytes, per rank or per point of a layout.")
        .def(
            "__init__",
            [](program::Compute* self, double seconds, double flops, double bytes,
               std::shared_ptr<layout::Layout> layout, double point_seconds, std::optional<std::vector<double>> points,
               const std::string& distribution, double spread, bool each_time) {
                std::shared_ptr<const std::vector<double>> of_ranks;
                if (points) of_ranks = std::make_shared<const std::vector<double>>(std::move(*points));
                program::Imbalance imbalance;
                if (!distribution.empty()) imbalance = {program::distribution_of(distribution), spread, each_time};
                new (self) program::Compute{
                    seconds, flops, bytes, std::move(layout), point_seconds, std::move(of_ranks), imbalance};
            },
            "seconds"_a = 0, "flops"_a = 0, "bytes"_a = 0, "layout"_a.none() = nb::none(), "point_seconds"_a = 0,
            "points"_a.none() = nb::none(), "distribution"_a = "", "spread"_a = 0, "each_time"_a = false);
    nb::class_<program::Step>(module, "Step", "An exchange, a computation, or both at once, `repeat` times.")
        .def(
            "__init__",
            [](program::Step* self, std::string name, std::shared_ptr<schedule::Schedule> schedule, int repeat,
               const program::Compute& compute) {
                new (self) program::Step{std::move(name), std::move(schedule), repeat, compute, {}, 0, {}};
            },
            "name"_a, "schedule"_a.none(), "repeat"_a = 1, "compute"_a = program::Compute{})
        .def_ro("name", &program::Step::name)
        .def_prop_ro("stages", &program::Step::stages)
        .def_ro("repeat", &program::Step::repeat);
    bind_order(module);
    nb::class_<program::Program>(module, "Program", "The steps of all ranks, one after another.")
        .def(nb::init<std::vector<program::Step>, std::int64_t>(), "steps"_a, "bytes_per_point"_a)
        .def(
            "__init__",
            [](program::Program* self, std::shared_ptr<program::Order> order) {
                new (self) program::Program(std::shared_ptr<const program::Order>(std::move(order)));
            },
            "order"_a)
        .def_prop_ro("ranks", &program::Program::ranks)
        .def_prop_ro("stages", &program::Program::stages)
        .def_prop_ro(
            "fingerprint", [](const program::Program& self) { return program::fingerprint(self); },
            "A number that changes with whatever the program asks of its ranks.");
}

}  // namespace

void bind_simulation(nb::module_& module) {
    bind_result(module);
    bind_program(module);
    nb::class_<Peers>(module, "Peers", "The processes that share a simulation; made from a communicator by _mpi.")
        .def_prop_ro("process", &Peers::process)
        .def_prop_ro("processes", &Peers::processes)
        .def("refuse", &Peers::refuse, nb::call_guard<nb::gil_scoped_release>(),
             "In place of a simulation that the others begin: it fails there.")
        .def_prop_ro("severed", &Peers::severed, "Whether nothing can be done together any more: all have to end.");
    nb::class_<sim::SimulationOptions>(module, "SimulationOptions")
        .def(
            "__init__",
            [](sim::SimulationOptions* self, std::int64_t packet_bytes, int threads, std::uint64_t seed, bool adaptive,
               bool finite_buffers, bool one_sided, int blocks, Rank followed, std::vector<Rank> shown,
               std::shared_ptr<Peers> peers, std::shared_ptr<machine::IntranodeTransport> intranode,
               std::int64_t compact_from_bytes, int repetition_steps, std::vector<int> asked, Enough enough,
               const std::string& progress_by, bool skip, std::uint64_t order_seed, double noise_period_s,
               double noise_duration_s, bool noise_scattered, bool unloaded, bool free_copies) {
                new (self) sim::SimulationOptions{{packet_bytes},
                                                  threads,
                                                  seed,
                                                  adaptive,
                                                  finite_buffers,
                                                  one_sided,
                                                  std::move(intranode),
                                                  blocks,
                                                  followed,
                                                  std::move(shown),
                                                  {},
                                                  std::move(peers),
                                                  early_end(repetition_steps, std::move(asked), std::move(enough)),
                                                  {compact_from_bytes},
                                                  progress_of(progress_by),
                                                  skip,
                                                  sim::SimulationOptions{}.between_calls,
                                                  order_seed,
                                                  {{sim::duration_of(noise_period_s, "a period of noise takes")},
                                                   {sim::duration_of(noise_duration_s, "a detour takes")},
                                                   noise_scattered},
                                                  unloaded,
                                                  free_copies};
            },
            nb::kw_only(), "packet_bytes"_a, "threads"_a = 1, "seed"_a = 1, "adaptive"_a = true,
            "finite_buffers"_a = false, "one_sided"_a = false, "blocks"_a = 0, "followed"_a = -1,
            "shown"_a = std::vector<Rank>{}, "peers"_a.none() = nb::none(), "intranode"_a.none() = nb::none(),
            "compact_from_bytes"_a = sim::SimulationOptions{}.compact_from.value, "repetition_steps"_a = 1,
            "asked"_a = std::vector<int>{}, "enough"_a.none() = nb::none(), "progress_by"_a = "pokes", "skip"_a = true,
            "order_seed"_a = 0, "noise_period_s"_a = 0, "noise_duration_s"_a = 0, "noise_scattered"_a = false,
            "unloaded"_a = false, "free_copies"_a = false);
    nb::class_<sim::Forecast>(module, "Forecast")
        .def_ro("messages", &sim::Forecast::messages)
        .def_ro("bytes", &sim::Forecast::bytes)
        .def_ro("packet_hops", &sim::Forecast::packet_hops)
        .def_ro("memory_bytes", &sim::Forecast::memory_bytes);
    module.def("simulate_packets", &run<sim::simulate_packets>, "machine"_a, "program"_a, "placement"_a, "options"_a,
               "progress"_a.none() = nb::none());
    module.def("simulate_loggp", &run<sim::simulate_loggp>, "machine"_a, "program"_a, "placement"_a, "options"_a,
               "progress"_a.none() = nb::none());
    module.def(
        "simulate_calls",
        [](const machine::Machine& machine, std::shared_ptr<program::Calls> calls, const machine::Placement& placement,
           const sim::SimulationOptions& chosen, Progress progress) {
            sim::SimulationOptions options = chosen;
            report_to(options, std::move(progress));
            const nb::gil_scoped_release release;
            return sim::simulate_calls(machine, std::move(calls), placement, options);
        },
        "machine"_a, "calls"_a, "placement"_a, "options"_a, "progress"_a.none() = nb::none(),
        "Simulate the calls of a trace; `spent_s` of the result has the time in them.");
    module.def("critical_path", &path_of, "result"_a, nb::rv_policy::reference,
               "Return [piece][rank, call of `Calls.table`, label, whether it is a message on its way, begin (ps), end "
               "(ps), peer of the message or -1] of the critical path of a replay, in order of time: each piece begins "
               "where the one before it ends.");
    module.def("mean_computing_s", &sim::mean_computing, "machine"_a, "program"_a, "placement"_a,
               "[step] seconds that a rank computes, in the mean over the ranks that compute anything.");
    module.def(
        "busy_time_s",
        [](const machine::Machine& machine, const program::Program& program, const machine::Placement& placement,
           std::uint64_t seed) { return seconds_of(sim::busy_time(machine, program, placement, seed)); },
        "machine"_a, "program"_a, "placement"_a, "seed"_a,
        "Seconds that ranks compute in a program, without noise: of all of them, and of those with the least and the "
        "most.");
    module.def("forecast", &sim::forecast, "machine"_a, "program"_a, "placement"_a, "options"_a);
    module.def(
        "delay_lower_edge_s",
        [](Index bin) {
            return sim::DelayHistogram::lower_edge(checked_place("bin", bin, sim::DelayHistogram::bins + 1));
        },
        "bin"_a, "The lower edge of a bin of `delay_counts`; of the bin after the last one, the upper edge of that.");
    module.attr("progress_kinds") = std::vector<std::string>(std::begin(progress_kinds), std::end(progress_kinds));
    module.attr("trace_event_kinds") =
        std::vector<std::string>(std::begin(trace_event_kinds), std::end(trace_event_kinds));
    module.attr("latest_s") = sim::latest.seconds();
    module.def("refuse_time", &sim::refuse_time, "what"_a, "seconds"_a,
               "Raises InputError: what is later than `latest_s`, the longest time that can be simulated.");
    module.attr("largest_packet") = sim::SimulationOptions::largest_packet;
    module.attr("rank_bytes") = sim::rank_bytes;
}

}  // namespace tradewind::python
