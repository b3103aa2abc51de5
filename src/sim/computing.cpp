#include "sim/computing.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/random.hpp"
#include "sim/clock.hpp"

namespace tradewind::sim {

namespace {

double seconds_of(const program::Compute& compute, const machine::Machine& machine, const machine::Placement& placement,
                  Rank rank) {
    if (!compute.any()) return 0;
    if (compute.flops > 0 && machine.flops <= 0)
        throw InputError("a computation in flops, and the machine has no node.flops");
    const double ranks = placement.ranks_per_node();
    const double points = compute.points_of(rank);
    double roofline = 0;
    if (compute.flops > 0) roofline = compute.flops * points * ranks / machine.flops;
    if (compute.bytes > 0)
        roofline = std::max(roofline, compute.bytes * points * ranks / machine.memory_bandwidth.value);
    return compute.seconds + compute.point_seconds * points + roofline;
}

constexpr const char* takes = "a computation takes";

}  // namespace

Picoseconds time_of(const program::Compute& compute, const machine::Machine& machine,
                    const machine::Placement& placement, Rank rank) {
    return {duration_of(seconds_of(compute, machine, placement, rank), takes)};
}

Picoseconds time_of(const program::Compute& compute, const machine::Machine& machine,
                    const machine::Placement& placement, Rank place, const Draw& draw) {
    const double seconds = seconds_of(compute, machine, placement, place);
    if (!compute.imbalance.any()) return {duration_of(seconds, takes)};
    const std::int64_t count = compute.imbalance.each_time ? draw.count : 0;
    const std::uint64_t rank = mix(draw.seed ^ 0x696d62616c616e63, static_cast<std::uint64_t>(draw.rank));
    const std::uint64_t random =
        mix(mix(rank, static_cast<std::uint64_t>(compute.stream)), static_cast<std::uint64_t>(count));
    return {duration_of(seconds * compute.imbalance.factor(random), takes)};
}

}  // namespace tradewind::sim
