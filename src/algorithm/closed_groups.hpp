// Groups of ranks within which blocks are passed on from rank to rank: the rows or columns of ranks of a transposition.
#pragma once

#include <memory>
#include <numeric>
#include <vector>

#include "algorithm/group_line.hpp"
#include "pattern/redistribution.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// Between blocks: complete groups, in which each rank has something for each.
class BlockGroups {
  public:
    explicit BlockGroups(std::shared_ptr<const pattern::Transpose> transpose)
        : transpose_(std::move(transpose)), line_(*transpose_), positions_(transpose_->largest_group()) {}

    Index positions() const { return positions_; }
    Index stride() const { return line_.stride; }
    int coordinate() const { return line_.coordinate; }
    Index position(Rank rank) const { return positions_ == 1 ? 0 : transpose_->from().coordinates(rank)[along()]; }
    // No block has more points.
    Index largest_block() const { return transpose_->largest_block(); }
    // Points that some positions of the group of a rank have for others.
    Index volume(Rank rank, Positions from, Positions to) const {
        return (before().begin(from.end) - before().begin(from.begin)) *
               (after().begin(to.end) - after().begin(to.begin)) * across(rank);
    }
    // Appends the block from one rank to another: what a piece of it would be, and where in scratch memory.
    void append(Rank from, Rank to, schedule::Buffer buffer, Index offset, std::vector<schedule::Piece>& pieces) const {
        pieces.push_back({buffer, transpose_->block(from, to), buffer == schedule::Buffer::scratch ? offset : 0});
    }

    const layout::Division& before() const { return transpose_->from().division(line_.before); }
    const layout::Division& after() const { return transpose_->to().division(line_.after); }
    Index across(Rank rank) const { return transpose_->from().box(rank).width(line_.across()); }

  private:
    std::size_t along() const { return static_cast<std::size_t>(line_.coordinate); }

    std::shared_ptr<const pattern::Transpose> transpose_;
    GroupLine line_;
    Index positions_;
};

// Between any layouts with a closed form: the groups of a closed redistribution. Blocks may be empty, have several
// boxes, and be of any sizes.
class ClosedGroups {
  public:
    explicit ClosedGroups(std::shared_ptr<const pattern::Redistribution> pattern)
        : pattern_(std::move(pattern)), line_(*pattern_->line()) {
        Index points = 1;
        for (const int a : {layout::X, layout::Y, layout::Z})
            points *= std::min(pattern_->from().parts(a).widest(), pattern_->to().parts(a).widest());
        largest_block_ = points;
    }

    Index positions() const { return line_.positions; }
    Index stride() const { return line_.stride; }
    int coordinate() const { return line_.coordinate; }
    Index position(Rank rank) const { return rank / line_.stride % line_.positions; }
    Index largest_block() const { return largest_block_; }
    // Takes time that grows with the blocks.
    Index volume(Rank rank, Positions from, Positions to) const {
        Index sum = 0;
        for (Index p = from.begin; p < from.end; ++p)
            for (Index q = to.begin; q < to.end; ++q) sum += block(rank, p, q);
        return sum;
    }
    // Points that position p of the group of a rank has for position q.
    Index block(Rank rank, Index p, Index q) const {
        return pattern_->block_points(*pattern_->from().part_of(rank_at(rank, p)),
                                      *pattern_->to().part_of(rank_at(rank, q)));
    }
    void append(Rank from, Rank to, schedule::Buffer buffer, Index offset, std::vector<schedule::Piece>& pieces) const {
        std::vector<layout::Box> boxes;
        pattern_->append_blocks(from, to, boxes);
        for (const layout::Box& box : boxes) {
            pieces.push_back({buffer, box, buffer == schedule::Buffer::scratch ? offset : 0});
            offset += box.volume();
        }
    }

  private:
    Rank rank_at(Rank member, Index p) const {
        return static_cast<Rank>(member + (p - position(member)) * line_.stride);
    }

    std::shared_ptr<const pattern::Redistribution> pattern_;
    pattern::Redistribution::Line line_;
    Index largest_block_ = 1;
};

// Appends the copies of what a rank keeps.
template <class Groups>
void append_own(const Groups& groups, Rank rank, std::vector<schedule::Copy>& copies) {
    std::vector<schedule::Piece> own;
    groups.append(rank, rank, schedule::Buffer::source, 0, own);
    for (const schedule::Piece& piece : own)
        if (!piece.box.empty()) copies.push_back({piece, {schedule::Buffer::target, piece.box}});
}

}  // namespace tradewind::algorithm
