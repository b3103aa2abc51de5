#include "algorithm/allreduce_ring.hpp"

#include "base/error.hpp"
#include "layout/division.hpp"

namespace tradewind::algorithm {

namespace {

class AllReduceRing : public schedule::Schedule {
  public:
    explicit AllReduceRing(std::shared_ptr<const pattern::AllReduce> reduce)
        : Schedule(reduce, "ring"), n_(ranks()), chunks_(reduce->count(), n_) {}

    int stages() const override { return static_cast<int>(2 * (n_ - 1)); }
    bool combines(int stage) const override { return stage < n_ - 1; }
    int sends(Rank, int) const override { return 1; }
    int receives(Rank, int) const override { return 1; }
    schedule::Message send(Rank rank, int stage, int) const override {
        return message(rank + 1 < n_ ? rank + 1 : 0, rank, sent(rank, stage));
    }
    schedule::Message receive(Rank rank, int stage, int) const override {
        const Index before = rank > 0 ? rank - 1 : n_ - 1;
        return message(before, before, sent(before, stage));
    }
    void send_pieces(Rank rank, int stage, int, std::vector<schedule::Piece>& pieces) const override {
        pieces.push_back({schedule::Buffer::source, box(sent(rank, stage))});
    }
    void receive_pieces(Rank rank, int stage, int, std::vector<schedule::Piece>& pieces) const override {
        pieces.push_back({schedule::Buffer::target, box(sent(rank > 0 ? rank - 1 : n_ - 1, stage))});
    }

  private:
    // The chunk that a rank sends: chunk c starts at rank c, is complete at rank c - 1 and goes on from there.
    Index sent(Index rank, int stage) const {
        const Index chunk = (rank - stage) % n_;
        return chunk < 0 ? chunk + n_ : chunk;
    }
    layout::Box box(Index chunk) const { return pattern::AllReduce::range(chunks_.begin(chunk), chunks_.end(chunk)); }
    schedule::Message message(Index peer, Index sender, Index chunk) const {
        return {static_cast<Rank>(peer), chunks_.width(chunk), 0, static_cast<std::int8_t>(sender & 1)};
    }

    Index n_;
    layout::Division chunks_;
};

}  // namespace

std::shared_ptr<const schedule::Schedule> allreduce_ring(std::shared_ptr<const pattern::AllReduce> reduce) {
    if (reduce->ranks() > (1 << 30))
        throw InputError("ring: " + std::to_string(reduce->ranks()) + " ranks make more stages than can be counted; " +
                         "use recursive-k");
    return std::make_shared<AllReduceRing>(std::move(reduce));
}

}  // namespace tradewind::algorithm
