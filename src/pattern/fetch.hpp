#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "layout/directory.hpp"
#include "pattern/fetch_part.hpp"
#include "pattern/pattern.hpp"

namespace tradewind::pattern {

// Points of the arrays of these ranks together. Throws InputError for more than `max_points`.
Index storage_of(std::span<const FetchPart> parts);

// Each rank lists the points that it wants, wherever they lie: the halo of an unstructured mesh, or what an
// interpolation needs just now. A rank's source array holds the points that it owns, its target array those that it
// wants; both lie along x, with levels along y and z. A fetch within one array is a halo: the source array is the
// target array too, and holds a rank's own points and, at other places, those that it wants.
//
// The points of all source arrays are counted one after another in the order of the ranks; a box of a source array has
// their numbers. Boxes of a target array count its places from 0, and the lists have the points of these places.
//
// It describes all ranks, or what one of them knows of itself alone: then only that rank may be asked for.
class Fetch : public Pattern {
  public:
    // A fetch that knows all ranks: the sizes of their source arrays in points, and the lists of what they want. Throws
    // InputError for a list whose parts differ in length, a point that no rank owns, and a place that is out of range
    // or taken twice.
    Fetch(std::vector<Index> sources, const std::vector<FetchList>& lists, bool one_array = false);
    // A fetch with the senders and receivers of all ranks, from a source that needs no checks, such as stored
    // messages.
    Fetch(const std::vector<Index>& sources, const std::vector<Index>& targets,
          std::vector<std::vector<FetchBundle>> bundles);
    // A fetch that knows one rank. `points`: all that are fetched by all ranks together. `mark`: a number that all
    // ranks give this fetch and no other one.
    Fetch(Rank ranks, Rank rank, FetchPart part, Index points, std::uint64_t mark, bool one_array = false);

    std::string name() const override { return "fetch"; }
    std::string describe() const override;
    std::string signature() const override;
    Rank ranks() const override { return lists_->ranks; }
    bool in_place() const override { return false; }
    layout::Box source_box(Rank rank) const override { return along_x(part(rank).first, part(rank).source); }
    layout::Box target_box(Rank rank) const override { return along_x(0, part(rank).target); }
    layout::Box owned_box(Rank rank) const override { return source_box(rank); }
    std::vector<layout::Box> expected(Rank rank) const override;
    Index storage() const override { return lists_->storage * depth(); }  // of a partial one, of its rank
    bool partial() const override { return lists_->only >= 0; }
    bool has_levels() const override { return true; }
    std::shared_ptr<const Pattern> for_levels(std::array<Index, 2> levels) const override {
        return with_levels(levels);
    }
    bool one_array() const override { return lists_->one_array; }
    Parameters parameters() const override;
    bool same_points(Rank rank, const layout::Box& target, const layout::Box& points) const override;

    // The same with other levels along y and z. The lists are shared. Throws InputError for a number below 0, and where
    // the arrays have more points than can be counted.
    std::shared_ptr<const Fetch> with_levels(std::array<Index, 2> levels) const;
    const std::array<Index, 2>& levels() const { return levels_; }
    Index depth() const { return levels_[0] * levels_[1]; }

    Rank only() const { return lists_->only; }       // the rank that it describes, of a partial one; else -1
    Index points() const { return lists_->points; }  // fetched by all ranks together
    // Throws InputError for a rank that this does not know.
    const FetchPart& part(Rank rank) const;
    // Boxes of one run, in the source array of a rank and in a target array.
    layout::Box source_of(Rank rank, const FetchRun& run) const {
        return along_x(part(rank).first + run.source, run.length);
    }
    layout::Box target_of(const FetchRun& run) const { return along_x(run.target, run.length); }

  private:
    struct Named {  // places of a target array in a row, and the points that belong there
        Index place, point, length;
    };
    struct Lists {
        Rank ranks = 0, only = -1;
        bool one_array = false;
        Index points = 0, storage = 0;           // of one level
        std::vector<FetchPart> parts;            // of all ranks, or of `only`
        std::vector<std::vector<Named>> wanted;  // by rank, ascending: from the lists, not from what the ranks exchange
        mutable std::once_flag marking;
        mutable std::uint64_t mark = 0;  // of all ranks: a hash of the lists, computed when it is first asked for
    };
    // Who sends what follows from what is wanted. `parts` have their arrays.
    static void connect(Lists& lists, std::vector<std::vector<FetchBundle>> bundles);
    static std::uint64_t hash_of(const Lists& lists);
    static void append(std::vector<Named>& wanted, const Named& next);
    Fetch(std::shared_ptr<const Lists> lists, std::array<Index, 2> levels)
        : lists_(std::move(lists)), levels_(levels) {}
    layout::Box along_x(Index begin, Index length) const {
        return {{begin, 0, 0}, {begin + length, levels_[0], levels_[1]}};
    }

    std::shared_ptr<const Lists> lists_;
    std::array<Index, 2> levels_{1, 1};
};

// The fetch from global ids: of each rank those that it owns, in the order of its source array, and those that it
// wants, in the order of its target array. Throws InputError for an id that is negative, owned by no rank or owned
// twice.
std::vector<FetchList> lists_of_ids(const std::vector<std::vector<Index>>& owned,
                                    const std::vector<std::vector<Index>>& wanted);

}  // namespace tradewind::pattern
