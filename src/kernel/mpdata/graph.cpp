#include "kernel/mpdata/graph.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace tradewind::kernel {

namespace {

void check_range(const char* what, std::span<const std::int32_t> values, Index maximum) {
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] < 0 || values[i] >= maximum)
            throw InputError(std::string(what) + ": entry " + std::to_string(i) + " is " + std::to_string(values[i]) +
                             ": 0.." + std::to_string(maximum - 1) + " are allowed");
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
        if (const std::int64_t here = offset_[i + 1] - offset_[i]; here < 0 || here > max_entries)
            throw InputError("graph: node " + std::to_string(i) + " has " + std::to_string(here) + " edges: 0.." +
                             std::to_string(max_entries) + " are allowed");
    if (static_cast<Index>(inverse_volume_.size()) != nodes() || all < nodes())
        throw InputError("graph: a volume for each of " + std::to_string(nodes()) +
                         " nodes, and no fewer nodes in all, are allowed");
    check_range("neighbours", neighbour_, all);
    check_range("faces", face_, 2 * this->edges());
    check_range("edges", end_, all);
    prepare_sweeps();
}

void Graph::prepare_sweeps() {
    const Index own = nodes();
    beside_halo_.assign(static_cast<std::size_t>(own), 0);
    reach_.resize(static_cast<std::size_t>(own));
    Index reached = 0;
    for (Index node = 0; node < own; ++node) {
        reached = std::max(reached, node);
        Index edge = -1;
        for (Index entry = begin(node); entry < end(node); ++entry) {
            const auto at = static_cast<std::size_t>(entry);
            in_order_ = in_order_ && (face_[at] >> 1) > edge;
            edge = face_[at] >> 1;
            if (neighbour_[at] < own)
                reached = std::max<Index>(reached, neighbour_[at]);
            else
                beside_halo_[static_cast<std::size_t>(node)] = 1;
        }
        reach_[static_cast<std::size_t>(node)] = reached;
    }
    lowest_from_.assign(static_cast<std::size_t>(own) + 1, own);
    edge_from_.assign(static_cast<std::size_t>(own) + 1, edges());
    for (Index node = own - 1; node >= 0; --node) {
        const auto at = static_cast<std::size_t>(node);
        lowest_from_[at] = std::min(lowest_from_[at + 1], node);
        edge_from_[at] = edge_from_[at + 1];
        for (Index entry = begin(node); entry < end(node); ++entry) {
            lowest_from_[at] = std::min<Index>(lowest_from_[at], neighbour_[static_cast<std::size_t>(entry)]);
            edge_from_[at] = std::min<Index>(edge_from_[at], face_[static_cast<std::size_t>(entry)] >> 1);
        }
    }
    Index before = 0;
    for (Index edge = 0; edge < edges(); ++edge) {
        const Index first = end_[static_cast<std::size_t>(2 * edge)];
        const Index second = end_[static_cast<std::size_t>(2 * edge) + 1];
        if (first >= own) continue;
        in_order_ = in_order_ && first >= before && (second >= own || second > first);
        before = first;
    }
    Index needed = 1;
    for (Index node = 0; node < own; ++node) needed = std::max(needed, reach(reach(node)) - node + 1);
    while (window_ < needed) window_ *= 2;
}

}  // namespace tradewind::kernel
