#include "algorithm/allreduce_binomial.hpp"

#include <bit>

#include "algorithm/allreduce_ranges.hpp"

namespace tradewind::algorithm {

namespace {

// A child differs from its parent in one bit, which the child has: all lower bits of both are 0. The subtrees of bit 0
// send their sums first, and receive the result last.
class Binomial : public RangedAllReduce {
  public:
    explicit Binomial(std::shared_ptr<const pattern::AllReduce> reduce)
        : RangedAllReduce(std::move(reduce), "binomial"),
          levels_(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(ranks() - 1)))) {}

    int stages() const override { return 2 * levels_; }
    bool combines(int stage) const override { return stage < levels_; }
    int sends(Rank rank, int stage) const override {
        return combines(stage) ? has_parent(rank, stage) : has_child(rank, stage);
    }
    int receives(Rank rank, int stage) const override {
        return combines(stage) ? has_child(rank, stage) : has_parent(rank, stage);
    }

  protected:
    Part sent(Rank rank, int stage, int) const override { return {other(rank, stage), all()}; }
    Part received(Rank rank, int stage, int) const override { return {other(rank, stage), all()}; }

  private:
    Index bit(int stage) const { return Index{1} << (combines(stage) ? stage : 2 * levels_ - 1 - stage); }
    Rank other(Rank rank, int stage) const { return static_cast<Rank>(rank ^ bit(stage)); }
    bool has_parent(Rank rank, int stage) const { return rank % (2 * bit(stage)) == bit(stage); }
    bool has_child(Rank rank, int stage) const { return rank % (2 * bit(stage)) == 0 && rank + bit(stage) < ranks(); }

    int levels_;
};

}  // namespace

std::shared_ptr<const schedule::Schedule> allreduce_binomial(std::shared_ptr<const pattern::AllReduce> reduce) {
    return std::make_shared<Binomial>(std::move(reduce));
}

}  // namespace tradewind::algorithm
