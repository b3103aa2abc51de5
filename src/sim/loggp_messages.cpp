#include "sim/loggp_messages.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "sim/clock.hpp"

namespace tradewind::sim {

namespace {

constexpr const char* stage_ends = "a stage ends at";

}  // namespace

LogGpMessages::LogGpMessages(const machine::Machine& machine, const machine::Placement& placement, bool one_sided)
    : machine_(machine),
      placement_(placement),
      receive_overhead_(one_sided ? 0 : static_cast<double>(machine.receive_overhead.value)),
      asks_(!one_sided && machine.eager_limit.value >= 0) {}

std::int64_t LogGpMessages::deliver(Rank from, Rank to, std::int64_t bytes, std::int64_t post, std::int64_t& free,
                                    SimulationResult& result, LogGpReceived& received) const {
    const bool same_node = placement_.node(from) == placement_.node(to);
    // Messages leave through all NICs of a node together; within it they are copies.
    const double bandwidth = same_node ? std::min(machine_.memory_bandwidth.value, machine_.copy_bandwidth.value)
                                       : machine_.injection.bandwidth.value * machine_.nics;
    free = sim::after(std::max(free, post), std::ceil(static_cast<double>(bytes) * (1e12 / bandwidth)), stage_ends);
    ++result.messages;
    add_checked(result.bytes, bytes, "messages of all ranks", "bytes");
    ++received.messages;
    if (!same_node) received.bytes += bytes;
    received.last = std::max(received.last, same_node ? free : arrival(free, from, to, bytes));
    return free;
}

std::int64_t LogGpMessages::end(const LogGpReceived& received, std::int64_t begin, std::int64_t left) const {
    if (received.messages == 0) return std::max(begin, left);
    // The receiver's NICs take its bytes one after another; its CPU each message in repetition.
    const double drain =
        static_cast<double>(received.bytes) * 1e12 / (machine_.ejection.bandwidth.value * machine_.nics);
    const std::int64_t come = std::max(received.last, sim::after(begin, drain, stage_ends));
    const double overhead = static_cast<double>(received.messages) * receive_overhead_;
    return std::max(sim::after(come, overhead, stage_ends), left);
}

LogGpMessages::Path LogGpMessages::between(Rank a, Rank b) const {
    const machine::Topology& topology = *machine_.topology;
    const auto links = topology.distance(topology.switch_of(placement_.node(a) * machine_.nics),
                                         topology.switch_of(placement_.node(b) * machine_.nics));
    Path path{0, 0};
    const auto cross = [&](const machine::LinkRate& rate, int times) {
        if (times == 0) return;
        path.latency += times * rate.latency.value;
        path.byte_time = std::max(path.byte_time, 1e12 / rate.bandwidth.value);
    };
    cross(machine_.injection, 1);
    cross(machine_.local, links.local);
    cross(machine_.global, links.global);
    cross(machine_.ejection, 1);
    return path;
}

// A tail leaves the NIC at injection speed and arrives at the speed of the slowest link.
std::int64_t LogGpMessages::arrival(std::int64_t left, Rank from, Rank to, std::int64_t bytes) const {
    const Path path = between(from, to);
    const double injection = 1e12 / (machine_.injection.bandwidth.value * machine_.nics);
    const double behind = static_cast<double>(bytes) * (path.byte_time - injection);
    // A long message leaves once it has been announced and asked for.
    const bool rendezvous = asks_ && bytes > machine_.eager_limit.value;
    return sim::after(sim::after(left, (rendezvous ? 3 : 1) * path.latency, stage_ends), behind, stage_ends);
}

}  // namespace tradewind::sim
