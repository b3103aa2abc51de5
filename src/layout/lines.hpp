// Lines of different lengths, one after another: the latitudes that keep each wavenumber, the degrees of each.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "layout/patch.hpp"

namespace tradewind::layout {

// Line l has the points at the places begins[l]..ends[l] - 1. The points of all lines follow each other: those of line
// 0 by their places, then those of line 1.
class Lines {
  public:
    // Throws InputError for other numbers of begins than of ends, a line that ends before it begins or begins before 0,
    // and for lines that have no points together.
    Lines(std::vector<Index> begins, std::vector<Index> ends);

    Index lines() const { return static_cast<Index>(begins_.size()); }
    Index points() const { return starts_.back(); }
    Index begin(Index line) const { return begins_[static_cast<std::size_t>(line)]; }
    Index end(Index line) const { return ends_[static_cast<std::size_t>(line)]; }
    const std::vector<Index>& begins() const { return begins_; }
    const std::vector<Index>& ends() const { return ends_; }
    Index last_end() const;  // of all lines
    // A hash of all.
    std::uint64_t mark() const { return mark_; }

    // The points at some places of some lines. Takes time that grows with these lines.
    Index count(const std::vector<Run>& lines, const std::vector<Run>& places) const;
    // The same as runs of numbers, ascending; none is empty, and none follows another without a gap.
    std::vector<Run> runs(const std::vector<Run>& lines, const std::vector<Run>& places) const;
    // Line and place of a point.
    std::array<Index, 2> at(Index point) const;

    friend bool operator==(const Lines&, const Lines&) = default;

  private:
    std::vector<Index> begins_, ends_, starts_;
    std::uint64_t mark_ = 0;
};

}  // namespace tradewind::layout
