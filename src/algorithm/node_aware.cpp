#include "algorithm/node_aware.hpp"

#include <cstdlib>

namespace tradewind::algorithm {

namespace {

// All of a small machine; of a large one a part, so that a million ranks store no more than thousands.
std::size_t max_remembered(const Nodes& nodes, std::size_t ranks) {
    const std::size_t all = (std::size_t(nodes.ranks) + nodes.width - 1) / nodes.width;
    return std::min(all, std::max<std::size_t>(64, ranks / nodes.width));
}

// Returns the value of a node that is remembered, made where it is not.
template <class Places, class Make>
auto remembered(Places& places, Rank node, Make make) {
    auto& place = places[static_cast<std::size_t>(node) % places.size()];
    const std::lock_guard lock(place.mutex);
    if (place.node != node) {
        place.value = make();
        place.node = node;
    }
    return place.value;
}

template <class Item>
void append(const std::vector<Item>& items, std::vector<Item>& to) {
    to.insert(to.end(), items.begin(), items.end());
}

}  // namespace

NodeAware::NodeAware(std::shared_ptr<const pattern::Pattern> pattern, Index ranks_per_node, Carriers carriers)
    : Schedule(pattern, (carriers == Carriers::leaders ? "leaders-" : "two-level-") + std::to_string(ranks_per_node)),
      nodes_{pattern->ranks(), static_cast<Rank>(ranks_per_node), carriers},
      traffic_(max_remembered(nodes_, 4096)),
      lengths_(max_remembered(nodes_, 131'072)) {}

schedule::Message NodeAware::send(Rank rank, int stage, int j) const {
    const NodeTraffic::Kind kind = kind_of(stage);
    const auto [far, sent, received] = step(rank, stage, j);
    return {peer(kind, rank, far, far), sent, 0, parity(kind, rank, far)};
}

schedule::Message NodeAware::receive(Rank rank, int stage, int j) const {
    const NodeTraffic::Kind kind = kind_of(stage);
    const auto [far, sent, received] = step(rank, stage, j);
    const Rank sender = peer(kind, rank, -far, far);
    return {sender, received, 0, parity(kind, sender, far)};
}

NodeAware::Lengths::Step NodeAware::step(Rank rank, int stage, int j) const {
    const Rank node = nodes_.node(rank);
    const auto known = lengths(node);
    return known->of(kind_of(stage), rank - nodes_.first(node), nodes_.members(node))[j];
}

void NodeAware::send_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const {
    const auto [node, kind] = at(rank, stage);
    append(node->steps(kind, rank)[j].sent.pieces, pieces);
}

void NodeAware::receive_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const {
    const auto [node, kind] = at(rank, stage);
    append(node->steps(kind, rank)[j].received.pieces, pieces);
}

void NodeAware::copies(Rank rank, int stage, std::vector<schedule::Copy>& copies) const {
    if (stage == 0) own_copies(rank, copies);
    if (const auto [node, kind] = at(rank, stage); kind == NodeTraffic::scatter) append(node->copies(rank), copies);
}

std::shared_ptr<const NodeTraffic> NodeAware::work_out(Rank node) const {
    const auto made = std::make_shared<NodeTraffic>(nodes_, node);
    collect(*made);
    made->finish();
    ++worked_out_;
    return made;
}

std::shared_ptr<const NodeTraffic> NodeAware::traffic(Rank node) const {
    return remembered(traffic_, node, [&] { return work_out(node); });
}

std::shared_ptr<const NodeAware::Lengths> NodeAware::lengths(Rank node) const {
    return remembered(lengths_, node, [&] { return lengths_of(node); });
}

std::shared_ptr<const NodeAware::Lengths> NodeAware::lengths_of(Rank node) const {
    const auto made = std::make_shared<Lengths>();
    const auto whole = traffic(node);
    const Rank first = nodes_.first(node), end = first + nodes_.members(node);
    for (const NodeTraffic::Kind kind : {NodeTraffic::gather, NodeTraffic::exchange, NodeTraffic::scatter})
        for (Rank rank = first; rank < end; ++rank) {
            made->begins.push_back(made->steps.size());
            for (const NodeTraffic::Step& step : whole->steps(kind, rank))
                made->steps.push_back({static_cast<Rank>(step.far), step.sent.count, step.received.count});
        }
    made->begins.push_back(made->steps.size());
    made->steps.shrink_to_fit();
    return made;
}

std::span<const NodeAware::Lengths::Step> NodeAware::Lengths::of(NodeTraffic::Kind kind, Rank member,
                                                                 Rank members) const {
    const std::size_t at = static_cast<std::size_t>(kind) * static_cast<std::size_t>(members) + member;
    return {steps.data() + begins[at], begins[at + 1] - begins[at]};
}

NodeTraffic::Kind NodeAware::kind_of(int stage) const {
    return nodes_.width == 1 ? NodeTraffic::exchange : static_cast<NodeTraffic::Kind>(stage);
}

NodeAware::At NodeAware::at(Rank rank, int stage) const {
    return {traffic(nodes_.node(rank)), kind_of(stage)};
}

int NodeAware::messages(Rank rank, int stage) const {
    const Rank node = nodes_.node(rank);
    return static_cast<int>(lengths(node)->of(kind_of(stage), rank - nodes_.first(node), nodes_.members(node)).size());
}

// The rank at the other end, `to` ranks or nodes on, of a message that goes `far`. Where there is no such node the
// message is empty.
Rank NodeAware::peer(NodeTraffic::Kind kind, Rank rank, Index to, Index far) const {
    const Rank node = nodes_.node(rank), first = nodes_.first(node), members = nodes_.members(node);
    if (kind != NodeTraffic::exchange) return first + static_cast<Rank>((rank - first + to + members) % members);
    const Index other = node + to;
    if (other < 0 || other * nodes_.width >= ranks()) return rank;
    return nodes_.carrier(static_cast<Rank>(other), static_cast<Rank>(far));
}

// Two ranks or nodes so far apart send in different halves: one in the even, one in the odd (away from the seam).
std::int8_t NodeAware::parity(NodeTraffic::Kind kind, Rank sender, Index far) const {
    const Rank node = nodes_.node(sender);
    const Index number = kind == NodeTraffic::exchange ? node : sender - nodes_.first(node);
    return static_cast<std::int8_t>((number / std::abs(far)) & 1);
}

}  // namespace tradewind::algorithm
