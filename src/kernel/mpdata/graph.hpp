// The neighbours of the nodes of a mesh, as the loops of finite volumes need them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "layout/box.hpp"

namespace tradewind::kernel {

// A rank's part of a mesh: its own nodes, 0..nodes() - 1, then those of the halo, up to all(); and the edges of its own
// nodes. The entries of node i are offset[i]..offset[i + 1] - 1; an entry is a neighbour, and a face: 2 e, or 2 e + 1
// where the normal of edge e points to the node itself.
class Graph {
  public:
    static constexpr Index max_entries = 32;  // of a node

    // Throws InputError for lists that do not go together.
    Graph(std::span<const std::int64_t> offsets, std::span<const std::int32_t> neighbours,
          std::span<const std::int32_t> faces, std::span<const std::int32_t> edges,
          std::span<const double> inverse_volume, Index all);

    Index nodes() const { return static_cast<Index>(offset_.size()) - 1; }
    Index all() const { return all_; }
    Index edges() const { return static_cast<Index>(end_.size()) / 2; }

    Index begin(Index node) const { return offset_[static_cast<std::size_t>(node)]; }
    Index end(Index node) const { return offset_[static_cast<std::size_t>(node) + 1]; }
    const std::int32_t* neighbours() const { return neighbour_.data(); }
    const std::int32_t* faces() const { return face_.data(); }
    const std::int32_t* ends() const { return end_.data(); }  // [edge][2]
    double inverse_volume(Index node) const { return inverse_volume_[static_cast<std::size_t>(node)]; }

    // For sweeps, in which each edge is met once, by its first node: whether own nodes lie in the order of the edges.
    bool in_order() const { return in_order_; }
    bool beside_halo(Index node) const { return beside_halo_[static_cast<std::size_t>(node)] != 0; }
    // The last own node that an edge of nodes 0..node leads to; the first one that an edge of nodes from `node` on
    // does.
    Index reach(Index node) const { return reach_[static_cast<std::size_t>(node)]; }
    Index lowest_from(Index node) const { return lowest_from_[static_cast<std::size_t>(node)]; }
    // The first edge of all nodes from `node` on.
    Index edge_from(Index node) const { return edge_from_[static_cast<std::size_t>(node)]; }
    // One past the last edge of a node.
    Index edges_end(Index node) const { return end(node) == begin(node) ? 0 : (face_[last_entry(node)] >> 1) + 1; }
    // Nodes of which a sweep keeps values, a power of two.
    Index window() const { return window_; }

  private:
    std::vector<std::int64_t> offset_;
    std::vector<std::int32_t> neighbour_, face_, end_;
    std::vector<double> inverse_volume_;
    std::size_t last_entry(Index node) const { return static_cast<std::size_t>(end(node)) - 1; }
    void prepare_sweeps();

    std::vector<std::uint8_t> beside_halo_;
    std::vector<Index> reach_, lowest_from_, edge_from_;
    Index all_, window_ = 1;
    bool in_order_ = true;
};

}  // namespace tradewind::kernel
