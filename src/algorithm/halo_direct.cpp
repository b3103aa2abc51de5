#include "algorithm/halo_direct.hpp"

#include <limits>

#include "algorithm/halo_strip.hpp"
#include "base/error.hpp"

namespace tradewind {

namespace {

class Direct : public Schedule {
  public:
    explicit Direct(std::shared_ptr<const Halo> halo)
        : Schedule(halo, "direct"), halo_(std::move(halo)), tags_x_(folded_bound(*halo_, X)) {}

    int stages() const override { return 1; }
    int sends(Rank rank, int) const override { return Around(rank, *halo_).messages(); }
    int receives(Rank rank, int) const override { return Around(rank, *halo_).messages(); }
    Message send(Rank rank, int, int j) const override {
        const auto offset = Around(rank, *halo_).nth(j);
        return message(rank, offset, strips(rank, offset, Strip::sent), true);
    }
    Message receive(Rank rank, int, int j) const override {
        const auto offset = Around(rank, *halo_).nth(j);
        return message(rank, offset, strips(rank, offset, Strip::received), false);
    }
    void send_pieces(Rank rank, int, int j, std::vector<Piece>& pieces) const override {
        pieces.push_back(sent(rank, strips(rank, Around(rank, *halo_).nth(j), Strip::sent)));
    }
    void receive_pieces(Rank rank, int, int j, std::vector<Piece>& pieces) const override {
        pieces.push_back(received(rank, strips(rank, Around(rank, *halo_).nth(j), Strip::received)));
    }
    void copies(Rank rank, int, std::vector<Copy>& copies) const override {
        const Around around(rank, *halo_);
        for (int j = 0; j < around.messages(); ++j)
            if (const Strips strip = strips(rank, around.nth(j), Strip::sent);
                peer(rank, strip) == rank && area(strip) > 0)
                copies.push_back({sent(rank, strip), received(rank, strip)});
    }

  private:
    using Offset = std::array<Index, 2>;
    using Strips = std::array<Strip, 2>;

    // The offsets around a rank, row by row, without (0, 0).
    struct Around {
        Index x, y;  // -x..x, -y..y
        Around(Rank rank, const Halo& halo)
            : x(most_offset(halo, X, halo.layout().part(rank, X))),
              y(most_offset(halo, Y, halo.layout().part(rank, Y))) {}
        int messages() const { return static_cast<int>((2 * x + 1) * (2 * y + 1) - 1); }
        Offset nth(int j) const {
            const Index k = j < messages() / 2 ? j : j + 1;
            return {k % (2 * x + 1) - x, k / (2 * x + 1) - y};
        }
    };

    template <class Of>
    Strips strips(Rank rank, const Offset& offset, Of of) const {
        return {of(*halo_, X, halo_->layout().part(rank, X), offset[X]),
                of(*halo_, Y, halo_->layout().part(rank, Y), offset[Y])};
    }
    Rank peer(Rank rank, const Strips& strips) const { return rank_at(*halo_, rank, {strips[X].peer, strips[Y].peer}); }

    static Index area(const Strips& strips) { return strips[X].width() * strips[Y].width(); }

    Message message(Rank rank, const Offset& offset, const Strips& strips, bool sending) const {
        const Rank other = peer(rank, strips);
        const Blocks& layout = halo_->layout();
        const Index depth = layout.division(Z).width(layout.part(rank, Z));
        const Index count = other == rank ? 0 : area(strips) * depth;
        const int axis = offset[X] != 0 ? X : Y;
        const Index sender = layout.part(sending ? rank : other, axis);
        return {other, count, static_cast<std::int32_t>(folded(offset[X]) + tags_x_ * folded(offset[Y])),
                halo_turn(sender, offset[axis])};
    }

    Piece sent(Rank rank, const Strips& strips) const {
        return {Buffer::source, box(rank, strips[X].at_sender, strips[Y].at_sender)};
    }
    Piece received(Rank rank, const Strips& strips) const {
        return {Buffer::target, box(rank, strips[X].at_receiver, strips[Y].at_receiver)};
    }
    Box box(Rank rank, const Interval& x, const Interval& y) const {
        const Box own = halo_->layout().box(rank);
        return {{x[0], y[0], own.begin[Z]}, {x[1], y[1], own.end[Z]}};
    }

    std::shared_ptr<const Halo> halo_;
    Index tags_x_;
};

}  // namespace

std::shared_ptr<const Schedule> halo_direct(std::shared_ptr<const Halo> halo) {
    if (folded_bound(*halo, X) > std::numeric_limits<std::int32_t>::max() / folded_bound(*halo, Y))
        throw InputError("direct: a halo of width " + std::to_string(halo->width()) +
                         " reaches more ranks than one stage can hold; use sweep");
    return std::make_shared<Direct>(std::move(halo));
}

}  // namespace tradewind
