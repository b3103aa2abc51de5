#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "pattern/copies.hpp"
#include "pattern/fetch.hpp"
#include "pattern/pattern.hpp"

namespace tradewind::pattern {

// Places of one rank's array that hold copies of the same values.
struct OwnCopies {
    Copies inner;   // of values that no other rank has
    Copies shared;  // of the values that others have, too: group k is that of cell k
};

// Each rank has an array of values, and each value an id: afterwards every value is the sum (or another commutative and
// associative operation) of all values with its id, wherever they are. Values with ids below 1 take no part.
//
// A rank combines its own copies first, those of an id that other ranks have into a cell. Ranks exchange cells alone;
// `SharedCells` are the arrays that schedules describe: the source array holds a rank's cells, the target array what
// other ranks have in theirs, one rank after another. Cells are sorted by the ranks that share them, then by their ids,
// so that all that two ranks share lies in few runs, in the same order on both.
class GatherScatter : public Pattern {
  public:
    std::string name() const override { return "gather-scatter"; }
    std::string describe() const override;
    std::string signature() const override;
    bool in_place() const override { return true; }
    layout::Box source_box(Rank rank) const override { return along_x(values(rank)); }
    layout::Box target_box(Rank rank) const override { return along_x(values(rank)); }
    layout::Box owned_box(Rank rank) const override { return along_x(values(rank)); }
    std::vector<layout::Box> expected(Rank rank) const override { return {along_x(values(rank))}; }
    Index storage() const override { return points() * depth(); }
    bool reduces() const override { return true; }
    bool has_levels() const override { return true; }
    std::shared_ptr<const Pattern> for_levels(std::array<Index, 2> levels) const override {
        return with_levels(levels);
    }
    bool may_lack_points() const override { return true; }
    Parameters parameters() const override;

    const std::array<Index, 2>& levels() const { return levels_; }
    Index depth() const { return levels_[0] * levels_[1]; }
    const std::string& operation() const { return operation_; }  // add, mul, min or max
    std::shared_ptr<const GatherScatter> with_levels(std::array<Index, 2> levels) const;

    virtual Index values(Rank rank) const = 0;    // of its array
    virtual Index cells(Rank rank) const = 0;     // ids that it shares with other ranks
    virtual Index received(Rank rank) const = 0;  // cells of other ranks that it needs
    virtual Index shared() const = 0;             // ids that several ranks have, all together
    virtual Index id(Rank rank, Index cell) const = 0;
    virtual Index number(Rank rank, Index cell) const = 0;  // of the cell's id among all that are shared
    virtual OwnCopies copies(Rank rank) const = 0;
    // The cells of others that are combined with a rank's own, in ascending order of ranks.
    virtual std::vector<Fold> folds(Rank rank) const = 0;

  protected:
    explicit GatherScatter(std::string operation);
    // The same with other levels; everything else is shared.
    virtual std::shared_ptr<GatherScatter> copy() const = 0;
    virtual std::string identity() const = 0;  // for the signature
    virtual Index points() const = 0;          // values of all ranks; of a partial one, of its rank
    layout::Box along_x(Index length) const { return {{0, 0, 0}, {length, levels_[0], levels_[1]}}; }

  private:
    std::string operation_;
    std::array<Index, 2> levels_{1, 1};
};

// The cells of a gather-scatter, which its schedules move. `numbered`: a rank's source array holds all shared ids in
// the order of their numbers, those that it lacks too, as algorithms of a reduction want it; and nothing is received.
class SharedCells : public Pattern {
  public:
    SharedCells(std::shared_ptr<const GatherScatter> whole, bool numbered)
        : whole_(std::move(whole)), numbered_(numbered) {}

    std::string name() const override { return whole_->name(); }
    std::string describe() const override { return whole_->describe(); }
    std::string signature() const override { return "cells of a " + whole_->signature(); }
    Rank ranks() const override { return whole_->ranks(); }
    bool in_place() const override { return false; }
    layout::Box source_box(Rank rank) const override {
        return along_x(numbered_ ? whole_->shared() : whole_->cells(rank));
    }
    layout::Box target_box(Rank rank) const override { return along_x(numbered_ ? 0 : whole_->received(rank)); }
    layout::Box owned_box(Rank rank) const override { return source_box(rank); }
    std::vector<layout::Box> expected(Rank rank) const override { return {target_box(rank)}; }
    Index storage() const override { return whole_->storage(); }
    bool reduces() const override { return true; }
    bool partial() const override { return whole_->partial(); }
    Parameters parameters() const override { return whole_->parameters(); }

  private:
    layout::Box along_x(Index length) const { return {{0, 0, 0}, {length, whole_->levels()[0], whole_->levels()[1]}}; }

    std::shared_ptr<const GatherScatter> whole_;
    bool numbered_;
};

// The ids of one rank's values, grouped: what a rank knows before any message.
struct OwnIds {
    std::vector<Index> ids;           // each once, ascending
    std::vector<std::size_t> begins;  // where the places of an id begin; and the end
    std::vector<Index> places;        // ascending
    OwnIds() = default;
    explicit OwnIds(std::span<const Index> values);
    // `cells`: (id, cell) of those that other ranks have, too, in ascending order of ids.
    OwnCopies split(const std::vector<std::pair<Index, Index>>& cells, bool sweeps = true) const;
};

// Ids that a rank shares with others.
struct SharedIds {
    std::vector<Index> ids;              // ascending
    std::vector<Index> numbers;          // among all shared ids
    std::vector<std::size_t> begins{0};  // where the ranks of an id begin; and the end
    std::vector<Rank> ranks;             // all that have it, ascending
};

// A gather-scatter of any ids, as lists. It describes all ranks, or what one of them knows of itself alone.
class ListedGatherScatter : public GatherScatter {
  public:
    // By rank the ids of its values.
    ListedGatherScatter(const std::vector<std::vector<Index>>& ids, const std::string& operation);
    // The part of one rank. `shared`: ids that several ranks have, all together. `mark`: a number that all ranks give
    // this one and no other.
    ListedGatherScatter(Rank ranks, Rank rank, std::span<const Index> ids, SharedIds with, Index shared,
                        std::uint64_t mark, const std::string& operation);

    // The same as `own`, which describes one rank, with what all ranks share: by rank their shared ids.
    ListedGatherScatter(const ListedGatherScatter& own, const std::vector<std::vector<Index>>& shared);

    Rank ranks() const override { return lists_->ranks; }
    bool partial() const override { return lists_->only >= 0; }
    Index values(Rank rank) const override { return part(rank).values; }
    Index cells(Rank rank) const override { return static_cast<Index>(part(rank).ids.size()); }
    Index received(Rank rank) const override { return lists_->exchange->part(rank).target; }
    Index shared() const override { return lists_->shared; }
    Index id(Rank rank, Index cell) const override { return part(rank).ids[static_cast<std::size_t>(cell)]; }
    Index number(Rank rank, Index cell) const override { return part(rank).numbers[static_cast<std::size_t>(cell)]; }
    OwnCopies copies(Rank rank) const override { return part(rank).copies; }
    std::vector<Fold> folds(Rank rank) const override { return part(rank).folds; }

    // The exchange of cells, as a fetch of what other ranks have.
    std::shared_ptr<const Fetch> exchange() const { return lists_->exchange->with_levels(levels()); }
    Rank only() const { return lists_->only; }

  protected:
    std::shared_ptr<GatherScatter> copy() const override { return std::make_shared<ListedGatherScatter>(*this); }
    std::string identity() const override;
    Index points() const override { return lists_->points; }

  private:
    struct Part {
        Index values = 0;
        std::vector<Index> ids, numbers;  // by cell
        OwnCopies copies;
        std::vector<Fold> folds;
    };
    struct Lists {
        Rank ranks = 0, only = -1;
        Index shared = 0, points = 0;
        std::uint64_t mark = 0;
        std::vector<Part> parts;  // of all ranks, or of `only`
        std::shared_ptr<const Fetch> exchange;
    };
    const Part& part(Rank rank) const;
    static std::shared_ptr<Lists> lists_of(const std::vector<std::vector<Index>>& ids);

    std::shared_ptr<const Lists> lists_;
};

}  // namespace tradewind::pattern
