#include "sim/program.hpp"

#include <algorithm>

#include "sim/clock.hpp"

namespace tradewind::sim {

Picoseconds Compute::time(const machine::Machine& machine, const machine::Placement& placement, Rank rank) const {
    if (!any()) return {0};
    if (flops > 0 && machine.flops <= 0)
        throw InputError("a computation of so many flops, and the machine does not say node.flops");
    const double ranks = placement.ranks_per_node();
    const double points = layout ? static_cast<double>(layout->box(rank).volume()) : 1;
    double roofline = 0;
    if (flops > 0) roofline = flops * points * ranks / machine.flops;
    if (bytes > 0) roofline = std::max(roofline, bytes * points * ranks / machine.memory_bandwidth.value);
    return {sim::duration_of(seconds + point_seconds * points + roofline, "a computation takes")};
}

}  // namespace tradewind::sim
