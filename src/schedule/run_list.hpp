// Many short runs of points as lists: a form of pieces, without a piece for each.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "layout/box.hpp"
#include "pattern/runs.hpp"

namespace tradewind::schedule {

enum class Buffer : std::uint8_t;
struct Piece;

using RunPlaces = std::span<const Index> (pattern::Runs::Kind::*)() const;

// One end of a message: runs of points in the source or in the target array of the rank, counted from its first point,
// one after another in the message. Each run holds all levels: its points along x fastest, then y, then z. The lists
// are the pattern's, and stay as long as that does.
struct RunList {
    const pattern::Runs* runs = nullptr;              // none: the message is empty
    RunPlaces places = &pattern::Runs::Kind::source;  // where they lie in the array
    Buffer buffer{};
};

// Copies of a rank within itself: from one list to the other, run by run.
struct RunCopy {
    RunList from, to;
};

// Appends the same points as pieces of an array with this box, `maximum` runs at most.
void append_pieces(const RunList& list, const layout::Box& array, std::vector<Piece>& pieces,
                   std::size_t maximum = std::numeric_limits<std::size_t>::max());

}  // namespace tradewind::schedule
