// The part of a program that is the same steps again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "program/program.hpp"

namespace tradewind::sim {

// Repetitions are numbered from 0. Of a program without an order they are a step that is repeated, or steps that stand
// there several times; with one, the steps of all groups, each as often as it does them in the time of one repetition.
class Repeated {
  public:
    // The longest such part.
    explicit Repeated(const program::Program& program);

    std::int64_t times() const { return times_; }  // 0: fewer than `fewest`, which are not worth the trouble
    static constexpr std::int64_t fewest = 8;

    bool has_order() const { return order_ != nullptr; }
    // Without an order: stages of a repetition, the first of all of them, and the step that a repetition begins with.
    std::uint32_t stages() const { return stages_; }
    std::uint32_t first_stage(std::int64_t repetition) const {
        return first_stage_ + static_cast<std::uint32_t>(repetition) * stages_;
    }
    std::int64_t repetition_of(std::uint32_t stage) const {
        return stage < first_stage_ ? 0 : (stage - first_stage_) / stages_;
    }
    // 0: a single step has all repetitions.
    std::size_t steps() const { return steps_; }
    std::size_t first_step(std::int64_t repetition) const {
        return first_step_ + static_cast<std::size_t>(repetition) * steps_;
    }
    // With one: operations of a repetition.
    std::uint32_t operations(Rank rank) const { return groups_[order_->group_of(rank)].operations; }

    // A stage as it would be numbered on a rank that began with this repetition.
    std::uint32_t relative(Rank rank, std::uint32_t stage, std::int64_t repetition) const {
        if (!order_) return stage - first_stage(repetition);
        const Group& group = groups_[order_->group_of(rank)];
        const std::uint32_t line = stage >> program::Order::line_shift;
        return stage - static_cast<std::uint32_t>(repetition) * group.stages[line];
    }

    // The program without its last `repetitions` repetitions.
    program::Program without(const program::Program& program, std::int64_t repetitions) const;

  private:
    struct Group {
        std::uint32_t operations = 0;
        std::vector<std::uint32_t> stages;  // [line]
    };
    void find_steps(const std::vector<program::Step>& steps);
    void find_operations(const program::Order& order);

    std::int64_t times_ = 0;
    std::uint32_t first_stage_ = 0, stages_ = 0;
    std::size_t first_step_ = 0, steps_ = 0;
    std::shared_ptr<const program::Order> order_;
    std::vector<Group> groups_;
};

}  // namespace tradewind::sim
