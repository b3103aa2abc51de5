#include "algorithm/allreduce_halving.hpp"

#include <bit>

#include "algorithm/allreduce_ranges.hpp"

namespace tradewind::algorithm {

namespace {

// The exchange among 2^p roles, on any ranks.
class Halving : public RangedAllReduce {
  public:
    Halving(std::shared_ptr<const pattern::AllReduce> reduce, std::string algorithm, int bits)
        : RangedAllReduce(std::move(reduce), std::move(algorithm)), bits_(bits) {}

  protected:
    virtual Rank player(Index role) const = 0;

    int core_stages() const { return 2 * bits_; }
    bool halves(int stage) const { return stage < bits_; }
    // Messages of a role; `stage` counts from the first halving.
    Part sent_by(Index role, int stage) const {
        const Index to = partner(role, stage);
        return part(to, halves(stage) ? kept(to, stage) : kept(role, stage), role, stage);
    }
    Part received_by(Index role, int stage) const {
        const Index from = partner(role, stage);
        return part(from, halves(stage) ? kept(role, stage) : kept(from, stage), from, stage);
    }

  private:
    int bit(int stage) const { return halves(stage) ? stage : 2 * bits_ - 1 - stage; }
    Index partner(Index role, int stage) const { return role ^ (Index{1} << bit(stage)); }
    // The range that a role keeps when the vector has been halved by each bit up to that of the stage.
    Range kept(Index role, int stage) const {
        Range range = all();
        for (int b = 0; b <= bit(stage); ++b) range = (role >> b) & 1 ? upper_half(range) : lower_half(range);
        return range;
    }
    // The tag distinguishes the two roles of a rank, which differ in bit 0.
    Part part(Index other, Range range, Index sender, int stage) const {
        return {player(other), range, static_cast<std::int32_t>(sender & 1),
                static_cast<std::int8_t>((sender >> bit(stage)) & 1)};
    }

    int bits_;
};

class HalvingDoubling : public Halving {
  public:
    explicit HalvingDoubling(const std::shared_ptr<const pattern::AllReduce>& reduce)
        : Halving(reduce, "halving-doubling",
                  static_cast<int>(std::bit_width(static_cast<std::uint64_t>(reduce->ranks() - 1)))),
          doubled_((Index{1} << (core_stages() / 2)) - ranks()) {}

    int stages() const override { return core_stages(); }
    bool combines(int stage) const override { return halves(stage); }
    int sends(Rank rank, int) const override { return rank < doubled_ ? 2 : 1; }
    int receives(Rank rank, int) const override { return rank < doubled_ ? 2 : 1; }

  protected:
    Rank player(Index role) const override {
        return static_cast<Rank>(role < 2 * doubled_ ? role / 2 : role - doubled_);
    }
    Part sent(Rank rank, int stage, int j) const override { return unless_own(rank, sent_by(role(rank, j), stage)); }
    Part received(Rank rank, int stage, int j) const override {
        return unless_own(rank, received_by(role(rank, j), stage));
    }

  private:
    Index role(Rank rank, int j) const { return rank < doubled_ ? 2 * Index{rank} + j : rank + doubled_; }
    static Part unless_own(Rank rank, Part part) {
        if (part.peer == rank) part.range = {0, 0};
        return part;
    }

    Index doubled_;  // ranks that play two roles
};

class Rabenseifner : public Halving {
  public:
    explicit Rabenseifner(const std::shared_ptr<const pattern::AllReduce>& reduce)
        : Halving(reduce, "rabenseifner",
                  static_cast<int>(std::bit_width(static_cast<std::uint64_t>(reduce->ranks()))) - 1),
          pairs_(ranks() - (Index{1} << (core_stages() / 2))) {}

    int stages() const override { return before() + core_stages() + (folds() ? 1 : 0); }
    bool combines(int stage) const override { return stage < before() ? stage == 0 : halves(stage - before()); }
    int sends(Rank rank, int stage) const override {
        if (folds() && stage == 0) return paired(rank);
        if (folds() && stage == 1) return second(rank);
        if (unfolding(stage)) return first(rank);
        return !second(rank);
    }
    int receives(Rank rank, int stage) const override {
        if (folds() && stage == 0) return paired(rank);
        if (folds() && stage == 1) return first(rank);
        if (unfolding(stage)) return second(rank);
        return !second(rank);
    }

  protected:
    Rank player(Index role) const override { return static_cast<Rank>(role < pairs_ ? 2 * role : role + pairs_); }
    Part sent(Rank rank, int stage, int) const override {
        if (stage < before() || unfolding(stage)) return in_pair(rank, rank, stage);
        return sent_by(role(rank), stage - before());
    }
    Part received(Rank rank, int stage, int) const override {
        if (stage < before() || unfolding(stage)) return in_pair(rank, rank ^ 1, stage);
        return received_by(role(rank), stage - before());
    }

  private:
    bool folds() const { return pairs_ > 0; }
    int before() const { return folds() ? 2 : 0; }
    bool unfolding(int stage) const { return folds() && stage == before() + core_stages(); }
    bool paired(Rank rank) const { return rank < 2 * pairs_; }
    bool first(Rank rank) const { return paired(rank) && rank % 2 == 0; }
    bool second(Rank rank) const { return paired(rank) && rank % 2 == 1; }
    Index role(Rank rank) const { return paired(rank) ? rank / 2 : rank - pairs_; }
    // Within a pair the first rank sends the upper half and the second one the lower; then the second one what it has
    // summed up, the upper half; at the end the first one everything.
    Part in_pair(Rank rank, Rank sender, int stage) const {
        const Range range = unfolding(stage)                ? all()
                            : stage == 0 && sender % 2 == 1 ? lower_half(all())
                                                            : upper_half(all());
        return {rank ^ 1, range, 0, static_cast<std::int8_t>(sender & 1)};
    }

    Index pairs_;
};

}  // namespace

std::shared_ptr<const schedule::Schedule> allreduce_rabenseifner(std::shared_ptr<const pattern::AllReduce> reduce) {
    return std::make_shared<Rabenseifner>(reduce);
}

std::shared_ptr<const schedule::Schedule> allreduce_halving_doubling(std::shared_ptr<const pattern::AllReduce> reduce) {
    return std::make_shared<HalvingDoubling>(reduce);
}

}  // namespace tradewind::algorithm
