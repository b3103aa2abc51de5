#include "algorithm/halo_two_level.hpp"

#include <mutex>

#include "algorithm/halo_node.hpp"

namespace tradewind {

namespace {

// The nodes that were asked about last: a model's ranks are asked node by node, a simulation's as they come.
class Remembered {
  public:
    Remembered(std::shared_ptr<const Halo> halo, const Nodes& nodes)
        : halo_(std::move(halo)), nodes_(nodes), places_(most(nodes)) {}

    std::shared_ptr<const NodeTraffic> at(Rank node) {
        Place& place = places_[static_cast<std::size_t>(node) % places_.size()];
        const std::lock_guard lock(place.mutex);
        if (!place.traffic || place.traffic->node() != node)
            place.traffic = std::make_shared<const NodeTraffic>(*halo_, nodes_, node);
        return place.traffic;
    }

  private:
    struct Place {
        std::mutex mutex;
        std::shared_ptr<const NodeTraffic> traffic;
    };
    // All of a small machine; of a large one a part, so that a million ranks store no more than thousands.
    static std::size_t most(const Nodes& nodes) {
        const std::size_t all = (nodes.ranks + nodes.width - 1) / nodes.width, ranks = 4096;
        return std::min(all, std::max<std::size_t>(64, ranks / nodes.width));
    }

    std::shared_ptr<const Halo> halo_;
    Nodes nodes_;
    std::vector<Place> places_;
};

class TwoLevel : public Schedule {
  public:
    TwoLevel(std::shared_ptr<const Halo> halo, Index ranks_per_node, Carriers carriers)
        : Schedule(halo, (carriers == Carriers::leaders ? "leaders-" : "two-level-") + std::to_string(ranks_per_node)),
          halo_(halo),
          nodes_{halo->ranks(), static_cast<Rank>(ranks_per_node), carriers == Carriers::leaders},
          remembered_(std::move(halo), nodes_) {}

    int stages() const override { return nodes_.width > 1 && nodes_.width < ranks() ? 3 : 1; }
    int sends(Rank rank, int stage) const override { return messages(rank, stage); }
    int receives(Rank rank, int stage) const override { return messages(rank, stage); }

    Message send(Rank rank, int stage, int j) const override {
        const auto [node, kind] = at(rank, stage);
        const NodeTraffic::Step& step = node->steps(kind, rank)[j];
        return {peer(kind, rank, step.far, step.far), step.sent.count, 0, turn(kind, rank, step.far)};
    }
    Message receive(Rank rank, int stage, int j) const override {
        const auto [node, kind] = at(rank, stage);
        const NodeTraffic::Step& step = node->steps(kind, rank)[j];
        const Rank sender = peer(kind, rank, -step.far, step.far);
        return {sender, step.received.count, 0, turn(kind, sender, step.far)};
    }
    void send_pieces(Rank rank, int stage, int j, std::vector<Piece>& pieces) const override {
        const auto [node, kind] = at(rank, stage);
        append(node->steps(kind, rank)[j].sent.pieces, pieces);
    }
    void receive_pieces(Rank rank, int stage, int j, std::vector<Piece>& pieces) const override {
        const auto [node, kind] = at(rank, stage);
        append(node->steps(kind, rank)[j].received.pieces, pieces);
    }
    void copies(Rank rank, int stage, std::vector<Copy>& copies) const override {
        if (stage == 0) copy_parcels(*halo_, rank, copies);
        if (const auto [node, kind] = at(rank, stage); kind == NodeTraffic::scatter) append(node->copies(rank), copies);
    }
    Index scratch(Rank rank) const override { return remembered_.at(nodes_.node(rank))->scratch(rank); }

  private:
    template <class Item>
    static void append(const std::vector<Item>& items, std::vector<Item>& to) {
        to.insert(to.end(), items.begin(), items.end());
    }
    struct At {
        std::shared_ptr<const NodeTraffic> node;
        NodeTraffic::Kind kind;
    };
    At at(Rank rank, int stage) const {
        const auto kind = nodes_.width == 1 ? NodeTraffic::exchange : static_cast<NodeTraffic::Kind>(stage);
        return {remembered_.at(nodes_.node(rank)), kind};
    }
    int messages(Rank rank, int stage) const {
        const auto [node, kind] = at(rank, stage);
        return static_cast<int>(node->steps(kind, rank).size());
    }

    // The rank at the other end, `to` ranks or nodes on, of a message that goes `far`. There is none at an edge of the
    // grid, where the letter is empty.
    Rank peer(NodeTraffic::Kind kind, Rank rank, Index to, Index far) const {
        const Rank node = nodes_.node(rank), first = nodes_.first(node), members = nodes_.members(node);
        if (kind != NodeTraffic::exchange) return first + static_cast<Rank>((rank - first + to + members) % members);
        const Index other = node + to;
        if (other < 0 || other * nodes_.width >= ranks()) return rank;
        return nodes_.carrier(static_cast<Rank>(other), static_cast<Rank>(far));
    }
    std::int8_t turn(NodeTraffic::Kind kind, Rank sender, Index far) const {
        const Rank node = nodes_.node(sender);
        return halo_turn(kind == NodeTraffic::exchange ? node : sender - nodes_.first(node), far);
    }

    std::shared_ptr<const Halo> halo_;
    Nodes nodes_;
    mutable Remembered remembered_;
};

}  // namespace

std::shared_ptr<const Schedule> halo_two_level(std::shared_ptr<const Halo> halo, Index ranks_per_node,
                                               Carriers carriers) {
    const auto schedule = std::make_shared<TwoLevel>(halo, ranks_per_node, carriers);
    refuse_far_halo(*halo, schedule->algorithm());
    return schedule;
}

}  // namespace tradewind
