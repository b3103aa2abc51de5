// The messages of the ranks of one node in a node-aware exchange: gathered within nodes, one message between two nodes,
// scattered within nodes.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "algorithm/folded.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// Who sends and receives what goes between nodes: the first rank of each node, or all of them, which share out the
// nodes around theirs.
enum class Carriers { leaders, all };

// Ranks r on nodes r / width; the last node may hold fewer.
struct Nodes {
    Rank ranks, width;
    Carriers carriers;

    Rank node(Rank rank) const { return rank / width; }
    Rank first(Rank node) const { return node * width; }
    Rank members(Rank node) const { return std::min(width, ranks - first(node)); }
    // The rank of a node, at either end, that carries what goes `distance` nodes up (down where it is negative).
    Rank carrier(Rank node, Rank distance) const {
        const bool shared = carriers == Carriers::all;
        return first(node) + (shared ? static_cast<Rank>((folded(distance) - 1) % members(node)) : 0);
    }
};

// Points of one rank that the same ranks of another node want.
struct Tile {
    struct Want {
        Rank receiver;
        layout::Box at_receiver;
    };
    layout::Box at_sender;
    std::vector<Want> wants;  // a rank may want them in several places
};

// A node's messages are worked out all together: that costs little more than one of them alone.
class NodeTraffic {
  public:
    enum Kind { gather, exchange, scatter };

    // One message as one of its ends sees it.
    struct Message {
        Index count = 0;
        std::vector<schedule::Piece> pieces;
    };
    // The message that a rank sends so far on, and the one that it receives from as far behind. Far: the number of
    // ranks around the ring of a node's own, or the distance of nodes. Every rank takes its steps in the order of `far`
    // (nodes: folded), so that ranks which do one exchange after another meet; one of the two messages may be empty.
    struct Step {
        Index far;
        Message sent, received;
    };

    NodeTraffic(const Nodes& nodes, Rank node);

    // All messages within the node, from it and to it; those between two nodes are added at both of them in the same
    // order. Then `finish`.
    void add_local(Rank sender, Rank receiver, const layout::Box& at_sender, const layout::Box& at_receiver);
    void add_outgoing(Rank sender, Rank distance, const Tile& tile);
    void add_incoming(Rank distance, const Tile& tile);
    void finish();

    Rank node() const { return node_; }
    const std::vector<Step>& steps(Kind kind, Rank rank) const { return steps_[kind][rank - first_]; }
    // Points that a carrier wants itself, of those that it carries for others: while it scatters.
    const std::vector<schedule::Copy>& copies(Rank rank) const { return copies_[rank - first_]; }
    // Points that a rank keeps for others.
    Index scratch(Rank rank) const { return kept_[rank - first_]; }

  private:
    Step& step(Kind kind, Rank rank, Index far);
    schedule::Piece keep(Rank carrier, const layout::Box& box);
    void within(Kind kind, Rank from, Rank to, const schedule::Piece& sent, const schedule::Piece& received);

    Nodes nodes_;
    Rank node_, first_, members_;
    std::array<std::vector<std::vector<Step>>, 3> steps_;  // [kind][member]
    std::vector<std::vector<schedule::Copy>> copies_;      // [member]
    std::vector<Index> kept_;                              // [member]
};

}  // namespace tradewind::algorithm
