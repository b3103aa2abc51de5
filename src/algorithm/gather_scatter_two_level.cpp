#include "algorithm/gather_scatter_two_level.hpp"

#include <map>
#include <set>

#include "algorithm/fetch_two_level.hpp"
#include "algorithm/gather_scatter_fetched.hpp"
#include "algorithm/node_aware.hpp"
#include "base/error.hpp"
#include "pattern/gather_scatter_brick.hpp"

namespace tradewind::algorithm {

namespace {

class BrickTwoLevel : public NodeAware {
  public:
    BrickTwoLevel(std::shared_ptr<const pattern::BrickGatherScatter> whole, Index ranks_per_node, Carriers carriers)
        : NodeAware(whole, ranks_per_node, carriers), whole_(std::move(whole)) {}

  private:
    void tell(NodeTraffic& traffic) const override {
        const Rank node = traffic.node(), first = nodes().first(node), end = first + nodes().members(node);
        std::set<Rank> senders;  // of other nodes
        for (Rank rank = first; rank < end; ++rank) {
            const auto anywhere = [](Rank) { return true; };
            each_tile(rank, anywhere, [&](Rank to, const Tile& tile) {
                if (to != node) return traffic.leaves(rank, to - node, tile);
                for (const Tile::Want& want : tile.wants)
                    traffic.inside(rank, want.receiver, tile.at_sender, want.at_receiver);
            });
            pattern::Brick::for_sides([&](const pattern::Side& side) {
                const Rank peer = brick().neighbor(rank, side);
                if (peer >= 0 && nodes().node(peer) != node) senders.insert(peer);
            });
        }
        const auto here = [node](Rank to) { return to == node; };
        for (const Rank sender : senders)
            each_tile(sender, here, [&](Rank, const Tile& tile) { traffic.comes(node - nodes().node(sender), tile); });
    }
    void own_copies(Rank, std::vector<schedule::Copy>&) const override {}

    // Calls take(node, tile) for the cells of each side of a rank and each node among those that are `asked` for where
    // they are wanted.
    template <class Asked, class Take>
    void each_tile(Rank sender, Asked asked, Take take) const {
        std::array<std::array<std::array<Rank, 3>, 3>, 3> receivers{};  // by side; -1: none, or not asked for
        for (auto& plane : receivers)
            for (auto& line : plane) line.fill(-1);
        const auto receiver_on = [&](const pattern::Side& side) -> Rank& {
            return receivers[static_cast<std::size_t>(side[2] + 1)][static_cast<std::size_t>(side[1] + 1)]
                            [static_cast<std::size_t>(side[0] + 1)];
        };
        bool any = false;
        pattern::Brick::for_sides([&](const pattern::Side& side) {
            const Rank receiver = brick().neighbor(sender, side);
            if (receiver < 0 || !asked(nodes().node(receiver))) return;
            receiver_on(side) = receiver;
            any = true;
        });
        if (!any) return;
        pattern::Brick::for_sides([&](const pattern::Side& of) {
            const Index cell = brick().cell_of(sender, of), length = brick().cells_on(sender, of);
            if (length == 0) return;
            std::map<Rank, Tile> by_node;
            pattern::Brick::for_sides([&](const pattern::Side& side) {
                for (int a = 0; a < 3; ++a)
                    if (side[a] != 0 && side[a] != of[a]) return;
                const Rank receiver = receiver_on(side);
                if (receiver < 0) return;
                const Index at = place_at(receiver, sender, side, of);
                Tile& tile = by_node[nodes().node(receiver)];
                tile.at_sender = box(cell, length);
                tile.wants.push_back({receiver, box(at, length)});
            });
            for (const auto& [node, tile] : by_node) take(node, tile);
        });
    }
    // Where the receiver has the cells on side `of` of the sender, which it faces on `side` as the sender sees it.
    Index place_at(Rank receiver, Rank sender, const pattern::Side& side, const pattern::Side& of) const {
        Index at = whole_->target_of(receiver, {-side[0], -side[1], -side[2]});
        bool reached = false;
        brick().each_facing(side, [&](const pattern::Side& cells) {
            reached = reached || cells == of;
            if (!reached) at += brick().cells_on(sender, cells);
        });
        return at;
    }
    const pattern::Brick& brick() const { return whole_->brick(); }
    layout::Box box(Index begin, Index length) const {
        return {{begin, 0, 0}, {begin + length, whole_->levels()[0], whole_->levels()[1]}};
    }

    std::shared_ptr<const pattern::BrickGatherScatter> whole_;
};

}  // namespace

std::shared_ptr<const schedule::Schedule> gather_scatter_two_level(std::shared_ptr<const pattern::GatherScatter> whole,
                                                                   Index ranks_per_node, Carriers carriers) {
    if (auto brick = std::dynamic_pointer_cast<const pattern::BrickGatherScatter>(whole))
        return std::make_shared<BrickTwoLevel>(std::move(brick), ranks_per_node, carriers);
    const auto listed = std::dynamic_pointer_cast<const pattern::ListedGatherScatter>(whole);
    if (listed->partial())
        throw InputError(
            "two-level and leaders pass values on from rank to rank, so they need the ids of all ranks; this " +
            whole->describe() + " describes one rank alone: use pairwise, or make a plan, which gathers them");
    const auto fetch = fetch_two_level(listed->exchange(), ranks_per_node, carriers);
    return std::make_shared<GatherScatterFetched>(listed, fetch, fetch->algorithm());
}

}  // namespace tradewind::algorithm
