#include "sim/mean_computing.hpp"

#include <algorithm>
#include <cstddef>

#include "sim/computing.hpp"

namespace tradewind::sim {

namespace {

// [step] how often each is done.
std::vector<double> repeats_of(const program::Program& program) {
    std::vector<double> repeats;
    if (const program::Order* const order = program.order()) {
        for (const program::Group& group : order->groups())
            for (const program::GroupStep& step : group.steps)
                repeats.push_back(static_cast<double>(step.repeat) * group.repeat);
        return repeats;
    }
    for (const program::Step& step : program.steps()) repeats.push_back(step.repeat);
    return repeats;
}

}  // namespace

std::vector<double> mean_computing(const machine::Machine& machine, const program::Program& program,
                                   const machine::Placement& placement) {
    const std::vector<double> repeats = repeats_of(program);
    std::vector<double> seconds(program.steps().size(), 0);
    std::vector<bool> computes(static_cast<std::size_t>(program.ranks()), false);
    for (std::size_t i = 0; i < seconds.size(); ++i) {
        const program::Step& step = program.steps()[i];
        if (!step.compute.any()) continue;
        const bool all = step.members.count() == 0;
        const Rank count = all ? program.ranks() : step.members.count();
        for (Rank place = 0; place < count; ++place) {
            const double time = time_of(step.compute, machine, placement, place).seconds();
            if (time > 0) computes[static_cast<std::size_t>(all ? place : step.members.at(place))] = true;
            seconds[i] += time * repeats[i];
        }
    }
    const auto number =
        static_cast<double>(std::max<std::ptrdiff_t>(1, std::count(computes.begin(), computes.end(), true)));
    for (double& each : seconds) each /= number;
    return seconds;
}

}  // namespace tradewind::sim
