#include "algorithm/gather_scatter_pairwise.hpp"

#include "algorithm/fetch_direct.hpp"
#include "algorithm/gather_scatter_fetched.hpp"
#include "pattern/gather_scatter_brick.hpp"

namespace tradewind::algorithm {

namespace {

// Message j goes to side j, and comes from the side opposite.
class BrickPairwise : public schedule::Schedule {
  public:
    explicit BrickPairwise(std::shared_ptr<const pattern::BrickGatherScatter> whole)
        : Schedule(whole, "pairwise"), whole_(std::move(whole)) {}

    int stages() const override { return 1; }
    int sends(Rank, int) const override { return pattern::Brick::sides; }
    int receives(Rank, int) const override { return pattern::Brick::sides; }
    schedule::Message send(Rank rank, int, int j) const override {
        return message(rank, pattern::Brick::side(j), j, rank);
    }
    schedule::Message receive(Rank rank, int, int j) const override {
        const pattern::Side side = opposite(j);
        return message(rank, side, j, brick().neighbor(rank, side));
    }
    void send_pieces(Rank rank, int, int j, std::vector<schedule::Piece>& pieces) const override {
        brick().each_facing(pattern::Brick::side(j), [&](const pattern::Side& of) {
            if (brick().cells_on(rank, of) == 0) return;
            const Index cell = brick().cell_of(rank, of);
            pieces.push_back({schedule::Buffer::source, box(cell, cell + brick().cells_on(rank, of))});
        });
    }
    void receive_pieces(Rank rank, int, int j, std::vector<schedule::Piece>& pieces) const override {
        const pattern::Side side = opposite(j);
        Index target = whole_->target_of(rank, side);
        brick().each_facing(side, [&](const pattern::Side& of) {
            const Index end = target + brick().cells_on(rank, of);
            if (end == target) return;
            pieces.push_back({schedule::Buffer::target, box(target, end)});
            target = end;
        });
    }

  private:
    const pattern::Brick& brick() const { return whole_->brick(); }
    static pattern::Side opposite(int j) { return pattern::Brick::side(pattern::Brick::sides - 1 - j); }
    layout::Box box(Index begin, Index end) const {
        return {{begin, 0, 0}, {end, whole_->levels()[0], whole_->levels()[1]}};
    }
    // Ranks next to each other along the first direction that a message takes send in different halves.
    schedule::Message message(Rank rank, const pattern::Side& side, int tag, Rank sender) const {
        const Rank peer = brick().neighbor(rank, side);
        if (peer < 0) return {rank, 0, tag, 0};
        const int axis = side[0] != 0 ? 0 : side[1] != 0 ? 1 : 2;
        return {peer, brick().facing(rank, side) * whole_->depth(), tag,
                static_cast<std::int8_t>(brick().place_of(sender)[static_cast<std::size_t>(axis)] & 1)};
    }

    std::shared_ptr<const pattern::BrickGatherScatter> whole_;
};

}  // namespace

std::shared_ptr<const schedule::Schedule> gather_scatter_pairwise(std::shared_ptr<const pattern::GatherScatter> whole) {
    if (auto brick = std::dynamic_pointer_cast<const pattern::BrickGatherScatter>(whole))
        return std::make_shared<BrickPairwise>(std::move(brick));
    const auto listed = std::dynamic_pointer_cast<const pattern::ListedGatherScatter>(whole);
    return std::make_shared<GatherScatterFetched>(listed, fetch_direct(listed->exchange()), "pairwise");
}

}  // namespace tradewind::algorithm
