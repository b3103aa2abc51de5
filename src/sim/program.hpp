// What every rank does in a simulation: schedules, one after another, each so and so often.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schedule/schedule.hpp"

namespace tradewind {

struct Step {
    std::string name;
    std::shared_ptr<const Schedule> schedule;
    int repeat = 1;
};

// The stages of all steps, numbered through.
class Program {
  public:
    Program(std::vector<Step> steps, std::int64_t bytes_per_point)
        : steps_(std::move(steps)), bytes_per_point_(bytes_per_point) {
        if (steps_.empty()) throw InputError("a program without steps");
        if (bytes_per_point < 1) throw InputError("bytes a point: 1 or more are allowed");
        for (const Step& step : steps_) {
            if (step.schedule->ranks() != ranks()) throw InputError("the steps of a program have different ranks");
            if (step.repeat < 1) throw InputError("a step is repeated 1 or more times");
            const std::int64_t stages = first_.back() + std::int64_t{step.schedule->stages()} * step.repeat;
            if (stages > 2147483647) throw InputError("a program of more than 2147483647 stages");
            first_.push_back(stages);
        }
    }

    const std::vector<Step>& steps() const { return steps_; }
    Rank ranks() const { return steps_.front().schedule->ranks(); }
    std::int64_t bytes_per_point() const { return bytes_per_point_; }
    std::uint32_t stages() const { return static_cast<std::uint32_t>(first_.back()); }

    // A stage of the program as a stage of one of its schedules.
    struct Stage {
        std::uint32_t step;
        const Schedule* schedule;
        int stage;
    };
    Stage at(std::uint32_t stage) const {
        std::uint32_t i = 0;
        while (stage >= first_[i + 1]) ++i;
        const Schedule* schedule = steps_[i].schedule.get();
        const auto within = static_cast<int>(stage - first_[i]);
        return {i, schedule, steps_[i].repeat == 1 ? within : within % schedule->stages()};
    }
    // Whether a step ends with this stage, and which.
    bool ends_step(std::uint32_t stage, std::uint32_t& step) const {
        for (std::uint32_t i = 0; i < steps_.size(); ++i)
            if (stage + 1 == first_[i + 1] && first_[i + 1] > first_[i]) {
                step = i;
                return true;
            }
        return false;
    }

  private:
    std::vector<Step> steps_;
    std::int64_t bytes_per_point_;
    std::vector<std::int64_t> first_{0};
};

}  // namespace tradewind
