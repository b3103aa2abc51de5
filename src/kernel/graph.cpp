#include "kernel/graph.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace tradewind::kernel {

namespace {

void check_range(const char* what, std::span<const std::int32_t> values, Index most) {
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] < 0 || values[i] >= most)
            throw InputError(std::string(what) + ": entry " + std::to_string(i) + " is " + std::to_string(values[i]) +
                             ": 0.." + std::to_string(most - 1) + " are allowed");
}

}  // namespace

Graph::Graph(std::span<const std::int64_t> offsets, std::span<const std::int32_t> neighbours,
             std::span<const std::int32_t> faces, std::span<const std::int32_t> edges,
             std::span<const double> inverse_volume, Index all)
    : offset_(offsets.begin(), offsets.end()),
      neighbour_(neighbours.begin(), neighbours.end()),
      face_(faces.begin(), faces.end()),
      end_(edges.begin(), edges.end()),
      inverse_volume_(inverse_volume.begin(), inverse_volume.end()),
      all_(all) {
    const auto entries = static_cast<std::int64_t>(neighbour_.size());
    if (offset_.empty() || offset_.front() != 0 || offset_.back() != entries || face_.size() != neighbour_.size())
        throw InputError("graph: offsets from 0 to the " + std::to_string(entries) +
                         " neighbours, and as many faces, are allowed");
    for (std::size_t i = 0; i + 1 < offset_.size(); ++i)
        if (const std::int64_t here = offset_[i + 1] - offset_[i]; here < 0 || here > most_entries)
            throw InputError("graph: node " + std::to_string(i) + " has " + std::to_string(here) + " edges: 0.." +
                             std::to_string(most_entries) + " are allowed");
    if (static_cast<Index>(inverse_volume_.size()) != nodes() || all < nodes())
        throw InputError("graph: a volume for each of " + std::to_string(nodes()) +
                         " nodes, and no fewer nodes in all, are allowed");
    check_range("neighbours", neighbour_, all);
    check_range("faces", face_, 2 * this->edges());
    check_range("edges", end_, all);
    const Index blocks = (nodes() + block - 1) / block;
    for (Index b = 0; b < blocks; ++b) {
        Index low = b * block, high = std::min(nodes(), low + block);
        for (Index entry = begin(low), last = end(high - 1); entry < last; ++entry) {
            const Index other = neighbour_[static_cast<std::size_t>(entry)];
            low = std::min(low, other);
            high = std::max(high, other + 1);
        }
        lowest_.push_back(low);
        highest_.push_back(high);
    }
}

Index Graph::window(Index first, Index last) const {
    if (first >= last) return 1;
    Index needed = 1;
    // From the back: what later blocks still need; from the front: how far has been computed.
    std::vector<Index> later;
    Index low = all_;
    for (Index b = (last - 1) / block; b >= first / block; --b) later.push_back(low = std::min(low, lowest(b)));
    Index high = 0;
    for (Index b = first / block; b <= (last - 1) / block; ++b) {
        high = std::max(high, highest(b));
        needed = std::max(needed, high - later[static_cast<std::size_t>((last - 1) / block - b)]);
    }
    Index room = 1;
    while (room < needed) room *= 2;
    return room;
}

}  // namespace tradewind::kernel
