#include "algorithm/halo_direct.hpp"

#include <limits>

#include "algorithm/halo_strip.hpp"

namespace tradewind {

namespace {

class Direct : public Schedule {
  public:
    explicit Direct(std::shared_ptr<const Halo> halo)
        : Schedule(halo, "direct"), halo_(std::move(halo)), tags_x_(folded_bound(*halo_, X)) {}

    int stages() const override { return 1; }
    int sends(Rank rank, int) const override { return Around(rank, *halo_, Offsets::sent).messages(); }
    int receives(Rank rank, int) const override { return Around(rank, *halo_, Offsets::received).messages(); }
    Message send(Rank rank, int, int j) const override {
        const auto offset = Around(rank, *halo_, Offsets::sent).nth(j);
        return message(rank, offset, strips(rank, offset, Strip::sent), true);
    }
    Message receive(Rank rank, int, int j) const override {
        const auto offset = Around(rank, *halo_, Offsets::received).nth(j);
        return message(rank, offset, strips(rank, offset, Strip::received), false);
    }
    void send_pieces(Rank rank, int, int j, std::vector<Piece>& pieces) const override {
        pieces.push_back(sent(rank, strips(rank, Around(rank, *halo_, Offsets::sent).nth(j), Strip::sent)));
    }
    void receive_pieces(Rank rank, int, int j, std::vector<Piece>& pieces) const override {
        pieces.push_back(received(rank, strips(rank, Around(rank, *halo_, Offsets::received).nth(j), Strip::received)));
    }
    void copies(Rank rank, int, std::vector<Copy>& copies) const override {
        const Around around(rank, *halo_, Offsets::sent);
        for (int j = 0; j < around.messages(); ++j)
            if (const Strips strip = strips(rank, around.nth(j), Strip::sent); peer(strip) == rank)
                copies.push_back({sent(rank, strip), received(rank, strip)});
    }

  private:
    using Offset = std::array<Index, 2>;
    using Strips = std::array<Strip, 2>;

    // The offsets around a rank, row by row, without (0, 0).
    struct Around {
        Offsets x, y;
        template <class Of>
        Around(Rank rank, const Halo& halo, Of of)
            : x(of(halo, X, halo.layout().coordinates(rank)[X])), y(of(halo, Y, halo.layout().coordinates(rank)[Y])) {}
        int messages() const { return static_cast<int>(x.count() * y.count() - 1); }
        Offset nth(int j) const {
            const Index own = -x.first - y.first * x.count(), k = j < own ? j : j + 1;
            return {x.first + k % x.count(), y.first + k / x.count()};
        }
    };

    template <class Of>
    Strips strips(Rank rank, const Offset& offset, Of of) const {
        const auto coordinates = halo_->layout().coordinates(rank);
        return {of(*halo_, X, coordinates[X], offset[X]), of(*halo_, Y, coordinates[Y], offset[Y])};
    }
    Rank peer(const Strips& strips) const { return halo_->layout().rank_at({strips[X].peer, strips[Y].peer}); }

    Message message(Rank rank, const Offset& offset, const Strips& strips, bool sending) const {
        const Rank other = peer(strips);
        const Index depth = halo_->layout().grid().points[Z];
        const Index count = other == rank ? 0 : strips[X].width() * strips[Y].width() * depth;
        const int axis = offset[X] != 0 ? X : Y;
        const Index sender = halo_->layout().coordinates(sending ? rank : other)[axis];
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
