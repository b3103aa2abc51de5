#include "sim/program.hpp"

#include <algorithm>
#include <cmath>

namespace tradewind {

Picoseconds Compute::time(const Machine& machine, const Placement& placement, Rank rank) const {
    if (!any()) return {0};
    const double ranks = placement.ranks_per_node();
    const double points = layout ? static_cast<double>(layout->box(rank).volume()) : 1;
    double roofline = 0;
    if (flops > 0) roofline = flops * points * ranks / machine.flops;
    if (bytes > 0) roofline = std::max(roofline, bytes * points * ranks / machine.memory_bandwidth.value);
    return {std::llround((seconds + point_seconds * points + roofline) * 1e12)};
}

}  // namespace tradewind
