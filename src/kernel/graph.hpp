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
    static constexpr Index most_entries = 32;  // of a node
    static constexpr Index block = 64;         // nodes

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

    // The first and one past the last node among the nodes of a block and their neighbours.
    Index lowest(Index block) const { return lowest_[static_cast<std::size_t>(block)]; }
    Index highest(Index block) const { return highest_[static_cast<std::size_t>(block)]; }
    // Number of nodes in a row that need room, a power of two, while nodes first..last - 1 are passed over in
    // order and all neighbours of a block are kept until no later block needs them.
    Index window(Index first, Index last) const;

  private:
    std::vector<std::int64_t> offset_;
    std::vector<std::int32_t> neighbour_, face_, end_;
    std::vector<double> inverse_volume_;
    std::vector<Index> lowest_, highest_;
    Index all_;
};

}  // namespace tradewind::kernel
