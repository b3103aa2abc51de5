#include "algorithm/gather_scatter_cartesian.hpp"

namespace tradewind::algorithm {

namespace {

// Message 0 of a stage goes up along its axis, message 1 down.
class Cartesian : public schedule::Schedule {
  public:
    explicit Cartesian(std::shared_ptr<const pattern::BrickGatherScatter> whole)
        : Schedule(whole, "cartesian"), whole_(std::move(whole)) {}

    int stages() const override { return 3; }
    int sends(Rank, int) const override { return 2; }
    int receives(Rank, int) const override { return 2; }
    schedule::Message send(Rank rank, int axis, int j) const override {
        return message(rank, side(axis, j == 0 ? 1 : -1), axis, j, rank);
    }
    schedule::Message receive(Rank rank, int axis, int j) const override {
        const pattern::Side from = side(axis, j == 0 ? -1 : 1);
        return message(rank, from, axis, j, brick().neighbor(rank, from));
    }
    void send_pieces(Rank rank, int axis, int j, std::vector<schedule::Piece>& pieces) const override {
        append(rank, side(axis, j == 0 ? 1 : -1), pieces);
    }
    void receive_pieces(Rank rank, int axis, int j, std::vector<schedule::Piece>& pieces) const override {
        append(rank, side(axis, j == 0 ? -1 : 1), pieces);
    }
    bool combines(int) const override { return true; }

  private:
    const pattern::Brick& brick() const { return whole_->brick(); }
    static pattern::Side side(int axis, int to) {
        pattern::Side side{0, 0, 0};
        side[static_cast<std::size_t>(axis)] = to;
        return side;
    }
    schedule::Message message(Rank rank, const pattern::Side& to, int axis, int tag, Rank sender) const {
        const Rank peer = brick().neighbor(rank, to);
        if (peer < 0) return {rank, 0, tag, 0};
        return {peer, brick().facing(rank, to) * whole_->depth(), tag,
                static_cast<std::int8_t>(brick().place_of(sender)[static_cast<std::size_t>(axis)] & 1)};
    }
    // The plane on a side.
    void append(Rank rank, const pattern::Side& on, std::vector<schedule::Piece>& pieces) const {
        brick().each_facing(on, [&](const pattern::Side& of) {
            if (brick().cells_on(rank, of) == 0) return;
            const Index cell = brick().cell_of(rank, of);
            pieces.push_back(
                {schedule::Buffer::source,
                 {{cell, 0, 0}, {cell + brick().cells_on(rank, of), whole_->levels()[0], whole_->levels()[1]}}});
        });
    }

    std::shared_ptr<const pattern::BrickGatherScatter> whole_;
};

}  // namespace

std::shared_ptr<const schedule::Schedule> gather_scatter_cartesian(
    std::shared_ptr<const pattern::BrickGatherScatter> whole) {
    return std::make_shared<Cartesian>(std::move(whole));
}

}  // namespace tradewind::algorithm
