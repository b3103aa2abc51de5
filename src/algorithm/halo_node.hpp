// What the ranks of one node send and receive in the steps of a node-aware halo exchange.
#pragma once

#include "algorithm/halo_parcel.hpp"

namespace tradewind {

// Ranks r on nodes r / width; the last node may hold fewer.
struct Nodes {
    Rank ranks, width;
    bool leaders;  // the first rank of a node carries all, or the ranks share it out

    Rank node(Rank rank) const { return rank / width; }
    Rank first(Rank node) const { return node * width; }
    Rank members(Rank node) const { return std::min(width, ranks - first(node)); }
    // The rank of a node, at either end, that carries what goes `distance` nodes up (down where it is negative).
    Rank carrier(Rank node, Rank distance) const {
        return first(node) + (leaders ? 0 : static_cast<Rank>((folded(distance) - 1) % members(node)));
    }
};

// A node's messages are worked out all together, from its parcels: that costs little more than one of them alone.
class NodeTraffic {
  public:
    enum Kind { gather, exchange, scatter };

    // One message as one of its ends sees it.
    struct Letter {
        Index count = 0;
        std::vector<Piece> pieces;
    };
    // What a rank sends so far on, and what it receives from as far behind. Far: the number of ranks around the ring of
    // a node's own, or the distance of nodes. Every rank takes its steps in the order of `far` (nodes: folded), so that
    // ranks which do one exchange after another meet; one of the two letters may be empty.
    struct Step {
        Index far;
        Letter sent, received;
    };

    NodeTraffic(const Halo& halo, const Nodes& nodes, Rank node);

    Rank node() const { return node_; }
    const std::vector<Step>& steps(Kind kind, Rank rank) const { return steps_[kind][rank - first_]; }
    // What a carrier wants of what it has carried for others, too: while it scatters.
    const std::vector<Copy>& copies(Rank rank) const { return copies_[rank - first_]; }
    // Points that a rank keeps for others.
    Index scratch(Rank rank) const { return kept_[rank - first_]; }

  private:
    Step& step(Kind kind, Rank rank, Index far);
    Piece keep(Rank carrier, const Box& box);
    void within(Kind kind, Rank from, Rank to, const Piece& sent, const Piece& received);
    void leave(const Halo& halo, const Nodes& nodes);
    void come(const Halo& halo, const Nodes& nodes);

    Rank node_, first_, members_;
    std::array<std::vector<std::vector<Step>>, 3> steps_;  // [kind][member]
    std::vector<std::vector<Copy>> copies_;                // [member]
    std::vector<Index> kept_;                              // [member]
};

}  // namespace tradewind
