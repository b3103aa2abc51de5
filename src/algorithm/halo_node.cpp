#include "algorithm/halo_node.hpp"

#include <map>
#include <tuple>

#include "algorithm/halo_tile.hpp"

namespace tradewind {

namespace {

void put(NodeTraffic::Letter& letter, const Piece& piece) {
    letter.count += piece.box.volume();
    letter.pieces.push_back(piece);
}

// A rank alone on its node has no stage in which it could put points that it wants twice where they belong.
std::vector<Tile> tiles(std::vector<Parcel> parcels, Rank members) {
    if (members > 1) return cut(parcels);
    const auto place = [](const Parcel& p) { return std::tuple(p.offset[Y], p.offset[X]); };
    std::sort(parcels.begin(), parcels.end(), [&](const Parcel& a, const Parcel& b) { return place(a) < place(b); });
    return whole(parcels);
}

}  // namespace

NodeTraffic::NodeTraffic(const Halo& halo, const Nodes& nodes, Rank node)
    : node_(node), first_(nodes.first(node)), members_(nodes.members(node)), copies_(members_), kept_(members_) {
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

Piece NodeTraffic::keep(Rank carrier, const Box& box) {
    const Index offset = kept_[carrier - first_];
    kept_[carrier - first_] += box.volume();
    return {Buffer::scratch, box, offset};
}

void NodeTraffic::within(Kind kind, Rank from, Rank to, const Piece& sent, const Piece& received) {
    const Index far = (to - from + members_) % members_;
    put(step(kind, from, far).sent, sent);
    put(step(kind, to, far).received, received);
}

void NodeTraffic::leave(const Halo& halo, const Nodes& nodes) {
    for (Rank rank = first_; rank < first_ + members_; ++rank) {
        std::map<Rank, std::vector<Parcel>> leaving;  // by the distance of nodes
        Parcels(halo, rank)
            .each_sent([&](Rank receiver) { return receiver != rank; },
                       [&](const Parcel& parcel) {
                           if (const Rank distance = nodes.node(parcel.receiver) - node_; distance != 0)
                               leaving[distance].push_back(parcel);
                           else
                               within(gather, rank, parcel.receiver, {Buffer::source, parcel.at_sender},
                                      {Buffer::target, parcel.at_receiver});
                       });
        for (const auto& [distance, parcels] : leaving) {
            const Rank carrier = nodes.carrier(node_, distance);
            for (const Tile& tile : tiles(parcels, nodes.width)) {
                Piece piece{Buffer::source, tile.at_sender};
                if (carrier != rank) {
                    const Piece kept = keep(carrier, tile.at_sender);
                    within(gather, rank, carrier, piece, kept);
                    piece = kept;
                }
                put(step(exchange, carrier, distance).sent, piece);
            }
        }
    }
}

void NodeTraffic::come(const Halo& halo, const Nodes& nodes) {
    std::map<Rank, std::vector<Parcel>> coming;  // by sender
    for (Rank rank = first_; rank < first_ + members_; ++rank)
        Parcels(halo, rank)
            .each_received([&](Rank sender) { return nodes.node(sender) != node_; },
                           [&](const Parcel& parcel) { coming[parcel.sender].push_back(parcel); });
    for (const auto& [sender, parcels] : coming) {
        const Rank distance = node_ - nodes.node(sender), carrier = nodes.carrier(node_, distance);
        for (const Tile& tile : tiles(parcels, nodes.width)) {
            Letter& letter = step(exchange, carrier, distance).received;
            if (tile.wants.size() == 1 && tile.wants[0].receiver == carrier) {
                put(letter, {Buffer::target, tile.wants[0].at_receiver});
                continue;
            }
            const Piece kept = keep(carrier, tile.at_sender);
            put(letter, kept);
            for (const auto& [receiver, box] : tile.wants)
                if (receiver == carrier)
                    copies_[carrier - first_].push_back({kept, {Buffer::target, box}});
                else
                    within(scatter, carrier, receiver, kept, {Buffer::target, box});
        }
    }
}

}  // namespace tradewind
