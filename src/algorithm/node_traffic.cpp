#include "algorithm/node_traffic.hpp"

namespace tradewind::algorithm {

namespace {

void put(NodeTraffic::Message& message, const schedule::Piece& piece) {
    message.count += piece.box.volume();
    message.pieces.push_back(piece);
}

}  // namespace

NodeTraffic::NodeTraffic(const Nodes& nodes, Rank node)
    : nodes_(nodes),
      node_(node),
      first_(nodes.first(node)),
      members_(nodes.members(node)),
      copies_(members_),
      kept_(members_) {
    for (auto& steps : steps_) steps.resize(members_);
}

void NodeTraffic::add_local(Rank sender, Rank receiver, const layout::Box& at_sender, const layout::Box& at_receiver) {
    within(gather, sender, receiver, {schedule::Buffer::source, at_sender}, {schedule::Buffer::target, at_receiver});
}

void NodeTraffic::add_outgoing(Rank sender, Rank distance, const Tile& tile) {
    const Rank carrier = nodes_.carrier(node_, distance);
    schedule::Piece piece{schedule::Buffer::source, tile.at_sender};
    if (carrier != sender) {
        const schedule::Piece kept = keep(carrier, tile.at_sender);
        within(gather, sender, carrier, piece, kept);
        piece = kept;
    }
    put(step(exchange, carrier, distance).sent, piece);
}

void NodeTraffic::add_incoming(Rank distance, const Tile& tile) {
    const Rank carrier = nodes_.carrier(node_, distance);
    Message& message = step(exchange, carrier, distance).received;
    if (tile.wants.size() == 1 && tile.wants[0].receiver == carrier)
        return put(message, {schedule::Buffer::target, tile.wants[0].at_receiver});
    const schedule::Piece kept = keep(carrier, tile.at_sender);
    put(message, kept);
    for (const auto& [receiver, box] : tile.wants)
        if (receiver == carrier)
            copies_[carrier - first_].push_back({kept, {schedule::Buffer::target, box}});
        else
            within(scatter, carrier, receiver, kept, {schedule::Buffer::target, box});
}

void NodeTraffic::finish() {
    for (const Kind kind : {gather, exchange, scatter})
        for (auto& steps : steps_[kind])
            std::sort(steps.begin(), steps.end(), [kind](const Step& a, const Step& b) {
                return kind == exchange ? folded(a.far) < folded(b.far) : a.far < b.far;
            });
}

// Few enough to look through; the last one is asked for again and again.
NodeTraffic::Step& NodeTraffic::step(Kind kind, Rank rank, Index far) {
    auto& steps = steps_[kind][rank - first_];
    for (auto step = steps.rbegin(); step != steps.rend(); ++step)
        if (step->far == far) return *step;
    return steps.emplace_back(Step{far, {}, {}});
}

schedule::Piece NodeTraffic::keep(Rank carrier, const layout::Box& box) {
    const Index offset = kept_[carrier - first_];
    kept_[carrier - first_] += box.volume();
    return {schedule::Buffer::scratch, box, offset};
}

void NodeTraffic::within(Kind kind, Rank from, Rank to, const schedule::Piece& sent, const schedule::Piece& received) {
    const Index far = (to - from + members_) % members_;
    put(step(kind, from, far).sent, sent);
    put(step(kind, to, far).received, received);
}

}  // namespace tradewind::algorithm
