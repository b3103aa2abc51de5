// The second waist: what every rank does in a time step, exchanges and computations, one after another, each so and so
// often. It is verified, run and simulated.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "program/compute.hpp"
#include "program/order.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::program {

// An exchange, a computation, or both at once: the computation begins when the first stage of the exchange has been
// posted, and what needs the CPU meanwhile (to post the next stage, to match a message) waits for it: MPI makes no
// progress by itself. The step ends when both have.
struct Step {
    std::string name;
    std::shared_ptr<const schedule::Schedule> schedule;  // null: computation alone
    int repeat = 1;
    Compute compute;
    // For a program with an order of its own:
    StepKind kind = StepKind::exchange;
    std::int64_t bytes_per_point = 0;
    Members members{};  // of the group whose step it is

    bool is_of(Rank rank) const { return members.count() == 0 || members.has(rank); }

    // A computation beside an exchange of nothing (on one rank) has a stage of its own.
    int stages() const { return exchanges() || (schedule && !compute.any()) ? schedule->stages() : 1; }
    bool exchanges() const { return schedule && schedule->stages() > 0; }
};

// The stages of all steps, numbered through. With an order, in which exchanges are started and awaited by steps of
// their own, or groups of ranks have steps of their own, stages are numbered as in Order.
class Program {
  public:
    explicit Program(std::shared_ptr<const Order> order);
    Program(std::vector<Step> steps, std::int64_t bytes_per_point)
        : steps_(std::move(steps)), bytes_per_point_(bytes_per_point) {
        if (bytes_per_point < 1) throw InputError("bytes per point: 1 or more are allowed");
        for (Step& step : steps_) {
            step.compute.give_stream(static_cast<std::size_t>(&step - steps_.data()));
            if (step.repeat < 1) throw InputError("a step is repeated 1 or more times");
            if (step.schedule) {
                add_ranks(step.schedule->ranks());
                pattern::check_bytes(step.schedule->pattern(), bytes_per_point);
            }
            const Compute& compute = step.compute;
            if (compute.layout) add_ranks(compute.layout->ranks());
            if (compute.points) add_ranks(static_cast<Rank>(compute.points->size()));
            check(compute, ranks_);
            const std::int64_t stages = first_.back() + std::int64_t{step.stages()} * step.repeat;
            if (stages > max_stages)
                throw InputError("a program of more than " + std::to_string(max_stages) + " stages");
            first_.push_back(stages);
        }
        if (ranks_ == 0) throw InputError("a program without an exchange, or a computation on a layout, has no ranks");
    }

    static constexpr std::int64_t max_stages = (1 << 24) - 1;

    const std::vector<Step>& steps() const { return steps_; }
    Rank ranks() const { return ranks_; }
    // The bytes per point of all messages, unless there is an order: then each step has its own.
    std::int64_t bytes_per_point() const { return bytes_per_point_; }
    std::int64_t bytes_per_point(const Step& step) const { return order_ ? step.bytes_per_point : bytes_per_point_; }
    // Null: steps follow one another, the same on all ranks.
    const Order* order() const { return order_.get(); }
    const std::shared_ptr<const Order>& shared_order() const { return order_; }
    // The number of exchanges that may be open at once.
    std::uint32_t lines() const { return order_ ? order_->lines() : 1; }
    std::uint32_t line_of(std::uint32_t stage) const { return order_ ? stage >> Order::line_shift : 0; }
    // Without an order: the stages are 0 to this.
    std::uint32_t stages() const { return static_cast<std::uint32_t>(first_.back()); }
    bool computes() const {
        for (const Step& step : steps_)
            if (step.compute.any()) return true;
        return false;
    }

    // Whether a computation that is repeated does not take the same time again.
    bool changes_each_time() const {
        return std::any_of(steps_.begin(), steps_.end(),
                           [](const Step& step) { return step.compute.changes_each_time(); });
    }

    // A stage of the program as a stage of one of its steps.
    struct Stage {
        std::uint32_t step;
        const schedule::Schedule* schedule;  // null: nothing is exchanged
        int stage;
        std::int64_t bytes_per_point;

        int sends(Rank r) const { return schedule ? schedule->sends(r, stage) : 0; }
        int receives(Rank r) const { return schedule ? schedule->receives(r, stage) : 0; }
    };
    Stage at(std::uint32_t stage) const {
        if (order_) [[unlikely]]
            return at_of_order(stage);
        const std::uint32_t i = step_of(stage);
        const auto within = static_cast<int>(stage - first_[i]);
        return {i, steps_[i].exchanges() ? steps_[i].schedule.get() : nullptr,
                steps_[i].repeat == 1 ? within : within % steps_[i].stages(), bytes_per_point_};
    }
    // Whether a step ends with this stage, and which.
    bool ends_step(std::uint32_t stage, std::uint32_t& step) const {
        step = step_of(stage);
        return stage + 1 == first_[step + 1];
    }
    // Where a step begins, or, after the last one, how many stages there are.
    std::uint32_t first_stage(std::size_t step) const { return static_cast<std::uint32_t>(first_[step]); }

  private:
    Stage at_of_order(std::uint32_t stage) const {
        const Instance& instance = order_->at(stage);
        const Step& step = steps_[step_of_[instance.exchange]];
        return {step_of_[instance.exchange], step.schedule.get(), static_cast<int>(stage - instance.first),
                step.bytes_per_point};
    }
    // Most programs have few steps, some have many.
    std::uint32_t step_of(std::uint32_t stage) const {
        constexpr std::size_t few = 8;
        if (steps_.size() > few)
            return static_cast<std::uint32_t>(std::upper_bound(first_.begin(), first_.end(), stage) - first_.begin()) -
                   1;
        std::uint32_t i = 0;
        while (stage >= first_[i + 1]) ++i;
        return i;
    }
    void add_ranks(Rank ranks) {
        if (ranks_ != 0 && ranks != ranks_) throw InputError("the steps of a program have different ranks");
        ranks_ = ranks;
    }

    std::vector<Step> steps_;
    std::int64_t bytes_per_point_;
    Rank ranks_ = 0;
    std::vector<std::int64_t> first_{0};
    std::shared_ptr<const Order> order_;
    std::vector<std::uint32_t> step_of_;  // [exchange of the order]: the step that starts it first
};

}  // namespace tradewind::program
