// Who owns what: a grid divided along two of its directions.
#pragma once

#include <array>
#include <string>

#include "base/divide.hpp"
#include "layout/division.hpp"
#include "layout/layout.hpp"

namespace tradewind::layout {

// Ranks r = i + j * split[0] with i < split[0], j < split[1]; i divides the direction axes[0], j divides axes[1], the
// third direction stays whole. Blocks over x/y are "xy"; x pencils are "zy", y pencils "zx", columns (z pencils) "xy"
// or "yx". Nothing is stored per rank.
class Blocks : public Layout {
  public:
    // Throws InputError where a part would be empty, naming direction, parts and points.
    Blocks(Grid grid, std::array<Index, 2> split, std::string axes = "xy");

    const Grid& grid() const final { return grid_; }
    const std::array<Index, 2>& split() const { return split_; }
    const std::string& axes() const { return axes_; }
    std::string describe() const final;  // "60 x 40 x 5 points, split 2 x 2 along xy"
    Rank ranks() const final { return static_cast<Rank>(split_[0] * split_[1]); }

    const Division& division(int axis) const { return division_[axis]; }
    // Which of the two rank coordinates divides an axis: 0, 1, or -1 for none.
    int coordinate_of(int axis) const { return coordinate_of_[axis]; }
    std::array<Index, 2> coordinates(Rank rank) const {
        const std::uint32_t j = by_row_.quotient(static_cast<std::uint32_t>(rank));
        return {static_cast<Index>(rank - j * by_row_.divisor()), j};
    }
    Rank rank_at(std::array<Index, 2> c) const { return static_cast<Rank>(c[0] + c[1] * split_[0]); }

    Index part(Rank rank, int axis) const {
        const int c = coordinate_of_[axis];
        return c < 0 ? 0 : coordinates(rank)[c];
    }
    // The points that a rank owns.
    Box box(Rank rank) const;
    std::vector<Box> boxes(Rank rank) const final { return {box(rank)}; }
    Rank owner(const std::array<Index, 3>& point) const final;

    friend bool operator==(const Blocks& a, const Blocks& b) {
        return a.grid_ == b.grid_ && a.split_ == b.split_ && a.axes_ == b.axes_;
    }

  private:
    Grid grid_;
    std::array<Index, 2> split_;
    std::string axes_;
    std::array<Division, 3> division_;
    std::array<int, 3> coordinate_of_{-1, -1, -1};
    Divider by_row_;
};

// The axes string of pencils along one direction ('x' -> "zy", 'y' -> "zx", 'z' -> "xy"): a rank keeps its second
// coordinate between x/y blocks and x pencils, and its first between x pencils and y pencils, so that each
// transposition stays within rows or columns of ranks (Zheng & Marguinaud 2018, Fig. 3).
std::string pencil_axes(char along);

}  // namespace tradewind::layout
