// Groups of a transposition that are rows or columns of ranks: their directions, and how they lie on nodes.
#pragma once

#include <algorithm>

#include "pattern/transpose.hpp"

namespace tradewind::algorithm {

// Complete groups are rows or columns: three directions leave no room for both coordinates to change theirs.
struct GroupLine {
    int coordinate = 0;                         // along the group: 0 or 1
    int before = layout::X, after = layout::X;  // the direction that it divides before, and after
    Index stride = 1;                           // between the ranks of neighbouring positions

    explicit GroupLine(const pattern::Transpose& transpose) {
        const layout::Blocks& from = transpose.from();
        if (transpose.largest_group() > 1 && from.coordinates(transpose.sending(0).rank_at(1))[0] == 0) coordinate = 1;
        for (int a = 0; a < 3; ++a) {
            if (from.coordinate_of(a) == coordinate) before = a;
            if (transpose.to().coordinate_of(a) == coordinate) after = a;
        }
        if (coordinate == 1) stride = from.split()[0];
    }
    int across() const { return layout::X + layout::Y + layout::Z - before - after; }
};

// Positions begin..end - 1 of a group.
struct Positions {
    Index begin, end;
    Index size() const { return end - begin; }
};

// The nodes of one group, numbered 0..nodes() - 1 in the order of its positions; those on one node are neighbours in
// that order. Position p is rank first + p * stride, which runs on node rank / ranks_per_node.
class NodeLine {
  public:
    NodeLine(Index first, Index stride, Index positions, Index ranks_per_node)
        : first_(first), stride_(stride), positions_(positions), ranks_per_node_(ranks_per_node) {}

    Index nodes() const { return node_of(positions_ - 1) + 1; }
    Index node_of(Index position) const {
        if (alone()) return position;
        return (first_ + position * stride_) / ranks_per_node_ - first_ / ranks_per_node_;
    }
    Positions on(Index node) const { return {begin(node), std::min(positions_, begin(node + 1))}; }
    // No node has more ranks of a group than this.
    static Index maximum(Index stride, Index positions, Index ranks_per_node) {
        return std::min(positions, (ranks_per_node + stride - 1) / stride);
    }

  private:
    bool alone() const { return stride_ >= ranks_per_node_; }
    Index begin(Index node) const {
        if (alone() || node == 0) return node;
        return ((first_ / ranks_per_node_ + node) * ranks_per_node_ - first_ + stride_ - 1) / stride_;
    }

    Index first_, stride_, positions_, ranks_per_node_;
};

// A rank among the ranks of its group on its node, and the nodes that it deals with: nodes meet at distances 1, 2, ...
// around the ring of nodes(); of A ranks of a node, number `local` deals with distances local + 1, local + 1 + A, ...
struct NodeMember {
    Rank rank;
    NodeLine line;
    Index stride, nodes, node, local;
    Positions own;  // of all ranks of the group on this node

    NodeMember(Rank rank, Index position, const NodeLine& line, Index stride)
        : rank(rank),
          line(line),
          stride(stride),
          nodes(line.nodes()),
          node(line.node_of(position)),
          local(position - line.on(node).begin),
          own(line.on(node)) {}

    Index ahead(Index distance) const { return (node + distance) % nodes; }
    Index behind(Index distance) const { return (node + nodes - distance) % nodes; }
    Index position(Index number) const { return own.begin + number; }
    Rank rank_at(Index p) const { return static_cast<Rank>(rank + (p - own.begin - local) * stride); }
    // The first distance above `bound` that this rank deals with, and how many there are in all.
    Index distance_above(Index bound) const {
        const Index number = (local - bound) % own.size();
        return bound + 1 + (number < 0 ? number + own.size() : number);
    }
    Index distances() const { return nodes - 1 > local ? (nodes - 2 - local) / own.size() + 1 : 0; }
};

}  // namespace tradewind::algorithm
