#include "sim/busy_time.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "sim/computing.hpp"

namespace tradewind::sim {

BusyTime busy_time(const machine::Machine& machine, const program::Program& program,
                   const machine::Placement& placement) {
    std::vector<double> seconds(static_cast<std::size_t>(program.ranks()));
    const auto add = [&](const program::Compute& compute, const program::Members& members, Rank ranks, int repeat) {
        if (!compute.any()) return;
        for (Rank place = 0; place < ranks; ++place)
            seconds[static_cast<std::size_t>(members.at(place))] +=
                repeat * time_of(compute, machine, placement, place).seconds();
    };
    if (const program::Order* order = program.order()) {
        for (const program::Group& group : order->groups())
            for (const program::GroupStep& step : group.steps)
                add(step.compute, group.members, group.ranks, step.repeat * group.repeat);
    } else {
        for (const program::Step& step : program.steps()) add(step.compute, step.members, program.ranks(), step.repeat);
    }
    const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
    return {std::accumulate(seconds.begin(), seconds.end(), 0.0), *least, *most};
}

}  // namespace tradewind::sim
