#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "algorithm/node_traffic.hpp"

namespace tradewind::algorithm {

// The schedule of a node-aware exchange (Bienz, Gropp & Olson 2019, for sparse matrices, in three steps): the ranks of
// a node give each other what they have for each other, and what goes to another node to the one of them that carries
// it; each node sends one message to each node that wants something of it; the ranks of a node give each other what has
// come. 3 stages; 1 where a node holds one rank, or all of them.
//
// The traffic of a node is remembered for the nodes that were asked about last, those of 4096 ranks or 64; and how long
// its messages are for those of 131,072 ranks, so that a simulation, which asks for nothing else and takes ranks of all
// nodes by turns, has each node worked out once.
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
    // The number of times that the traffic of a node was worked out so far.
    Index worked_out() const { return worked_out_; }

  protected:
    const Nodes& nodes() const { return nodes_; }
    // Add all messages within a node, from it and to it.
    virtual void collect(NodeTraffic& traffic) const = 0;
    // Points that a rank keeps.
    virtual void own_copies(Rank rank, std::vector<schedule::Copy>& copies) const = 0;

  private:
    // A value that is remembered of one node at a time.
    template <class Value>
    struct Place {
        std::mutex mutex;
        Rank node = -1;
        std::shared_ptr<const Value> value;
    };
    template <class Value>
    using Places = std::vector<Place<Value>>;
    // The messages of a node's ranks, without what is in them.
    struct Lengths {
        struct Step {
            Rank far;
            Index sent, received;
        };
        std::vector<Step> steps;
        std::vector<std::size_t> begins;  // [kind][member]; and the end
        std::span<const Step> of(NodeTraffic::Kind kind, Rank member, Rank members) const;
    };
    struct At {
        std::shared_ptr<const NodeTraffic> node;
        NodeTraffic::Kind kind;
    };
    std::shared_ptr<const NodeTraffic> traffic(Rank node) const;
    std::shared_ptr<const NodeTraffic> work_out(Rank node) const;
    std::shared_ptr<const Lengths> lengths_of(Rank node) const;
    std::shared_ptr<const Lengths> lengths(Rank node) const;
    At at(Rank rank, int stage) const;
    NodeTraffic::Kind kind_of(int stage) const;
    Lengths::Step step(Rank rank, int stage, int j) const;
    int messages(Rank rank, int stage) const;
    Rank peer(NodeTraffic::Kind kind, Rank rank, Index to, Index far) const;
    std::int8_t parity(NodeTraffic::Kind kind, Rank sender, Index far) const;

    Nodes nodes_;
    mutable Places<NodeTraffic> traffic_;
    mutable Places<Lengths> lengths_;
    mutable std::atomic<Index> worked_out_ = 0;
};

}  // namespace tradewind::algorithm
