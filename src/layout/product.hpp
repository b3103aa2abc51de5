// Layouts with a closed form: each direction of the grid divided by itself.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/divide.hpp"
#include "layout/blocks.hpp"
#include "layout/layout.hpp"
#include "layout/lines.hpp"
#include "layout/parts.hpp"

namespace tradewind::layout {

// Blocks, bands of a grid, lists of wavenumbers by levels, whole fields on a few ranks: the points of a rank are the
// product of a part of x, one of y and one of z. Rank first + i + j * split[0] has part i of the direction that
// coordinate 0 divides, and part j of the one of coordinate 1. The other ranks own nothing. What is stored grows with
// the parts of a direction, never with their product.
class Product : public Layout {
  public:
    // coordinate_of: of each direction 0 or 1, each once at most, or -1 where it stays whole. `name`: for
    // readers. Throws InputError where parts and grid do not go together, and where the ranks are too few.
    Product(Grid grid, std::array<Parts, 3> parts, std::array<int, 3> coordinate_of, Rank first, Rank ranks,
            std::string name);
    explicit Product(const Blocks& blocks);

    const Grid& grid() const final { return grid_; }
    Rank ranks() const final { return ranks_; }
    std::string describe() const final;
    std::vector<Box> boxes(Rank rank) const final { return patch(rank).boxes(); }
    Rank owner(const std::array<Index, 3>& point) const final;

    const Parts& parts(int axis) const { return parts_[static_cast<std::size_t>(axis)]; }
    int coordinate_of(int axis) const { return coordinate_of_[static_cast<std::size_t>(axis)]; }
    const std::array<Index, 2>& split() const { return split_; }
    Rank first() const { return first_; }
    const std::string& name() const { return name_; }
    // The part of each direction that a rank has; none where it owns nothing.
    std::optional<std::array<Index, 3>> part_of(Rank rank) const {
        const Rank number = rank - first_;
        if (number < 0 || number >= split_[0] * split_[1]) return {};
        const std::uint32_t j = by_row_.quotient(static_cast<std::uint32_t>(number));
        const std::array<Index, 2> c{static_cast<Index>(number - j * by_row_.divisor()), j};
        std::array<Index, 3> part;
        for (std::size_t a = 0; a < 3; ++a)
            part[a] = coordinate_of_[a] < 0 ? 0 : c[static_cast<std::size_t>(coordinate_of_[a])];
        return part;
    }
    Rank rank_of(const std::array<Index, 3>& part) const {
        Index number = 0;
        for (std::size_t a = 0; a < 3; ++a)
            if (coordinate_of_[a] >= 0) number += part[a] * (coordinate_of_[a] == 0 ? 1 : split_[0]);
        return first_ + static_cast<Rank>(number);
    }
    // The points of a rank, in the order of its array.
    Patch patch(Rank rank) const;
    // The same points where the rows of a grid lie one after another along x: nx ny points in one row. Throws
    // InputError where x is divided.
    Product in_one_row() const;
    // The same on `ranks` ranks, of which the ranks from `first` on own something.
    Product placed(Rank first, Rank ranks) const;
    // The same where z are lines of different lengths, and y their places: the points of all lines, which lie one after
    // another along z, by x. What divides z and y still divides lines and places. Throws InputError for other numbers
    // of lines and places, and where there are lines already.
    Product in_lines(Lines lines) const;
    const Lines* lines() const { return lines_.get(); }
    // The points of parts of x, y and z, which are given as runs: their number, and where they lie in the grid.
    Index count(const std::array<std::vector<Run>, 3>& runs) const;
    Patch patch_of(const std::array<std::vector<Run>, 3>& runs) const;

  private:
    void check_ranks() const;

    Grid grid_;
    std::array<Parts, 3> parts_;
    std::array<int, 3> coordinate_of_;
    std::array<Index, 2> split_{1, 1};
    Rank first_, ranks_;
    std::string name_;
    Divider by_row_;
    std::shared_ptr<const Lines> lines_;
};

}  // namespace tradewind::layout
