#include "algorithm/gather_scatter_two_level.hpp"

#include <algorithm>
#include <map>

#include "algorithm/fetch_two_level.hpp"
#include "algorithm/gather_scatter_fetched.hpp"
#include "algorithm/node_aware.hpp"
#include "base/error.hpp"
#include "pattern/gather_scatter_brick.hpp"

namespace tradewind::algorithm {

namespace {

using pattern::Brick;

// The numbers of cells of a rank on each side, and where they begin: in its own array, in the target array of a
// neighbour, and among all that it shares with the rank on a side. Ranks with neighbours along the same planes have the
// same.
struct Cells {
    std::array<Index, Brick::sides> count{}, begin{}, target{};          // [side]
    std::array<std::array<Index, Brick::sides>, Brick::sides> within{};  // [side of the neighbour][side of the cells]
};

// The sides whose ranks share the cells on a side: by side of the cells.
std::array<std::vector<int>, Brick::sides> sharing_sides() {
    std::array<std::vector<int>, Brick::sides> found;
    for (int to = 0; to < Brick::sides; ++to)
        Brick::each_facing(Brick::side(to), [&](const pattern::Side& of) { found[Brick::number(of)].push_back(to); });
    return found;
}

class BrickTwoLevel : public NodeAware {
  public:
    BrickTwoLevel(std::shared_ptr<const pattern::BrickGatherScatter> whole, Index ranks_per_node, Carriers carriers)
        : NodeAware(whole, ranks_per_node, carriers), whole_(std::move(whole)), sharing_(sharing_sides()) {
        std::array<std::vector<Index>, 3> places;  // along each axis: first, second and last have all kinds of planes
        for (int a = 0; a < 3; ++a) {
            const Index last = brick().split()[a] - 1;
            for (const Index place : {Index{0}, std::min<Index>(1, last), last}) places[a].push_back(place);
        }
        for (const Index z : places[2])
            for (const Index y : places[1])
                for (const Index x : places[0]) {
                    const auto rank = static_cast<Rank>(x + brick().split()[0] * (y + brick().split()[1] * z));
                    cells_.try_emplace(brick().planes(rank), cells_of(rank));
                }
    }

  private:
    void collect(NodeTraffic& traffic) const override {
        const Rank node = traffic.node(), first = nodes().first(node), end = first + nodes().members(node);
        std::vector<Rank> senders;  // of other nodes
        for (Rank rank = first; rank < end; ++rank) {
            const auto anywhere = [](Rank) { return true; };
            each_tile(rank, anywhere, [&](Rank to, const Tile& tile) {
                if (to != node) return traffic.add_outgoing(rank, to - node, tile);
                for (const Tile::Want& want : tile.wants)
                    traffic.add_local(rank, want.receiver, tile.at_sender, want.at_receiver);
            });
            for (const Rank peer : brick().neighbors(rank))
                if (peer >= 0 && nodes().node(peer) != node) senders.push_back(peer);
        }
        std::sort(senders.begin(), senders.end());
        senders.erase(std::unique(senders.begin(), senders.end()), senders.end());
        const auto here = [node](Rank to) { return to == node; };
        for (const Rank sender : senders)
            each_tile(sender, here,
                      [&](Rank, const Tile& tile) { traffic.add_incoming(node - nodes().node(sender), tile); });
    }
    void own_copies(Rank, std::vector<schedule::Copy>&) const override {}

    // Calls take(node, tile) for the cells of each side of a rank and each node among those that are `asked` for where
    // they are wanted, in ascending order of nodes. Its steps do not depend on the number of ranks.
    template <class Asked, class Take>
    void each_tile(Rank sender, Asked asked, Take take) const {
        std::array<Rank, Brick::sides> receivers = brick().neighbors(sender);  // -1: none, or not asked for
        std::array<Rank, Brick::sides> nodes_of{};
        std::array<const Cells*, Brick::sides> theirs{};
        bool any = false;
        for (int side = 0; side < Brick::sides; ++side) {
            Rank& receiver = receivers[side];
            if (receiver < 0) continue;
            nodes_of[side] = nodes().node(receiver);
            if (!asked(nodes_of[side])) {
                receiver = -1;
                continue;
            }
            theirs[side] = &cells_.at(brick().planes(receiver));
            any = true;
        }
        if (!any) return;
        const Cells& own = cells_.at(brick().planes(sender));
        std::vector<std::pair<Rank, Tile>> by_node;
        for (int of = 0; of < Brick::sides; ++of) {
            if (own.count[of] == 0) continue;
            by_node.clear();
            for (const int side : sharing_[of]) {
                if (receivers[side] < 0) continue;
                const Index at = theirs[side]->target[Brick::sides - 1 - side] + own.within[side][of];
                auto found = by_node.begin();
                while (found != by_node.end() && found->first < nodes_of[side]) ++found;
                if (found == by_node.end() || found->first != nodes_of[side])
                    found = by_node.insert(found, {nodes_of[side], Tile{box(own.begin[of], own.count[of]), {}}});
                found->second.wants.push_back({receivers[side], box(at, own.count[of])});
            }
            for (const auto& [node, tile] : by_node) take(node, tile);
        }
    }
    Cells cells_of(Rank rank) const {
        Cells cells;
        Index begin = 0, target = 0;
        for (int j = 0; j < Brick::sides; ++j) {
            const pattern::Side side = Brick::side(j);
            cells.count[j] = brick().cells_on(rank, side);
            cells.begin[j] = begin;
            begin += cells.count[j];
            cells.target[j] = target;
            target += brick().facing(rank, side);
            Index within = 0;
            Brick::each_facing(side, [&](const pattern::Side& of) {
                cells.within[j][Brick::number(of)] = within;
                within += brick().cells_on(rank, of);
            });
        }
        return cells;
    }
    const Brick& brick() const { return whole_->brick(); }
    layout::Box box(Index begin, Index length) const {
        return {{begin, 0, 0}, {begin + length, whole_->levels()[0], whole_->levels()[1]}};
    }

    std::shared_ptr<const pattern::BrickGatherScatter> whole_;
    std::array<std::vector<int>, Brick::sides> sharing_;
    std::map<unsigned, Cells> cells_;  // by planes
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
