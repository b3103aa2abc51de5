#include "algorithm/allreduce_recursive.hpp"

namespace tradewind::algorithm {

namespace {

class Recursive : public schedule::Schedule {
  public:
    Recursive(std::shared_ptr<const pattern::AllReduce> reduce, Index radix, Fold fold)
        : Schedule(reduce, (fold == Fold::near ? "recursive-near-" : "recursive-") + std::to_string(radix)),
          count_(reduce->count()),
          n_(ranks()),
          radix_(radix) {
        for (; core_ <= n_ / radix_; core_ *= radix_) ++digits_;
        near_ = fold == Fold::near && folds();
    }

    int stages() const override { return digits_ + (folds() ? 2 : 0); }
    bool combines(int stage) const override { return !unfolding(stage); }

    int sends(Rank rank, int stage) const override {
        if (folding(stage)) return !in_core(rank);
        if (unfolding(stage)) return folded_onto(rank);
        return exchanges(rank);
    }
    int receives(Rank rank, int stage) const override {
        if (folding(stage)) return folded_onto(rank);
        if (unfolding(stage)) return !in_core(rank);
        return exchanges(rank);
    }
    schedule::Message send(Rank rank, int stage, int j) const override {
        if (folding(stage)) return fold_message(core_rank(number(rank)));
        if (unfolding(stage)) return fold_message(folder(rank, j));
        const Index weight = weight_of(stage), here = number(rank), digit = here / weight % radix_, offset = j + 1;
        const Index to = digit + offset < radix_ ? digit + offset : digit + offset - radix_;
        return exchange_message(core_rank(here + (to - digit) * weight), digit, offset);
    }
    schedule::Message receive(Rank rank, int stage, int j) const override {
        if (folding(stage)) return fold_message(folder(rank, j));
        if (unfolding(stage)) return fold_message(core_rank(number(rank)));
        const Index weight = weight_of(stage), here = number(rank), digit = here / weight % radix_, offset = j + 1;
        const Index from = digit >= offset ? digit - offset : digit - offset + radix_;
        return exchange_message(core_rank(here + (from - digit) * weight), from, offset);
    }
    void send_pieces(Rank, int, int, std::vector<schedule::Piece>& pieces) const override {
        pieces.push_back({schedule::Buffer::source, pattern::AllReduce::range(0, count_)});
    }
    void receive_pieces(Rank, int, int, std::vector<schedule::Piece>& pieces) const override {
        pieces.push_back({schedule::Buffer::target, pattern::AllReduce::range(0, count_)});
    }

  private:
    bool folds() const { return core_ < n_; }
    bool folding(int stage) const { return folds() && stage == 0; }
    bool unfolding(int stage) const { return folds() && stage == digits_ + 1; }
    // The ranks that exchange, by their number among themselves.
    Index core_rank(Index number) const { return near_ ? number * n_ / core_ : number; }
    Index number(Rank rank) const {
        if (near_) return ((static_cast<Index>(rank) + 1) * core_ - 1) / n_;
        return rank < core_ ? rank : rank % core_;
    }
    bool in_core(Rank rank) const { return near_ ? core_rank(number(rank)) == rank : rank < core_; }
    // Rank j of those that fold onto one of the core.
    Index folder(Rank onto, int j) const { return near_ ? onto + j + 1 : onto + (j + 1) * core_; }
    int exchanges(Rank rank) const { return in_core(rank) ? static_cast<int>(radix_ - 1) : 0; }
    int folded_onto(Rank rank) const {
        if (!in_core(rank)) return 0;
        if (near_) return static_cast<int>(core_rank(number(rank) + 1) - rank - 1);
        return static_cast<int>((n_ - 1 - rank) / core_);
    }
    Index weight_of(int stage) const {
        Index weight = 1;
        for (int digit = folds() ? 1 : 0; digit < stage; ++digit) weight *= radix_;
        return weight;
    }
    schedule::Message fold_message(Index peer) const { return {static_cast<Rank>(peer), count_, 0, 0}; }
    schedule::Message exchange_message(Index peer, Index sender_digit, Index offset) const {
        return {static_cast<Rank>(peer), count_, static_cast<std::int32_t>(offset),
                static_cast<std::int8_t>((sender_digit / offset) & 1)};
    }

    Index count_, n_, radix_;
    Index core_ = 1;  // radix^digits, the ranks that exchange
    int digits_ = 0;
    bool near_ = false;
};

}  // namespace

std::shared_ptr<const schedule::Schedule> allreduce_recursive(std::shared_ptr<const pattern::AllReduce> reduce,
                                                              Index radix, Fold fold) {
    return std::make_shared<Recursive>(std::move(reduce), radix, fold);
}

}  // namespace tradewind::algorithm
