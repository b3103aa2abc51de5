// The data that must move between ranks, with the reference result that every schedule is checked against.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "layout/patch.hpp"

namespace tradewind::pattern {

// The collective that an MPI library has for a pattern: MPI_Alltoallv within each group, MPI_Allreduce, or none.
enum class Collective : std::uint8_t { none, all_to_all, reduction };

// The difference of a pattern from others of its kind, as the keys and values of a tuning file.
using Parameter = std::variant<std::string, Index, bool, std::vector<Index>>;
using Parameters = std::vector<std::pair<std::string, Parameter>>;
Parameter listed(const auto& numbers) {
    return std::vector<Index>(numbers.begin(), numbers.end());
}

// Each rank holds a source array and a target array (one and the same where `in_place`), each a box of points in
// global coordinates. Halo cells may lie beyond the grid: along a periodic direction of n points the cell at X holds
// the global point X mod n.
class Pattern {
  public:
    virtual ~Pattern() = default;

    virtual std::string name() const = 0;      // "halo", "transpose", "fetch", "gather-scatter", "allreduce"
    virtual std::string describe() const = 0;  // one line for a reader
    // All in which it differs from others of its kind, alike on all ranks. Takes no time that grows with the ranks.
    virtual std::string signature() const = 0;
    virtual Rank ranks() const = 0;

    virtual bool in_place() const = 0;
    virtual layout::Box source_box(Rank rank) const = 0;  // the storage of its source array
    virtual layout::Box target_box(Rank rank) const = 0;  // the storage of its target array
    virtual layout::Box owned_box(Rank rank) const = 0;   // the points of the source array that hold data beforehand
    // The same of arrays whose points are several runs along a direction: a box above then has as many points along
    // each direction as the array, but not always the same ones.
    virtual layout::Patch source_patch(Rank rank) const { return layout::Patch(source_box(rank)); }
    virtual layout::Patch target_patch(Rank rank) const { return layout::Patch(target_box(rank)); }
    virtual std::vector<layout::Box> owned_boxes(Rank rank) const { return {owned_box(rank)}; }
    // No fewer than the points of the arrays of all ranks together, and at most `max_points`: who makes a pattern has
    // seen to that, so that what is computed of a rank's points and messages holds.
    virtual Index storage() const = 0;

    // The expected result: disjoint boxes of the target array, each point of which must be written exactly once;
    // nothing else may be. (For a reduction: the points that must hold the sum over all ranks.)
    virtual std::vector<layout::Box> expected(Rank rank) const = 0;

    // Ranks with one number form a group, which exchanges nothing with other ranks.
    virtual Rank group(Rank) const { return 0; }
    virtual Index largest_group() const { return ranks(); }
    // Distances around a ring at which ranks meet: the stages in which each of them exchanges with one other.
    virtual Index rounds() const { return std::max<Index>(1, largest_group() - 1); }
    // "12 ranks", "groups of 4 ranks": those among which an algorithm works.
    virtual std::string group_text() const;
    virtual Collective collective() const { return Collective::none; }
    // Whether the two ends of a message lie in arrays of one shape and order, so that a copy between them is as quick
    // as one within an array. Not where the points are put into another order, as by a transposition.
    virtual bool ends_alike() const { return true; }
    virtual Parameters parameters() const = 0;

    // Whether its arrays hold points along x, and any levels along y and z.
    virtual bool has_levels() const { return false; }
    // The same pattern with other levels. Throws InputError where it has none.
    virtual std::shared_ptr<const Pattern> for_levels(std::array<Index, 2> levels) const;
    // Whether source and target may be one array, though they are described as two.
    virtual bool one_array() const { return false; }

    // Length of the direction where it is periodic, else 0.
    virtual std::array<Index, 3> period() const { return {0, 0, 0}; }
    virtual bool reduces() const { return false; }
    // Whether a rank may have no points in one of its arrays, as a server has none before a field comes.
    virtual bool may_lack_points() const { return false; }
    // Whether it describes one rank alone, as that rank knows itself: nothing else may be asked about the others.
    virtual bool partial() const { return false; }
    // Whether a box of a rank's target array is to hold these points, in this order. Points have the coordinates of
    // source arrays, and so have those of target arrays, unless the pattern overrides it.
    virtual bool same_points(Rank, const layout::Box& target, const layout::Box& points) const {
        return shifted_by_period(target, points);
    }
    // The pattern whose adjoint this is: what it moves from a target array to source arrays is added there; else none.
    virtual std::shared_ptr<const Pattern> forward() const { return nullptr; }

    // Whether two boxes are the same points, on the periodic continuation of the grid.
    bool shifted_by_period(const layout::Box& a, const layout::Box& b) const {
        const auto length = period();
        for (int axis = 0; axis < 3; ++axis) {
            const Index shift = a.begin[axis] - b.begin[axis];
            if (a.width(axis) != b.width(axis)) return false;
            if (length[axis] == 0 ? shift != 0 : shift % length[axis] != 0) return false;
        }
        return true;
    }
};

// Throws InputError where the arrays of all ranks have more bytes than can be counted: then so may its messages.
void check_bytes(const Pattern& pattern, std::int64_t bytes_per_point);

}  // namespace tradewind::pattern
