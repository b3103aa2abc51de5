#include "algorithm/halo_sweep.hpp"

#include "algorithm/halo_strip.hpp"

namespace tradewind::algorithm {

namespace {

class Sweep : public schedule::Schedule {
  public:
    explicit Sweep(std::shared_ptr<const pattern::Halo> halo) : Schedule(halo, "sweep"), halo_(std::move(halo)) {}

    int stages() const override { return 2; }
    int sends(Rank rank, int stage) const override { return messages(rank, stage); }
    int receives(Rank rank, int stage) const override { return messages(rank, stage); }
    schedule::Message send(Rank rank, int stage, int j) const override {
        const Index offset = nth(rank, stage, j);
        return message(rank, stage, offset, Strip::sent(*halo_, stage, part(rank, stage), offset), true);
    }
    schedule::Message receive(Rank rank, int stage, int j) const override {
        const Index offset = nth(rank, stage, j);
        return message(rank, stage, offset, Strip::received(*halo_, stage, part(rank, stage), offset), false);
    }
    void send_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        pieces.push_back(sent(rank, stage, Strip::sent(*halo_, stage, part(rank, stage), nth(rank, stage, j))));
    }
    void receive_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        pieces.push_back(received(rank, stage, Strip::received(*halo_, stage, part(rank, stage), nth(rank, stage, j))));
    }
    void copies(Rank rank, int stage, std::vector<schedule::Copy>& copies) const override {
        const Index own = part(rank, stage);
        for (int j = 0; j < messages(rank, stage); ++j)
            if (const Strip strip = Strip::sent(*halo_, stage, own, nth(rank, stage, j));
                strip.peer == own && strip.width() > 0)
                copies.push_back({sent(rank, stage, strip), received(rank, stage, strip)});
    }

  private:
    // Stage 0 runs along axis X = 0, stage 1 along Y = 1.
    Index part(Rank rank, int axis) const { return halo_->layout().part(rank, axis); }
    Rank at(Rank rank, int axis, Index part_there) const {
        std::array<Index, 2> parts{part(rank, layout::X), part(rank, layout::Y)};
        parts[axis] = part_there;
        return rank_at(*halo_, rank, parts);
    }
    int messages(Rank rank, int stage) const {
        return static_cast<int>(2 * max_offset(*halo_, stage, part(rank, stage)));
    }
    Index nth(Rank rank, int stage, int j) const {
        const Index offset = j - max_offset(*halo_, stage, part(rank, stage));
        return offset < 0 ? offset : offset + 1;
    }

    schedule::Message message(Rank rank, int stage, Index offset, const Strip& strip, bool sending) const {
        const Rank peer = at(rank, stage, strip.peer);
        const Index sender = sending ? part(rank, stage) : strip.peer;
        const Index count = peer == rank || strip.width() == 0 ? 0 : received(rank, stage, strip).box.volume();
        return {peer, count, static_cast<std::int32_t>(folded(offset)), halo_parity(sender, offset)};
    }

    // A strip of the array: in the first stage own rows, in the second the x halo is with them.
    layout::Box box(Rank rank, int stage, const Interval& points) const {
        layout::Box box = halo_->layout().box(rank);
        if (stage == layout::Y) {
            const Interval x = halo_->extended(layout::X, part(rank, layout::X));
            box.begin[layout::X] = x[0];
            box.end[layout::X] = x[1];
        }
        box.begin[stage] = points[0];
        box.end[stage] = points[1];
        return box;
    }
    schedule::Piece sent(Rank rank, int stage, const Strip& strip) const {
        return {schedule::Buffer::source, box(rank, stage, strip.at_sender)};
    }
    schedule::Piece received(Rank rank, int stage, const Strip& strip) const {
        return {schedule::Buffer::target, box(rank, stage, strip.at_receiver)};
    }

    std::shared_ptr<const pattern::Halo> halo_;
};

}  // namespace

std::shared_ptr<const schedule::Schedule> halo_sweep(std::shared_ptr<const pattern::Halo> halo) {
    return std::make_shared<Sweep>(std::move(halo));
}

}  // namespace tradewind::algorithm
