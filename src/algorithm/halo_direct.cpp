#include "algorithm/halo_direct.hpp"

#include "algorithm/halo_parcel.hpp"

namespace tradewind::algorithm {

namespace {

class HaloDirect : public schedule::Schedule {
  public:
    explicit HaloDirect(std::shared_ptr<const pattern::Halo> halo)
        : Schedule(halo, "direct"), halo_(std::move(halo)), tags_x_(folded_bound(*halo_, layout::X)) {}

    int stages() const override { return 1; }
    int sends(Rank rank, int) const override { return Parcels(*halo_, rank).size(); }
    int receives(Rank rank, int) const override { return Parcels(*halo_, rank).size(); }
    schedule::Message send(Rank rank, int, int j) const override {
        const Parcel parcel = sent(rank, j);
        return message(parcel, parcel.receiver);
    }
    schedule::Message receive(Rank rank, int, int j) const override {
        const Parcel parcel = received(rank, j);
        return message(parcel, parcel.sender);
    }
    void send_pieces(Rank rank, int, int j, std::vector<schedule::Piece>& pieces) const override {
        pieces.push_back({schedule::Buffer::source, sent(rank, j).at_sender});
    }
    void receive_pieces(Rank rank, int, int j, std::vector<schedule::Piece>& pieces) const override {
        pieces.push_back({schedule::Buffer::target, received(rank, j).at_receiver});
    }
    void copies(Rank rank, int, std::vector<schedule::Copy>& copies) const override {
        copy_parcels(*halo_, rank, copies);
    }

  private:
    Parcel sent(Rank rank, int j) const {
        const Parcels parcels(*halo_, rank);
        return parcels.sent(parcels.offset(j));
    }
    Parcel received(Rank rank, int j) const {
        const Parcels parcels(*halo_, rank);
        return parcels.received(parcels.offset(j));
    }
    schedule::Message message(const Parcel& parcel, Rank peer) const {
        const Offset& offset = parcel.offset;
        const Index count = parcel.sender == parcel.receiver ? 0 : parcel.count();
        const int axis = offset[layout::X] != 0 ? layout::X : layout::Y;
        return {peer, count, static_cast<std::int32_t>(folded(offset[layout::X]) + tags_x_ * folded(offset[layout::Y])),
                halo_parity(halo_->layout().part(parcel.sender, axis), offset[axis])};
    }

    std::shared_ptr<const pattern::Halo> halo_;
    Index tags_x_;
};

}  // namespace

std::shared_ptr<const schedule::Schedule> halo_direct(std::shared_ptr<const pattern::Halo> halo) {
    refuse_far_halo(*halo, "direct");
    return std::make_shared<HaloDirect>(std::move(halo));
}

}  // namespace tradewind::algorithm
