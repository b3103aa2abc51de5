#include "sim/computing.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "sim/clock.hpp"

namespace tradewind::sim {

Picoseconds time_of(const program::Compute& compute, const machine::Machine& machine,
                    const machine::Placement& placement, Rank rank) {
    if (!compute.any()) return {0};
    if (compute.flops > 0 && machine.flops <= 0)
        throw InputError("a computation in flops, and the machine has no node.flops");
    const double ranks = placement.ranks_per_node();
    const double points = compute.points_of(rank);
    double roofline = 0;
    if (compute.flops > 0) roofline = compute.flops * points * ranks / machine.flops;
    if (compute.bytes > 0)
        roofline = std::max(roofline, compute.bytes * points * ranks / machine.memory_bandwidth.value);
    return {duration_of(compute.seconds + compute.point_seconds * points + roofline, "a computation takes")};
}

}  // namespace tradewind::sim
