#include "sim/busy_time.hpp"

#include <vector>

#include "base/random.hpp"
#include "sim/computing.hpp"

namespace tradewind::sim {

namespace {

// A computation of some ranks, and `counts`: see Draw, one for each time that a rank does it.
struct Computations {
    const program::Compute& compute;
    const program::Members& members;
    Rank ranks;
    std::vector<std::int64_t> counts;
};

// Calls `use` with each computation of a program.
template <class Use>
void for_computations(const program::Program& program, Use use) {
    const program::Order* const order = program.order();
    if (!order) {
        for (const program::Step& step : program.steps()) {
            Computations each{step.compute, step.members, program.ranks(), {}};
            for (int repetition = 0; repetition < step.repeat; ++repetition) each.counts.push_back(repetition);
            use(each);
        }
        return;
    }
    std::size_t first = 0;
    for (std::size_t g = 0; g < order->groups().size(); ++g) {
        const program::Group& group = order->groups()[g];
        std::vector<Computations> steps;
        // Factors are drawn by the numbers that computations have in the program, and not in groups.
        for (std::size_t i = 0; i < group.steps.size(); ++i)
            steps.push_back({program.steps()[first + i].compute, group.members, group.ranks, {}});
        const std::vector<program::Operation>& operations = order->operations(g);
        for (std::size_t i = 0; i < operations.size(); ++i)
            if (operations[i].kind == program::Operation::compute)
                steps[operations[i].step - first].counts.push_back(static_cast<std::int64_t>(i));
        for (const Computations& each : steps) use(each);
        first += group.steps.size();
    }
}

}  // namespace

BusyTime busy_time(const machine::Machine& machine, const program::Program& program,
                   const machine::Placement& placement, std::uint64_t seed) {
    std::vector<std::int64_t> times(static_cast<std::size_t>(program.ranks()));
    const std::uint64_t mixed = mix(seed);
    for_computations(program, [&](const Computations& each) {
        if (!each.compute.any()) return;
        for (Rank place = 0; place < each.ranks; ++place) {
            const Rank rank = each.members.at(place);
            const auto time = [&](std::int64_t count) {
                return time_of(each.compute, machine, placement, place, {mixed, rank, count}).value;
            };
            std::int64_t& sum = times[static_cast<std::size_t>(rank)];
            if (each.compute.changes_each_time())
                for (const std::int64_t count : each.counts) sum += time(count);
            else if (!each.counts.empty())
                sum += time(0) * static_cast<std::int64_t>(each.counts.size());
        }
    });
    BusyTime busy;
    for (const std::int64_t time : times) busy.add_rank(time);
    return busy;
}

}  // namespace tradewind::sim
