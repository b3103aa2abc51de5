// Where a program ends: with its last stage, or earlier, where enough of it has been seen (see EarlyEnd).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "program/program.hpp"
#include "sim/simulate.hpp"

namespace tradewind::sim {

class Ending {
  public:
    // Throws InputError for questions that do not fit the program.
    Ending(const program::Program& program, const EarlyEnd& early);

    // The part of the program that is simulated.
    std::uint32_t stages() const { return stages_; }
    std::size_t steps() const { return steps_; }

    // The question that is asked when all ranks have ended a step.
    static constexpr int none = -1;
    int question(std::uint32_t step) const { return step < questions_.size() ? questions_[step] : none; }
    std::size_t questions() const { return early_.asked.size(); }
    // The one that comes next, if any does.
    std::size_t next() const { return next_; }
    bool asks() const { return next_ < questions(); }
    // The number of steps that it is about.
    std::size_t steps_asked() const { return static_cast<std::size_t>(early_.asked[next_] * early_.steps); }

    // The program has become shorter.
    void shorten() {
        stages_ = program_.stages();
        steps_ = program_.steps().size();
    }

    // The verdict. `furthest`: the last stage that any rank has begun.
    void conclude(bool enough, std::uint32_t furthest) {
        ++next_;
        if (!enough) return;
        next_ = questions();
        const std::size_t repetition = program_.at(furthest).step / static_cast<std::size_t>(early_.steps);
        steps_ = (repetition + 1) * static_cast<std::size_t>(early_.steps);
        stages_ = program_.first_stage(steps_);
    }

  private:
    const program::Program& program_;
    const EarlyEnd& early_;
    std::uint32_t stages_;
    std::size_t steps_;
    std::vector<int> questions_;  // [step]
    std::size_t next_ = 0;
};

}  // namespace tradewind::sim
