#pragma once

#include <memory>
#include <mutex>

#include "algorithm/node_traffic.hpp"

namespace tradewind::algorithm {

// The schedule of a node-aware exchange (Bienz, Gropp & Olson 2019, for sparse matrices, in three steps): the ranks of
// a node give each other what they have for each other, and what goes to another node to the one of them that carries
// it; each node sends one message to each node that wants something of it; the ranks of a node give each other what has
// come. 3 stages; 1 where a node holds one rank, or all of them.
//
// The traffic of a node is remembered for the nodes that were asked about last, those of 4096 ranks or 64.
class NodeAware : public schedule::Schedule {
  public:
    // Named two-level-k or leaders-k. ranks_per_node in 1..ranks.
    NodeAware(std::shared_ptr<const pattern::Pattern> pattern, Index ranks_per_node, Carriers carriers);

    int stages() const override { return nodes_.width > 1 && nodes_.width < ranks() ? 3 : 1; }
    int sends(Rank rank, int stage) const override { return messages(rank, stage); }
    int receives(Rank rank, int stage) const override { return messages(rank, stage); }
    schedule::Message send(Rank rank, int stage, int j) const override;
    schedule::Message receive(Rank rank, int stage, int j) const override;
    void send_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override;
    void receive_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override;
    void copies(Rank rank, int stage, std::vector<schedule::Copy>& copies) const override;
    Index scratch(Rank rank) const override { return traffic(nodes_.node(rank))->scratch(rank); }

  protected:
    const Nodes& nodes() const { return nodes_; }
    // All that goes within a node, leaves it and comes to it.
    virtual void tell(NodeTraffic& traffic) const = 0;
    // Points that a rank keeps.
    virtual void own_copies(Rank rank, std::vector<schedule::Copy>& copies) const = 0;

  private:
    struct Place {
        std::mutex mutex;
        std::shared_ptr<const NodeTraffic> traffic;
    };
    struct At {
        std::shared_ptr<const NodeTraffic> node;
        NodeTraffic::Kind kind;
    };
    std::shared_ptr<const NodeTraffic> traffic(Rank node) const;
    At at(Rank rank, int stage) const;
    int messages(Rank rank, int stage) const;
    Rank peer(NodeTraffic::Kind kind, Rank rank, Index to, Index far) const;
    std::int8_t parity(NodeTraffic::Kind kind, Rank sender, Index far) const;

    Nodes nodes_;
    mutable std::vector<Place> places_;
};

}  // namespace tradewind::algorithm
