// The messages of the stage that a rank has begun last, which it posts and its NICs send.
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.hpp"

namespace tradewind::sim {

// A rank posts the messages of a stage, and then each NIC of its node looks for those that it sends. So each message is
// asked of the schedule once and kept, unless there are too many for the cache.
class BegunStage {
  public:
    // `stage`: of the program, where it stands `at`.
    void begin(Rank rank, std::uint32_t stage, const program::Program::Stage& at) {
        rank_ = rank;
        stage_ = stage;
        at_ = at;
        sends_ = at.sends(rank);
        kept_.clear();
        for (int j = 0; sends_ <= most_kept && j < sends_; ++j) kept_.push_back(at.schedule->send(rank, at.stage, j));
    }
    bool is(Rank rank, std::uint32_t stage) const { return rank == rank_ && stage == stage_; }

    const program::Program::Stage& at() const { return at_; }
    int sends() const { return sends_; }
    schedule::Message send(int j) const {
        return kept_.empty() ? at_.schedule->send(rank_, at_.stage, j) : kept_[static_cast<std::size_t>(j)];
    }

  private:
    static constexpr int most_kept = 64;

    Rank rank_ = -1;
    std::uint32_t stage_ = 0;
    program::Program::Stage at_{};
    int sends_ = 0;
    std::vector<schedule::Message> kept_;
};

}  // namespace tradewind::sim
