// The moves of a stage: the pieces of its messages, and the copies within ranks.
#pragma once

#include <string>
#include <vector>

#include "base/checked.hpp"
#include "schedule/schedule.hpp"
#include "verify/match.hpp"

namespace tradewind::verify {

// Calls take(match, pieces read, pieces written) for each message of a stage.
template <class Take>
void for_messages(const schedule::Schedule& schedule, int stage, const std::vector<Match>& matches, Take take) {
    std::vector<schedule::Piece> from, to;
    for (const Match& match : matches) {
        from.clear();
        to.clear();
        schedule.send_pieces(match.sender, stage, match.send, from);
        schedule.receive_pieces(match.receiver, stage, match.receive, to);
        take(match, from, to);
    }
}

// Calls take(rank, copy, where it stands) for each copy within a rank, and adds its points to `copied`.
template <class Take>
void for_copies(const schedule::Schedule& schedule, int stage, Index& copied, Take take) {
    std::vector<schedule::Copy> copies;
    for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
        copies.clear();
        schedule.copies(rank, stage, copies);
        for (const schedule::Copy& copy : copies) {
            add_checked(copied, copy.from.box.volume(), "copies within all ranks", "points");
            take(rank, copy, "stage " + std::to_string(stage) + ", copy of rank " + std::to_string(rank));
        }
    }
}

}  // namespace tradewind::verify
