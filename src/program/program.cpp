#include "program/program.hpp"

#include "program/placed.hpp"

namespace tradewind::program {

// The first step that starts an exchange has its schedule and the number of times that it takes place: the counts of
// messages and bytes come from it.
Program::Program(std::shared_ptr<const Order> order)
    : bytes_per_point_(1), ranks_(order->ranks()), order_(std::move(order)), step_of_(order_->exchanges().size(), 0) {
    std::vector<bool> known(order_->exchanges().size(), false);
    for (const Group& group : order_->groups())
        for (const GroupStep& given : group.steps) {
            Step step{given.name, nullptr, given.repeat, given.compute, given.kind, 0, group.members};
            step.compute.give_stream(steps_.size());
            if (given.kind == StepKind::compute) step.repeat *= group.repeat;
            const bool starts = given.kind == StepKind::exchange || given.kind == StepKind::start;
            if (const auto e = static_cast<std::size_t>(given.exchange); starts && !known[e]) {
                const Exchange& exchange = order_->exchanges()[e];
                known[e] = true;
                step_of_[e] = static_cast<std::uint32_t>(steps_.size());
                step.schedule = exchange.ranks() == ranks_
                                    ? exchange.schedule
                                    : std::make_shared<Placed>(exchange.schedule, exchange.members, ranks_);
                step.repeat = static_cast<int>(order_->times(e));
                step.bytes_per_point = exchange.bytes_per_point;
            }
            steps_.push_back(std::move(step));
            first_.push_back(0);
        }
}

}  // namespace tradewind::program
