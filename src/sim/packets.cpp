#include <algorithm>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "sim/event.hpp"
#include "sim/minimum_time.hpp"
#include "sim/run.hpp"

namespace tradewind::sim {

namespace {

// The stages and messages of an exchange, of those of its ranks that are shown.
std::int64_t events_of(const program::Exchange& exchange, const std::vector<Rank>& shown) {
    std::int64_t events = 0;
    for (const Rank each : shown) {
        if (!exchange.members.has(each)) continue;
        const Rank r = exchange.members.place(each);
        for (int stage = 0; stage < exchange.schedule->stages(); ++stage)
            events += 1 + exchange.schedule->sends(r, stage) + exchange.schedule->receives(r, stage);
    }
    return events;
}

// A stage, and each message that is sent or received in it, is an action or more; so is a call.
void check_shown(const program::Program& program, const program::Calls* calls, const std::vector<Rank>& shown) {
    if (shown.empty()) return;
    for (std::size_t i = 0; i < shown.size(); ++i)
        if (shown[i] < 0 || shown[i] >= program.ranks() || (i > 0 && shown[i] <= shown[i - 1]))
            throw InputError("time line of rank " + std::to_string(shown[i]) + ": 0 to " +
                             std::to_string(program.ranks() - 1) + " are allowed, in ascending order");
    std::int64_t events = 0;
    const auto add = [&](std::int64_t some) {
        if (events += some; events > SimulationOptions::max_trace_events)
            throw InputError("time line of " + std::to_string(shown.size()) + " ranks: more than " +
                             std::to_string(SimulationOptions::max_trace_events) +
                             " stages and messages; name fewer ranks, or simulate fewer stages");
    };
    if (calls != nullptr) {
        for (const Rank r : shown) add(static_cast<std::int64_t>(calls->of(r).size()));
        return;
    }
    if (const program::Order* const order = program.order()) {
        for (const Rank r : shown) add(static_cast<std::int64_t>(order->operations(order->group_of(r)).size()));
        for (std::size_t i = 0; i < order->exchanges().size(); ++i)
            add(order->times(i) * events_of(order->exchanges()[i], shown));
        return;
    }
    for (std::uint32_t stage = 0; stage < program.stages(); ++stage) {
        const auto at = program.at(stage);
        for (const Rank r : shown) add(1 + at.sends(r) + at.receives(r));
    }
}

void check(const machine::Machine& machine, const program::Program& program, const machine::Placement& placement,
           const SimulationOptions& options) {
    machine.check();
    if (options.packet.value < 0 || options.packet.value > SimulationOptions::largest_packet)
        throw InputError("packet of " + std::to_string(options.packet.value) + " bytes: 1 to " +
                         std::to_string(SimulationOptions::largest_packet) + " are allowed, or one packet per message");
    if (options.threads < 1 || options.threads > 256)
        throw InputError(std::to_string(options.threads) + " threads: 1 to 256 are allowed");
    const int max_parts = std::numeric_limits<std::uint16_t>::max();
    if (options.peers && options.peers->processes() > max_parts / options.threads)
        throw InputError(std::to_string(options.peers->processes()) + " processes of " +
                         std::to_string(options.threads) + " threads: at most " + std::to_string(max_parts) +
                         " threads together are allowed");
    if (program.ranks() > static_cast<Rank>(sim::Event::rank_mask))
        throw InputError(std::to_string(program.ranks()) + " ranks: at most " + std::to_string(sim::Event::rank_mask) +
                         " can be simulated");
    if (const std::int64_t senders = std::int64_t{program.ranks()} * program.lines() * machine.nics;
        program.order() && senders > static_cast<std::int64_t>(sim::Event::rank_mask))
        throw InputError(std::to_string(program.ranks()) + " ranks with " + std::to_string(program.lines()) +
                         " exchanges open at once: at most " + std::to_string(sim::Event::rank_mask) +
                         " of both together can be simulated");
    if (options.blocks < 0 || options.blocks > static_cast<int>(sim::Delay::block_mask) + 1)
        throw InputError(std::to_string(options.blocks) + " blocks of ranks: at most 4096 are allowed");
    if (options.followed < -1 || options.followed >= program.ranks())
        throw InputError("followed rank " + std::to_string(options.followed) + ": 0 to " +
                         std::to_string(program.ranks() - 1) + " are allowed, or -1 for none");
    check_shown(program, options.calls.get(), options.shown);
    for (const program::Step& step : program.steps())
        if (step.compute.flops > 0 && machine.flops <= 0)
            throw InputError("step '" + step.name + "' computes in flops, and the machine has no node.flops");
    check(options.noise);
    if (!options.calls) sim::check_minimum_time(machine, program, placement, options);
    if (!options.finite_buffers) return;
    const std::int64_t packet = std::max(options.packet.value, machine.header.value),
                       largest = machine::buffer_sizes(machine).packet();
    if (packet > largest)
        throw InputError("a packet of " + std::to_string(packet) + " bytes does not fit a buffer of " +
                         std::to_string(largest) + ": name a smaller packet, larger buffers, or unbounded ones");
}

}  // namespace

SimulationResult simulate_packets(const machine::Machine& machine, const program::Program& program,
                                  const machine::Placement& placement, const SimulationOptions& options) {
    if (options.peers)
        options.peers->collective([&] { check(machine, program, placement, options); });
    else
        check(machine, program, placement, options);
    SimulationOptions fitting = options;
    if (fitting.finite_buffers && fitting.packet.value == 0)
        fitting.packet = {machine::buffer_sizes(machine).packet()};  // a message in as few packets as fit
    return sim::run(machine, program, placement, fitting);
}

SimulationResult simulate_calls(const machine::Machine& machine, std::shared_ptr<const program::Calls> calls,
                                const machine::Placement& placement, const SimulationOptions& options) {
    if (options.unloaded) throw InputError("calls of a trace cannot be simulated on an unloaded network");
    if (options.intranode) throw InputError("calls of a trace cannot be simulated with a transport within nodes");
    if (options.followed >= 0 || !options.early_end.asked.empty())
        throw InputError("calls of a trace cannot be simulated with single events, or up to an early end");
    if (options.peers && options.peers->processes() > 1)
        throw InputError("calls of a trace are simulated by one process");
    program::Compute nothing;  // all that ranks do stands in the calls
    nothing.points = std::make_shared<std::vector<double>>(static_cast<std::size_t>(calls->ranks()), 0.0);
    const program::Program program({{"trace", nullptr, 1, nothing}}, 1);
    SimulationOptions of_calls = options;
    of_calls.calls = std::move(calls);
    return simulate_packets(machine, program, placement, of_calls);
}

}  // namespace tradewind::sim
