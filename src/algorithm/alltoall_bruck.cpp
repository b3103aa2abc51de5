#include "algorithm/alltoall_bruck.hpp"

#include <bit>

#include "algorithm/group_line.hpp"
#include "base/error.hpp"

namespace tradewind::algorithm {

namespace {

// The sum of the widths of `count` parts, counted downward from `part`, around the end.
Index downward_widths(const layout::Division& d, Index part, Index count) {
    const Index end = part + 1, begin = end - count;
    if (begin >= 0) return d.begin(end) - d.begin(begin);
    return d.begin(end) + d.points() - d.begin(begin + d.parts());
}

// Count those of first, first + step, ... (`count` numbers) that are below `bound`.
Index count_below(Index first, Index step, Index count, Index bound) {
    return first >= bound ? 0 : std::min(count, (bound - 1 - first) / step + 1);
}

// The sum of the widths of `count` parts from `first` < 2 * parts on, `step` apart, around the end at most once.
Index strided_widths(const layout::Division& d, Index first, Index step, Index count) {
    const auto below = [&](Index bound) { return count_below(first, step, count, bound); };
    const Index n = d.parts();
    return count * d.narrow() + below(d.wide()) + below(n + d.wide()) - below(n);
}

class Bruck : public schedule::Schedule {
  public:
    explicit Bruck(std::shared_ptr<const pattern::Transpose> transpose)
        : Schedule(transpose, "bruck"),
          transpose_(std::move(transpose)),
          n_(transpose_->largest_group()),
          line_(*transpose_) {
        stages_ = std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n_ - 1))));
    }

    int stages() const override { return stages_; }
    int sends(Rank, int) const override { return n_ > 1; }
    int receives(Rank, int) const override { return n_ > 1; }
    schedule::Message send(Rank rank, int stage, int) const override {
        const Index p = position(rank);
        return {rank_at(rank, p + (Index{1} << stage)), volume(rank, p, stage), 0, parity(p, stage)};
    }
    schedule::Message receive(Rank rank, int stage, int) const override {
        const Index p = wrapped(position(rank) - (Index{1} << stage));
        const Rank peer = rank_at(rank, p);
        return {peer, volume(peer, p, stage), 0, parity(p, stage)};
    }
    void send_pieces(Rank rank, int stage, int, std::vector<schedule::Piece>& pieces) const override {
        move(rank, position(rank), stage, false, pieces);
    }
    void receive_pieces(Rank rank, int stage, int, std::vector<schedule::Piece>& pieces) const override {
        move(rank, position(rank) - (Index{1} << stage), stage, true, pieces);
    }
    void copies(Rank rank, int stage, std::vector<schedule::Copy>& copies) const override {
        const layout::Box own = transpose_->block(rank, rank);
        if (stage == 0) copies.push_back({{schedule::Buffer::source, own}, {schedule::Buffer::target, own}});
    }
    Index scratch(Rank) const override { return stages_ > 1 ? n_ * transpose_->largest_block() : 0; }

  private:
    Index position(Rank rank) const { return transpose_->sending(rank).position; }
    Index wrapped(Index p) const { return p < 0 ? p + n_ : p >= n_ ? p - n_ : p; }
    Rank rank_at(Rank member, Index p) const { return transpose_->receiver_at(member, wrapped(p)); }
    static std::int8_t parity(Index p, int stage) { return static_cast<std::int8_t>((p >> stage) & 1); }

    // Blocks that position p sends in a stage. With relative destination h + l, where l < 2^stage is what the block has
    // come along and h the multiple of 2^stage, bit `stage` set, that it has yet to go, its volume is the width of part
    // p - l before, times that of part p + h after, times the width of the third direction. So the sum over the blocks
    // is a product of two sums where all l occur, and one more product for the last h, which may have fewer.
    Index volume(Rank rank, Index p, int stage) const {
        const layout::Division &before = transpose_->from().division(line_.before),
                               &after = transpose_->to().division(line_.after);
        const Index hop = Index{1} << stage, full = n_ / (2 * hop), last = hop + full * 2 * hop;
        Index sum = downward_widths(before, p, hop) * strided_widths(after, p + hop, 2 * hop, full);
        if (last < n_) sum += downward_widths(before, p, n_ - last) * after.width(wrapped(p + last));
        return sum * transpose_->to().box(rank).width(line_.across());
    }

    // The pieces of what position p sends, in the memory of `rank`: that of the sender or of the receiver.
    void move(Rank rank, Index p, int stage, bool received, std::vector<schedule::Piece>& pieces) const {
        const Index hop = Index{1} << stage, slot = transpose_->largest_block();
        for (Index relative = hop; relative < n_; relative = (relative + 1) | hop) {
            const Index along = relative & (hop - 1);
            const layout::Box block =
                transpose_->block(rank_at(rank, wrapped(p) - along), rank_at(rank, wrapped(p) - along + relative));
            if (received && relative < 2 * hop)
                pieces.push_back({schedule::Buffer::target, block});
            else if (!received && along == 0)
                pieces.push_back({schedule::Buffer::source, block});
            else
                pieces.push_back({schedule::Buffer::scratch, block, relative * slot});
        }
    }

    std::shared_ptr<const pattern::Transpose> transpose_;
    Index n_;
    GroupLine line_;
    int stages_ = 1;
};

}  // namespace

std::shared_ptr<const schedule::Schedule> alltoall_bruck(std::shared_ptr<const pattern::Transpose> transpose) {
    if (!transpose->complete())
        throw InputError(
            "bruck passes blocks on from rank to rank, so the ranks of each group must all have something for each "
            "other; this " +
            transpose->describe() + " is not like that: use ring-k, pairwise or burst");
    return std::make_shared<Bruck>(std::move(transpose));
}

}  // namespace tradewind::algorithm
