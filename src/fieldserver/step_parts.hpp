// Parts of steps that a channel has: those that have ended, those that are finished, and what another server must know.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/units.hpp"

namespace tradewind::fieldserver {

// The part of a step that a share of the output has: share, step.
using StepPart = std::pair<int, Index>;

// Steps of a share end in ascending order.
class StepParts {
  public:
    // Nothing more comes of a part.
    void end(const StepPart& part) { ended_.push_back(part); }
    // The next `count` of those that have ended are finished: nothing of these has to be kept any more.
    void finish(Index count);
    // The memory of fields of a part is used again.
    void reuse(const StepPart& part) {
        if (!is_done(part)) reused_.insert(part);
    }
    // A file was given up, for one of its fields.
    void drop(const StepPart& part, const std::string& path) { dropped_.emplace_back(part, path); }

    // Number of those that have ended and are not known to be finished.
    Index owed() const { return static_cast<Index>(ended_.size()); }
    bool has_ended(const StepPart& part) const { return std::find(ended_.begin(), ended_.end(), part) != ended_.end(); }
    bool is_done(const StepPart& part) const;
    // Whether its memory was used again before it was finished: it could not be written again.
    bool is_incomplete(const StepPart& part) const { return reused_.count(part) > 0; }
    // Those that are not finished and have ended, are `kept`, or have files that were given up; by step.
    std::vector<StepPart> unfinished(const std::vector<StepPart>& kept) const;
    std::vector<std::string> dropped(const StepPart& part) const;  // once for each field

  private:
    std::deque<StepPart> ended_;  // and not known to be finished, in the order of their ends
    std::map<int, Index> done_;   // by share, the last step that is finished
    std::set<StepPart> reused_;
    std::vector<std::pair<StepPart, std::string>> dropped_;
};

}  // namespace tradewind::fieldserver
