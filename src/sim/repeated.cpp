#include "sim/repeated.hpp"

#include <algorithm>
#include <numeric>

namespace tradewind::sim {

namespace {

// Maximum steps in a row that are repeated as one sequence.
constexpr std::size_t max_steps = 64;

bool same(const program::Step& a, const program::Step& b) {
    const program::Compute &x = a.compute, &y = b.compute;
    return a.schedule == b.schedule && a.repeat == b.repeat && x.seconds == y.seconds && x.flops == y.flops &&
           x.bytes == y.bytes && x.layout == y.layout && x.point_seconds == y.point_seconds &&
           (x.imbalance.any() ? x.imbalance == y.imbalance && x.stream == y.stream : !y.imbalance.any()) &&
           (x.points == y.points || (x.points && y.points && *x.points == *y.points));
}

bool same(const program::Order& order, const program::Operation& a, const program::Operation& b) {
    if (a.kind != b.kind || a.ends_step != b.ends_step || a.step != b.step) return false;
    if (a.kind != program::Operation::start && a.kind != program::Operation::wait) return true;
    const program::Instance &x = order.instance(a.instance), &y = order.instance(b.instance);
    return x.exchange == y.exchange && x.line == y.line && x.stages == y.stages;
}

}  // namespace

Repeated::Repeated(const program::Program& program) {
    if (program.order()) {
        order_ = program.shared_order();
        find_operations(*order_);
    } else {
        find_steps(program.steps());
        first_stage_ = times_ > 0 ? program.first_stage(first_step_) : 0;
    }
}

void Repeated::find_steps(const std::vector<program::Step>& steps) {
    std::int64_t most = 0;
    const auto consider = [&](std::size_t first, std::size_t row, std::int64_t times, std::int64_t stages) {
        if (times < fewest || times * stages <= most) return;
        most = times * stages;
        first_step_ = first;
        steps_ = row;
        times_ = times;
        stages_ = static_cast<std::uint32_t>(stages);
    };
    for (std::size_t i = 0; i < steps.size(); ++i) consider(i, 0, steps[i].repeat, steps[i].stages());
    for (std::size_t row = 1; row <= std::min(max_steps, steps.size() / fewest); ++row)
        for (std::size_t i = 0, end = 0; i + row < steps.size(); i = end + 1) {
            for (end = i; end + row < steps.size() && same(steps[end], steps[end + row]); ++end) {
            }
            const std::size_t times = (end - i) / row + 1;
            std::int64_t stages = 0;
            for (std::size_t j = i; j < i + row; ++j) stages += std::int64_t{steps[j].stages()} * steps[j].repeat;
            consider(i, row, static_cast<std::int64_t>(times), stages);
        }
}

void Repeated::find_operations(const program::Order& order) {
    if (order.shares_lines()) return;  // between a rank's own stages there are others
    std::int64_t times = 0;
    for (const program::Group& group : order.groups()) times = std::gcd(times, std::int64_t{group.repeat});
    for (std::size_t g = 0; g < order.groups().size(); ++g) {
        const std::vector<program::Operation>& operations = order.operations(g);
        Group& group = groups_.emplace_back();
        group.operations = static_cast<std::uint32_t>(operations.size() / static_cast<std::size_t>(times));
        if (group.operations == 0) return;  // its ranks end at once, and a state without them is none
        group.stages.resize(order.lines(), 0);
        for (std::size_t i = 0; i < operations.size(); ++i) {
            if (i >= group.operations) {
                if (!same(order, operations[i], operations[i - group.operations])) return;
            } else if (operations[i].kind == program::Operation::start) {
                const program::Instance& instance = order.instance(operations[i].instance);
                group.stages[instance.line] += instance.stages;
            }
        }
    }
    if (times >= fewest) times_ = times;
}

program::Program Repeated::without(const program::Program& program, std::int64_t repetitions) const {
    if (order_) return program::Program(std::make_shared<const program::Order>(order_->without(repetitions, times_)));
    std::vector<program::Step> steps = program.steps();
    if (steps_ == 0)
        steps[first_step_].repeat -= static_cast<int>(repetitions);
    else
        steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(first_step(times_ - repetitions)),
                    steps.begin() + static_cast<std::ptrdiff_t>(first_step(times_)));
    return program::Program(std::move(steps), program.bytes_per_point());
}

}  // namespace tradewind::sim
