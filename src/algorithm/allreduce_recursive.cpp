#include "algorithm/allreduce_recursive.hpp"

namespace tradewind {

namespace {

class Recursive : public Schedule {
  public:
    Recursive(std::shared_ptr<const AllReduce> reduce, Index radix)
        : Schedule(reduce, "recursive-" + std::to_string(radix)), count_(reduce->count()), n_(ranks()), radix_(radix) {
        for (; core_ <= n_ / radix_; core_ *= radix_) ++digits_;
    }

    int stages() const override { return digits_ + (folds() ? 2 : 0); }
    bool combines(int stage) const override { return !unfolding(stage); }

    int sends(Rank rank, int stage) const override {
        if (folding(stage)) return rank >= core_;
        if (unfolding(stage)) return folded_onto(rank);
        return exchanges(rank);
    }
    int receives(Rank rank, int stage) const override {
        if (folding(stage)) return folded_onto(rank);
        if (unfolding(stage)) return rank >= core_;
        return exchanges(rank);
    }
    Message send(Rank rank, int stage, int j) const override {
        if (folding(stage)) return fold_message(rank % core_);
        if (unfolding(stage)) return fold_message(rank + (j + 1) * core_);
        const Index weight = weight_of(stage), digit = rank / weight % radix_, offset = j + 1;
        const Index to = digit + offset < radix_ ? digit + offset : digit + offset - radix_;
        return exchange_message(rank + (to - digit) * weight, digit, offset);
    }
    Message receive(Rank rank, int stage, int j) const override {
        if (folding(stage)) return fold_message(rank + (j + 1) * core_);
        if (unfolding(stage)) return fold_message(rank % core_);
        const Index weight = weight_of(stage), digit = rank / weight % radix_, offset = j + 1;
        const Index from = digit >= offset ? digit - offset : digit - offset + radix_;
        return exchange_message(rank + (from - digit) * weight, from, offset);
    }
    void send_pieces(Rank, int, int, std::vector<Piece>& pieces) const override {
        pieces.push_back({Buffer::source, AllReduce::range(0, count_)});
    }
    void receive_pieces(Rank, int, int, std::vector<Piece>& pieces) const override {
        pieces.push_back({Buffer::target, AllReduce::range(0, count_)});
    }

  private:
    bool folds() const { return core_ < n_; }
    bool folding(int stage) const { return folds() && stage == 0; }
    bool unfolding(int stage) const { return folds() && stage == digits_ + 1; }
    int exchanges(Rank rank) const { return rank < core_ ? static_cast<int>(radix_ - 1) : 0; }
    int folded_onto(Rank rank) const { return rank < core_ ? static_cast<int>((n_ - 1 - rank) / core_) : 0; }
    Index weight_of(int stage) const {
        Index weight = 1;
        for (int digit = folds() ? 1 : 0; digit < stage; ++digit) weight *= radix_;
        return weight;
    }
    Message fold_message(Index peer) const { return {static_cast<Rank>(peer), count_, 0, 0}; }
    Message exchange_message(Index peer, Index sender_digit, Index offset) const {
        return {static_cast<Rank>(peer), count_, static_cast<std::int32_t>(offset),
                static_cast<std::int8_t>((sender_digit / offset) & 1)};
    }

    Index count_, n_, radix_;
    Index core_ = 1;  // radix^digits, the ranks that exchange
    int digits_ = 0;
};

}  // namespace

std::shared_ptr<const Schedule> allreduce_recursive(std::shared_ptr<const AllReduce> reduce, Index radix) {
    return std::make_shared<Recursive>(std::move(reduce), radix);
}

}  // namespace tradewind
