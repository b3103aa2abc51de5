#include "algorithm/halo_two_level.hpp"

#include <map>
#include <tuple>

#include "algorithm/halo_tile.hpp"
#include "algorithm/node_aware.hpp"

namespace tradewind::algorithm {

namespace {

class HaloTwoLevel : public NodeAware {
  public:
    HaloTwoLevel(std::shared_ptr<const pattern::Halo> halo, Index ranks_per_node, Carriers carriers)
        : NodeAware(halo, ranks_per_node, carriers), halo_(std::move(halo)) {
        refuse_far_halo(*halo_, algorithm());
    }

  private:
    void collect(NodeTraffic& traffic) const override {
        const Rank node = traffic.node(), first = nodes().first(node), end = first + nodes().members(node);
        for (Rank rank = first; rank < end; ++rank) leave(rank, node, traffic);
        std::map<Rank, std::vector<Parcel>> coming;  // by sender
        for (Rank rank = first; rank < end; ++rank)
            Parcels(*halo_, rank)
                .each_received([&](Rank sender) { return nodes().node(sender) != node; },
                               [&](const Parcel& parcel) { coming[parcel.sender].push_back(parcel); });
        for (auto& [sender, parcels] : coming)
            for (const Tile& tile : tiles(parcels)) traffic.add_incoming(node - nodes().node(sender), tile);
    }
    void own_copies(Rank rank, std::vector<schedule::Copy>& copies) const override {
        copy_parcels(*halo_, rank, copies);
    }

    void leave(Rank rank, Rank node, NodeTraffic& traffic) const {
        std::map<Rank, std::vector<Parcel>> leaving;  // by the distance of nodes
        Parcels(*halo_, rank)
            .each_sent([&](Rank receiver) { return receiver != rank; },
                       [&](const Parcel& parcel) {
                           if (const Rank distance = nodes().node(parcel.receiver) - node; distance != 0)
                               leaving[distance].push_back(parcel);
                           else
                               traffic.add_local(rank, parcel.receiver, parcel.at_sender, parcel.at_receiver);
                       });
        for (auto& [distance, parcels] : leaving)
            for (const Tile& tile : tiles(parcels)) traffic.add_outgoing(rank, distance, tile);
    }

    // A rank alone on its node has no stage in which it could put points that it wants twice where they belong.
    std::vector<Tile> tiles(std::vector<Parcel>& parcels) const {
        if (nodes().width > 1) return cut(parcels);
        const auto place = [](const Parcel& p) { return std::tuple(p.offset[layout::Y], p.offset[layout::X]); };
        std::sort(parcels.begin(), parcels.end(),
                  [&](const Parcel& a, const Parcel& b) { return place(a) < place(b); });
        return whole(parcels);
    }

    std::shared_ptr<const pattern::Halo> halo_;
};

}  // namespace

std::shared_ptr<const schedule::Schedule> halo_two_level(std::shared_ptr<const pattern::Halo> halo,
                                                         Index ranks_per_node, Carriers carriers) {
    return std::make_shared<HaloTwoLevel>(std::move(halo), ranks_per_node, carriers);
}

}  // namespace tradewind::algorithm
