#include "algorithm/halo_node.hpp"

#include <tuple>

namespace tradewind {

namespace {

void put(NodeTraffic::Letter& letter, const Parcel& parcel, std::uint32_t id) {
    letter.count += parcel.count();
    letter.parcels.push_back(id);
}

bool before(const Parcel& a, const Parcel& b) {
    const auto key = [](const Parcel& p) { return std::tuple(p.sender, p.offset[Y], p.offset[X]); };
    return key(a) < key(b);
}

}  // namespace

NodeTraffic::NodeTraffic(const Halo& halo, const Nodes& nodes, Rank node)
    : node_(node), first_(nodes.first(node)), members_(nodes.members(node)), kept_(members_) {
    for (auto& steps : steps_) steps.resize(members_);
    leave(halo, nodes);
    come(halo, nodes);
    for (auto& of_kind : steps_)
        for (auto& steps : of_kind) {
            const bool between = &of_kind == &steps_[exchange];
            std::sort(steps.begin(), steps.end(), [&](const Step& a, const Step& b) {
                return between ? folded(a.far) < folded(b.far) : a.far < b.far;
            });
        }
}

// Few enough to look through.
NodeTraffic::Step& NodeTraffic::step(Kind kind, Rank rank, Index far) {
    auto& steps = steps_[kind][rank - first_];
    for (Step& step : steps)
        if (step.far == far) return step;
    return steps.emplace_back(Step{far, {}, {}});
}

std::uint32_t NodeTraffic::add(const Parcel& parcel, Rank carrier, bool keeps) {
    parcels_.push_back(parcel);
    slots_.push_back(keeps ? kept_[carrier - first_] : -1);
    if (keeps) kept_[carrier - first_] += parcel.count();
    return static_cast<std::uint32_t>(parcels_.size() - 1);
}

void NodeTraffic::within(Kind kind, Rank from, Rank to, std::uint32_t id) {
    const Index far = (to - from + members_) % members_;
    put(step(kind, from, far).sent, parcels_[id], id);
    put(step(kind, to, far).received, parcels_[id], id);
}

// Parcels of the node's ranks, which `each_sent` gives in the order of their offsets.
void NodeTraffic::leave(const Halo& halo, const Nodes& nodes) {
    for (Rank rank = first_; rank < first_ + members_; ++rank)
        Parcels(halo, rank)
            .each_sent([&](Rank receiver) { return receiver != rank; },
                       [&](const Parcel& parcel) {
                           const Rank distance = nodes.node(parcel.receiver) - node_;
                           if (distance == 0) return within(gather, rank, parcel.receiver, add(parcel, rank, false));
                           const Rank carrier = nodes.carrier(node_, distance);
                           const std::uint32_t id = add(parcel, carrier, carrier != rank);
                           if (carrier != rank) within(gather, rank, carrier, id);
                           put(step(exchange, carrier, distance).sent, parcel, id);
                       });
}

void NodeTraffic::come(const Halo& halo, const Nodes& nodes) {
    std::vector<Parcel> found;
    for (Rank rank = first_; rank < first_ + members_; ++rank)
        Parcels(halo, rank)
            .each_received([&](Rank sender) { return nodes.node(sender) != node_; },
                           [&](const Parcel& parcel) { found.push_back(parcel); });
    std::sort(found.begin(), found.end(), before);
    for (const Parcel& parcel : found) {
        const Rank distance = node_ - nodes.node(parcel.sender), carrier = nodes.carrier(node_, distance);
        const std::uint32_t id = add(parcel, carrier, carrier != parcel.receiver);
        put(step(exchange, carrier, distance).received, parcel, id);
        if (carrier != parcel.receiver) within(scatter, carrier, parcel.receiver, id);
    }
}

}  // namespace tradewind
