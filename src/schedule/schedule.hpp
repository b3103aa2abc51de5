// The narrow waist: what every algorithm makes, and all that verify, mpi and sim know of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pattern/pattern.hpp"
#include "schedule/run_list.hpp"

namespace tradewind::schedule {

// One message as one of its two ends sees it.
struct Message {
    Rank peer = 0;
    Index count = 0;         // elements (grid points of one field); a message of 0 is neither sent nor received
    std::int32_t tag = 0;    // distinguishes messages between the same two ranks in one stage; the same at both ends
    std::int8_t parity = 0;  // 0 or 1: the half in which the sender sends when ranks take turns (transport even-odd)
};

enum class Buffer : std::uint8_t { source, target, scratch };

// A box of points in one rank's memory, in the order of its array: x fastest, then y, then z. A message is its
// pieces one after another; the pieces of its two ends have the same volumes in the same order.
struct Piece {
    Buffer buffer = Buffer::source;
    layout::Box box;   // global coordinates, unwrapped as the rank's array is
    Index offset = 0;  // scratch only: its first element; the box is stored there without gaps
};

// A copy inside one rank.
struct Copy {
    Piece from, to;
};

// Stages of messages between the ranks of a pattern. Lazy: everything is computed when asked for; nothing is stored a
// rank. In stage s a rank sends and receives the messages of stage s, all read from memory as it was before the stage
// and written after; the stage ends for it when its sends have left and its receives have arrived. `send` and
// `receive` are O(1) in the number of ranks; `pieces` are for those who move data.
class Schedule {
  public:
    explicit Schedule(std::shared_ptr<const pattern::Pattern> pattern, std::string algorithm)
        : pattern_(std::move(pattern)), algorithm_(std::move(algorithm)) {}
    virtual ~Schedule() = default;
    Schedule(const Schedule&) = delete;
    Schedule& operator=(const Schedule&) = delete;

    const pattern::Pattern& pattern() const { return *pattern_; }
    // For those who use what it holds for longer than the schedule.
    const std::shared_ptr<const pattern::Pattern>& shared_pattern() const { return pattern_; }
    const std::string& algorithm() const { return algorithm_; }  // as it is spelled: "ring-4"
    Rank ranks() const { return pattern_->ranks(); }

    virtual int stages() const = 0;
    // The number of messages to ask for; some of them may be empty (count 0).
    virtual int sends(Rank rank, int stage) const = 0;
    virtual int receives(Rank rank, int stage) const = 0;
    virtual Message send(Rank rank, int stage, int j) const = 0;
    virtual Message receive(Rank rank, int stage, int j) const = 0;
    // Appends the pieces of a message, from the sender's memory or into the receiver's.
    virtual void send_pieces(Rank rank, int stage, int j, std::vector<Piece>& pieces) const = 0;
    virtual void receive_pieces(Rank rank, int stage, int j, std::vector<Piece>& pieces) const = 0;
    // Appends the copies that a rank makes within its own memory in a stage (read before, written after).
    virtual void copies(Rank, int, std::vector<Copy>&) const {}

    // Pieces that are many short runs have a second form, lists of runs: the same points in the same order. Whether
    // the schedule has it of every message that is not empty, and of what a rank copies within itself; it then writes
    // nothing that it reads. Only then may the three after it be asked.
    virtual bool has_runs() const { return false; }
    virtual RunList send_runs(Rank, int, int) const { return {}; }
    virtual RunList receive_runs(Rank, int, int) const { return {}; }
    virtual RunCopy kept_runs(Rank, int) const { return {}; }

    // Whether what is received in a stage is combined with what is there: then the result is the combination of the
    // rank's own value and all received ones in ascending order of rank, so that ranks which combine the same values
    // agree bit for bit.
    virtual bool combines(int) const { return false; }
    // Whether all that is received or copied within a rank is added to what is there; scratch memory begins as zeros.
    virtual bool adds() const { return false; }
    // For a gather-scatter: whether the source array of a rank holds all shared ids in the order of their numbers, and
    // not only its own cells; see pattern::SharedCells.
    virtual bool numbered() const { return false; }
    // Elements (of one field) of scratch memory that a rank needs.
    virtual Index scratch(Rank) const { return 0; }

  private:
    std::shared_ptr<const pattern::Pattern> pattern_;
    std::string algorithm_;
};

}  // namespace tradewind::schedule
