#include "algorithm/alltoall_meeting.hpp"

#include <algorithm>
#include <limits>

#include "base/checked.hpp"

namespace tradewind::algorithm {

namespace {

// Rounds in which a rank may meet somebody: up to four runs, ascending and disjoint once they are `joined`.
class Rounds {
  public:
    // `count` rounds from `begin` on, around a ring of n, as far as they are less than `end`.
    void add(Index begin, Index count, Index n, Index end) {
        begin = ((begin % n) + n) % n;
        append(begin, std::min({begin + count, n, end}));
        append(0, std::min(begin + count - n, end));
    }
    void join() {
        for (int i = 1; i < size_; ++i)
            for (int k = i; k > 0 && runs_[k].begin < runs_[k - 1].begin; --k) std::swap(runs_[k], runs_[k - 1]);
        int kept = 0;
        for (int i = 0; i < size_; ++i)
            if (kept > 0 && runs_[i].begin <= runs_[kept - 1].end)
                runs_[kept - 1].end = std::max(runs_[kept - 1].end, runs_[i].end);
            else
                runs_[kept++] = runs_[i];
        size_ = kept;
    }
    // The number of rounds less than `bound`.
    Index below(Index bound) const {
        Index count = 0;
        for (int i = 0; i < size_; ++i) count += std::clamp(bound, runs_[i].begin, runs_[i].end) - runs_[i].begin;
        return count;
    }
    Index at(Index number) const {
        int i = 0;
        while (number >= runs_[i].length()) number -= runs_[i++].length();
        return runs_[i].begin + number;
    }

  private:
    void append(Index begin, Index end) {
        if (begin < end) runs_[size_++] = {begin, end};
    }
    std::array<layout::Run, 4> runs_;
    int size_ = 0;
};

class Meetings : public schedule::Schedule {
  public:
    Meetings(std::shared_ptr<const pattern::Redistribution> pattern, Index radix, bool pairs, std::string algorithm)
        : Schedule(pattern, std::move(algorithm)), pattern_(std::move(pattern)), radix_(radix), pairs_(pairs) {
        for (const auto& place : pattern_->places()) {
            begins_.push_back(rounds_);
            add_checked(rounds_, skips_itself() ? place.size() - 1 : place.size(), "rounds of a transposition",
                        "stages");
        }
        begins_.push_back(rounds_);
        checked_product({rounds_}, std::numeric_limits<std::int32_t>::max() - 1, "rounds of a transposition", "stages");
    }

    int stages() const override { return static_cast<int>(std::max<Index>(1, (rounds_ + radix_ - 1) / radix_)); }
    int sends(Rank rank, int stage) const override {
        Index count = 0;
        each_place(stage, [&](std::size_t g, Index begin, Index end) {
            const Rounds rounds = meets(g, rank);
            count += rounds.below(end) - rounds.below(begin);
            return true;
        });
        return static_cast<int>(count);
    }
    int receives(Rank rank, int stage) const override { return sends(rank, stage); }
    schedule::Message send(Rank rank, int stage, int j) const override { return message(rank, stage, j, true); }
    schedule::Message receive(Rank rank, int stage, int j) const override { return message(rank, stage, j, false); }
    void send_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        if (const auto m = send(rank, stage, j); m.count > 0) add(rank, m.peer, schedule::Buffer::source, pieces);
    }
    void receive_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        if (const auto m = receive(rank, stage, j); m.count > 0) add(m.peer, rank, schedule::Buffer::target, pieces);
    }
    void copies(Rank rank, int stage, std::vector<schedule::Copy>& copies) const override {
        if (stage > 0) return;
        std::vector<layout::Box> own;
        pattern_->append_blocks(rank, rank, own);
        for (const layout::Box& box : own)
            copies.push_back({{schedule::Buffer::source, box}, {schedule::Buffer::target, box}});
    }

  private:
    // A ring of closed groups ends before its last distance, 0: a rank keeps what it has for itself.
    bool skips_itself() const { return !pairs_ && pattern_->closed(); }
    Index size(std::size_t g) const { return pattern_->places()[g].size(); }

    // Calls `take(meeting place, begin, end)` for its rounds in a stage, until that returns false.
    template <class Take>
    void each_place(int stage, Take take) const {
        const Index first = stage * radix_, last = std::min(rounds_, first + radix_);
        auto g =
            static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), first) - begins_.begin() - 1);
        for (; g + 1 < begins_.size() && begins_[g] < last; ++g) {
            const Index begin = std::max<Index>(first - begins_[g], 0);
            const Index end = std::min(last, begins_[g + 1]) - begins_[g];
            if (begin < end && !take(g, begin, end)) return;
        }
    }
    // In which rounds of a meeting place a rank may send or receive. In round e of a ring the distance is e + 1.
    Rounds meets(std::size_t g, Rank rank) const {
        const auto& place = pattern_->places()[g];
        const Index n = place.size(), end = begins_[g + 1] - begins_[g];
        Rounds rounds;
        if (const auto p = pattern_->sending(place, rank)) rounds.add(pairs_ ? *p : -*p - 1, place.receivers, n, end);
        if (const auto q = pattern_->receiving(place, rank))
            rounds.add(pairs_ ? *q : *q - place.senders, place.senders, n, end);
        rounds.join();
        return rounds;
    }
    schedule::Message message(Rank rank, int stage, int j, bool sends) const {
        schedule::Message found{rank, 0, 0, 0};
        Index left = j;
        each_place(stage, [&](std::size_t g, Index begin, Index end) {
            const Rounds rounds = meets(g, rank);
            const Index before = rounds.below(begin), count = rounds.below(end) - before;
            if (left >= count) {
                left -= count;
                return true;
            }
            found = met(g, rank, rounds.at(before + left), sends);
            return false;
        });
        return found;
    }
    schedule::Message met(std::size_t g, Rank rank, Index round, bool sends) const {
        const auto& place = pattern_->places()[g];
        const Index n = place.size(), distance = pairs_ ? round : (round + 1) % n;
        const auto tag = static_cast<std::int32_t>(begins_[g] + round);
        const auto own = sends ? pattern_->sending(place, rank) : pattern_->receiving(place, rank);
        if (!own) return {rank, 0, tag, 0};
        const bool down = pairs_ || !sends;
        const Index other =
            down ? (pairs_ ? (distance + n - *own) % n : (*own + n - distance) % n) : (*own + distance) % n;
        const auto partner =
            sends ? pattern_->receiver_at(place, rank, other) : pattern_->sender_at(place, rank, other);
        if (!partner) return {rank, 0, tag, 0};
        const Index sender = sends ? *own : other, receiver = sends ? other : *own;
        const bool odd = pairs_ ? sender > receiver : (sender / std::max<Index>(1, distance)) & 1;
        return {partner->rank, partner->rank == rank ? 0 : partner->points, tag, static_cast<std::int8_t>(odd)};
    }
    void add(Rank sender, Rank receiver, schedule::Buffer buffer, std::vector<schedule::Piece>& pieces) const {
        std::vector<layout::Box> boxes;
        pattern_->append_blocks(sender, receiver, boxes);
        for (const layout::Box& box : boxes) pieces.push_back({buffer, box});
    }

    std::shared_ptr<const pattern::Redistribution> pattern_;
    Index radix_;
    bool pairs_;
    std::vector<Index> begins_;  // the first round of each meeting place, and the end
    Index rounds_ = 0;
};

}  // namespace

std::shared_ptr<const schedule::Schedule> meeting_ring(std::shared_ptr<const pattern::Redistribution> pattern,
                                                       Index radix) {
    return std::make_shared<Meetings>(std::move(pattern), radix, false, "ring-" + std::to_string(radix));
}

std::shared_ptr<const schedule::Schedule> meeting_burst(std::shared_ptr<const pattern::Redistribution> pattern) {
    const Index all = pattern->rounds();
    return std::make_shared<Meetings>(std::move(pattern), all, false, "burst");
}

std::shared_ptr<const schedule::Schedule> meeting_pairwise(std::shared_ptr<const pattern::Redistribution> pattern) {
    return std::make_shared<Meetings>(std::move(pattern), 1, true, "pairwise");
}

}  // namespace tradewind::algorithm
