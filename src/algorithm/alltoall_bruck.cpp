#include "algorithm/alltoall_bruck.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <unordered_map>

#include "algorithm/closed_groups.hpp"
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

// Blocks that position p sends in a stage. With relative destination h + l, where l < 2^stage is what the block has
// come along and h the multiple of 2^stage, bit `stage` set, that it has yet to go, its volume is the width of part p -
// l before, times that of part p + h after, times the width of the third direction. So the sum over the blocks is a
// product of two sums where all l occur, and one more product for the last h, which may have fewer.
class BlockVolumes {
  public:
    explicit BlockVolumes(const BlockGroups& groups) : groups_(groups) {}
    Index operator()(Rank rank, Index p, int stage) const {
        const Index n = groups_.positions(), hop = Index{1} << stage, full = n / (2 * hop), last = hop + full * 2 * hop;
        const layout::Division &before = groups_.before(), &after = groups_.after();
        Index sum = downward_widths(before, p, hop) * strided_widths(after, p + hop, 2 * hop, full);
        if (last < n) sum += downward_widths(before, p, n - last) * after.width(p + last < n ? p + last : p + last - n);
        return sum * groups_.across(rank);
    }

  private:
    const BlockGroups& groups_;
};

// The same of blocks of any sizes, which are added up for a group when it is first asked for: each block from p to p +
// h is counted in the one stage whose bit is the lowest of h. The table of a group has as many numbers as it has
// positions and stages; groups are few, or alike in all but the width of the third direction.
class ClosedVolumes {
  public:
    explicit ClosedVolumes(const ClosedGroups& groups) : groups_(groups) {}
    Index operator()(Rank rank, Index p, int stage) const {
        const Rank first = static_cast<Rank>(rank - groups_.position(rank) * groups_.stride());
        const std::lock_guard lock(mutex_);
        std::vector<Index>& table = tables_[first];
        if (table.empty()) table = made(first);
        return table[static_cast<std::size_t>(stage * groups_.positions() + p)];
    }

  private:
    std::vector<Index> made(Rank first) const {
        const Index n = groups_.positions();
        const auto stages = static_cast<Index>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
        std::vector<Index> table(static_cast<std::size_t>(stages * n)), ends(static_cast<std::size_t>(2 * n + 1));
        for (Index q = 0; q < n; ++q) {
            // The points that the positions from -n on have for q, added up.
            for (Index i = 0; i < n; ++i)
                ends[static_cast<std::size_t>(i + 1)] = ends[static_cast<std::size_t>(i)] + groups_.block(first, i, q);
            for (Index i = 0; i < n; ++i)
                ends[static_cast<std::size_t>(n + i + 1)] =
                    ends[static_cast<std::size_t>(n)] + ends[static_cast<std::size_t>(i + 1)];
            for (Index h = 1; h < n; ++h) {
                const int stage = std::countr_zero(static_cast<std::uint64_t>(h));
                const Index p = q >= h ? q - h : q - h + n, count = std::min(Index{1} << stage, n - h);
                table[static_cast<std::size_t>(stage * n + p)] +=
                    ends[static_cast<std::size_t>(n + p + 1)] - ends[static_cast<std::size_t>(n + p + 1 - count)];
            }
        }
        return table;
    }

    const ClosedGroups& groups_;
    mutable std::mutex mutex_;
    mutable std::unordered_map<Rank, std::vector<Index>> tables_;
};

template <class Groups, class Volumes>
class Bruck : public schedule::Schedule {
  public:
    Bruck(std::shared_ptr<const pattern::Pattern> pattern, Groups groups)
        : Schedule(std::move(pattern), "bruck"),
          groups_(std::move(groups)),
          volume_(groups_),
          n_(groups_.positions()),
          stages_(std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n_ - 1))))) {}

    int stages() const override { return stages_; }
    int sends(Rank, int) const override { return n_ > 1; }
    int receives(Rank, int) const override { return n_ > 1; }
    schedule::Message send(Rank rank, int stage, int) const override {
        const Index p = groups_.position(rank);
        return {rank_at(rank, p + (Index{1} << stage)), volume_(rank, p, stage), 0, parity(p, stage)};
    }
    schedule::Message receive(Rank rank, int stage, int) const override {
        const Index p = wrapped(groups_.position(rank) - (Index{1} << stage));
        const Rank peer = rank_at(rank, p);
        return {peer, volume_(peer, p, stage), 0, parity(p, stage)};
    }
    void send_pieces(Rank rank, int stage, int, std::vector<schedule::Piece>& pieces) const override {
        move(rank, groups_.position(rank), stage, false, pieces);
    }
    void receive_pieces(Rank rank, int stage, int, std::vector<schedule::Piece>& pieces) const override {
        move(rank, groups_.position(rank) - (Index{1} << stage), stage, true, pieces);
    }
    void copies(Rank rank, int stage, std::vector<schedule::Copy>& copies) const override {
        if (stage == 0) append_own(groups_, rank, copies);
    }
    Index scratch(Rank) const override { return stages_ > 1 ? n_ * groups_.largest_block() : 0; }

  private:
    Index wrapped(Index p) const { return p < 0 ? p + n_ : p >= n_ ? p - n_ : p; }
    Rank rank_at(Rank member, Index p) const {
        return static_cast<Rank>(member + (wrapped(p) - groups_.position(member)) * groups_.stride());
    }
    static std::int8_t parity(Index p, int stage) { return static_cast<std::int8_t>((p >> stage) & 1); }

    // The pieces of what position p sends, in the memory of `rank`: that of the sender or of the receiver.
    void move(Rank rank, Index p, int stage, bool received, std::vector<schedule::Piece>& pieces) const {
        const Index hop = Index{1} << stage, slot = groups_.largest_block();
        for (Index relative = hop; relative < n_; relative = (relative + 1) | hop) {
            const Index along = relative & (hop - 1);
            const Rank from = rank_at(rank, wrapped(p) - along), to = rank_at(rank, wrapped(p) - along + relative);
            const auto buffer = received && relative < 2 * hop ? schedule::Buffer::target
                                : !received && along == 0      ? schedule::Buffer::source
                                                               : schedule::Buffer::scratch;
            groups_.append(from, to, buffer, relative * slot, pieces);
        }
    }

    Groups groups_;
    Volumes volume_;
    Index n_;
    int stages_;
};

}  // namespace

std::shared_ptr<const schedule::Schedule> alltoall_bruck(std::shared_ptr<const pattern::Transpose> transpose) {
    if (!transpose->complete())
        throw InputError(
            "bruck passes blocks on from rank to rank, so the ranks of each group must all have something for each "
            "other; this " +
            transpose->describe() + " is not like that: use ring-k, pairwise or burst");
    return std::make_shared<Bruck<BlockGroups, BlockVolumes>>(transpose, BlockGroups(transpose));
}

std::shared_ptr<const schedule::Schedule> closed_bruck(std::shared_ptr<const pattern::Redistribution> pattern) {
    if (!pattern->closed())
        throw InputError(
            "bruck passes blocks on from rank to rank around a group, so the senders of each group must be its "
            "receivers; this " +
            pattern->describe() + " is not like that: use ring-k, pairwise, burst, two-level-k or native");
    return std::make_shared<Bruck<ClosedGroups, ClosedVolumes>>(pattern, ClosedGroups(pattern));
}

}  // namespace tradewind::algorithm
