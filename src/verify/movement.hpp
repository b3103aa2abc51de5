// Where data is and goes: a schedule run on boxes of points, never on the points themselves.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"
#include "verify/match.hpp"

namespace tradewind::verify {

// Follows a schedule that moves data (no reduction) stage by stage. Each cell that a rank holds has the value of the
// global point that its coordinates name, because it does so in its own part beforehand and each transfer is checked to
// keep it so: it reads only cells that are held, and moves them by 0 or a multiple of the period, or to where the
// pattern's lists want them.
class Movement {
  public:
    explicit Movement(const schedule::Schedule& schedule);

    // Throws VerificationError, as `finish` does, with rank, stage, peer and box.
    void run_stage(int stage, const std::vector<Match>& matches);
    // Checks that each rank was written exactly the pattern's expected points, each point once.
    void finish() const;
    Index copied() const { return copied_; }  // points, by copies within a rank

  private:
    struct Slot {
        layout::Box box;
        int stage;  // when it was written
    };
    struct Memory {
        std::vector<layout::Box> written;  // of the target array
        std::map<Index, Slot> scratch;     // by first element
    };
    struct Write {
        Rank rank;
        schedule::Piece piece;
    };

    void transfer(Rank from, const schedule::Piece& source, Rank to, const schedule::Piece& target,
                  const std::string& where);
    void check_held(Rank rank, const schedule::Piece& piece, const std::string& where);
    const std::vector<layout::Box>& owned_by(Rank rank);
    void check_scratch(Rank rank, const schedule::Piece& piece, const std::string& where) const;
    void write(const Write& write, int stage);
    void write_scratch(const Write& write, int stage);

    const schedule::Schedule& schedule_;
    const pattern::Pattern& pattern_;
    std::vector<Memory> memory_;  // of each rank
    std::vector<Write> pending_;  // of the stage: written after all reading
    Index copied_ = 0;
    // The boxes of the rank that was asked for last, and the one that held its last piece: pieces follow boxes in their
    // order, so that the next one is found at once.
    Rank owner_ = -1;
    std::vector<layout::Box> owned_;
    std::size_t last_owned_ = 0;
};

}  // namespace tradewind::verify
