// Messages of many short runs of points, as lists: what a fetch knows of them, without a piece for each.
#pragma once

#include <span>

#include "pattern/runs.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::schedule {

using RunPlaces = std::span<const Index> (pattern::Runs::Kind::*)() const;

// One end of a message: runs of points in the source or in the target array of the rank, counted from its first point,
// one after another in the message. Each run holds all levels: its points along x fastest, then y, then z.
struct RunList {
    const pattern::Runs* runs = nullptr;
    RunPlaces places = &pattern::Runs::Kind::source;  // where they lie in the array
    Buffer buffer = Buffer::source;
};

// A schedule that can say so of every message beside its pieces, which are the same points in the same order. It writes
// nothing that it reads. The lists are its pattern's, and stay as long as that does.
class RunLists {
  public:
    RunLists() = default;
    virtual ~RunLists() = default;
    RunLists(const RunLists&) = delete;
    RunLists& operator=(const RunLists&) = delete;

    // Of messages that are not empty.
    virtual RunList send_runs(Rank rank, int stage, int j) const = 0;
    virtual RunList receive_runs(Rank rank, int stage, int j) const = 0;
    // What a rank copies within itself: from one list to the other, run by run.
    struct Kept {
        RunList from, to;
    };
    virtual Kept kept_runs(Rank rank, int stage) const = 0;
};

// The lists of a schedule; none where it has pieces alone.
const RunLists* run_lists(const Schedule& schedule);

}  // namespace tradewind::schedule
