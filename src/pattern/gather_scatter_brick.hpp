#pragma once

#include "pattern/gather_scatter.hpp"

namespace tradewind::pattern {

// A direction of cells of a brick, or of another rank: -1, 0 or 1 along x, y and z.
using Side = std::array<int, 3>;

// Hexahedral elements in a brick of ranks, each of which has a brick of elements of its own. Elements, the points of an
// element and ranks all go x fastest. Neighbouring elements share the points of their faces, edges and corners. Nothing
// is stored for each rank.
class Brick {
  public:
    static constexpr int sides = 26;  // of a rank: faces, edges and corners

    // Elements of a rank, points of an element along each direction, ranks, and whether the brick is periodic.
    Brick(std::array<Index, 3> elements, Index points, std::array<Index, 3> split, std::array<bool, 3> periodic);

    Rank ranks() const { return static_cast<Rank>(split_[0] * split_[1] * split_[2]); }
    const std::array<Index, 3>& elements() const { return elements_; }
    Index points_per_element() const { return points_; }
    const std::array<Index, 3>& split() const { return split_; }
    const std::array<bool, 3>& periodic() const { return periodic_; }
    Index values() const;  // of a rank
    // Different points of a rank along a direction, those on its two planes included.
    Index width(int axis) const;
    Index extent(int axis) const;  // different points of the whole brick
    Index shared() const;          // points that several ranks have

    std::array<Index, 3> place_of(Rank rank) const;
    bool has_neighbor(Rank rank, int axis, int side) const;
    // The rank on a side; -1 where there is none.
    Rank neighbor(Rank rank, const Side& side) const;
    // The same of all sides, in the order of `side(j)`.
    std::array<Rank, sides> neighbors(Rank rank) const;
    // Along which planes a rank has neighbours, as six bits: numbers of cells depend on nothing else of it.
    unsigned planes(Rank rank) const;
    // Points of a rank that lie on no shared plane of a direction.
    Index interior(Rank rank, int axis) const;
    // The cells of a rank on a side: where they begin, and how many they are. They go side by side, (-1, -1, -1) first,
    // x fastest, and within a side x fastest.
    Index cells_on(Rank rank, const Side& side) const;
    Index cell_of(Rank rank, const Side& side) const;
    Index cells(Rank rank) const;
    // All points that a rank shares with the rank on a side: those on that plane, edge or corner.
    Index facing(Rank rank, const Side& side) const;
    // Calls take(side of cells) for each of the sides whose cells these are, in the same order on both ranks.
    template <class Take>
    static void each_facing(const Side& side, Take take) {
        for_sides([&](const Side& of) {
            for (int a = 0; a < 3; ++a)
                if (side[a] != 0 && of[a] != side[a]) return;
            take(of);
        });
    }
    template <class Take>
    static void for_sides(Take take) {
        for (int z = -1; z <= 1; ++z)
            for (int y = -1; y <= 1; ++y)
                for (int x = -1; x <= 1; ++x)
                    if (x != 0 || y != 0 || z != 0) take(Side{x, y, z});
    }
    static Side side(int j) {
        const int k = j < sides / 2 ? j : j + 1;
        return {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
    }
    static int number(const Side& side) {
        const int k = side[0] + 1 + 3 * (side[1] + 1) + 9 * (side[2] + 1);
        return k < sides / 2 ? k : k - 1;
    }
    // Coordinates of a cell among the different points of the rank.
    std::array<Index, 3> point_of(Rank rank, Index cell) const;
    // The number of a point of a rank among all of the brick, from 1.
    Index id_of(Rank rank, const std::array<Index, 3>& point) const;

  private:
    std::array<Index, 3> elements_, split_;
    Index points_;
    std::array<bool, 3> periodic_;
};

// The gather-scatter of a brick of elements: ids are the numbers of its points.
class BrickGatherScatter : public GatherScatter {
  public:
    BrickGatherScatter(const Brick& brick, const std::string& operation);

    const Brick& brick() const { return brick_; }
    Rank ranks() const override { return brick_.ranks(); }
    Index values(Rank) const override { return brick_.values(); }
    Index cells(Rank rank) const override { return brick_.cells(rank); }
    Index received(Rank rank) const override;
    Index shared() const override { return brick_.shared(); }
    Index id(Rank rank, Index cell) const override { return brick_.id_of(rank, brick_.point_of(rank, cell)); }
    Index number(Rank rank, Index cell) const override;
    OwnCopies copies(Rank rank) const override;
    std::vector<Fold> folds(Rank rank) const override;

    // Where in the target array that begins which comes from a side.
    Index target_of(Rank rank, const Side& side) const;
    // The ids of a rank's values, in the order of its array.
    std::vector<Index> ids(Rank rank) const;

  protected:
    std::shared_ptr<GatherScatter> copy() const override { return std::make_shared<BrickGatherScatter>(*this); }
    std::string identity() const override;
    Index points() const override { return ranks() * brick_.values(); }

  private:
    Brick brick_;
};

// The same with its lists, for algorithms that need those.
std::shared_ptr<const ListedGatherScatter> listed(const BrickGatherScatter& brick);

}  // namespace tradewind::pattern
