#include "machine/topology/shortest_paths.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/random.hpp"

namespace tradewind::machine {

ShortestPaths::ShortestPaths(const Topology& topology) : switches_(topology.switches()) {
    if (switches_ > max_switches)
        throw InputError(topology.name() + ": " + std::to_string(switches_) + " switches: at most " +
                         std::to_string(max_switches) + " are allowed where paths are kept in a table");
    find_links(topology);
    breadth_first(0, levels_);
    ports_.resize(std::size_t{switches_} * switches_);
    turns_.resize(ports_.size());
    for (std::uint32_t to = 0; to < switches_; ++to) find_paths(to);
    if (channels() > max_channels)
        throw InputError(topology.name() + ": its shortest paths need " + std::to_string(channels()) +
                         " virtual channels to be free of deadlock: at most " + std::to_string(max_channels) +
                         " are allowed");
}

void ShortestPaths::find_links(const Topology& topology) {
    links_.resize(switches_);
    for (std::uint32_t s = 0; s < switches_; ++s)
        for (std::uint32_t p = 0; p < topology.radix(); ++p) {
            const PortEnd end = topology.port(s, p);
            if (end.kind == LinkKind::local || end.kind == LinkKind::global) links_[s].push_back({end.peer_switch, p});
        }
}

// Switches in order of their distance.
std::vector<std::uint32_t> ShortestPaths::breadth_first(std::uint32_t start,
                                                        std::vector<std::uint32_t>& distance) const {
    distance.assign(switches_, switches_);
    distance[start] = 0;
    std::vector<std::uint32_t> order{start};
    for (std::size_t i = 0; i < order.size(); ++i)
        for (const Link& link : links_[order[i]])
            if (distance[link.peer] == switches_) {
                distance[link.peer] = distance[order[i]] + 1;
                order.push_back(link.peer);
            }
    return order;
}

void ShortestPaths::find_paths(std::uint32_t to) {
    std::vector<std::uint32_t> distance, next(switches_, to);
    for (const std::uint32_t from : breadth_first(to, distance)) {
        if (from == to) continue;
        const auto nearer = [&](const Link& link) { return distance[link.peer] + 1 == distance[from]; };
        const auto choices = std::count_if(links_[from].begin(), links_[from].end(), nearer);
        const auto random = static_cast<std::uint32_t>(mix(std::uint64_t{from} << 32 | to) >> 32);
        std::uint32_t skip = scale_to(random, static_cast<std::uint32_t>(choices));
        for (const Link& link : links_[from]) {
            if (!nearer(link) || skip-- > 0) continue;
            const std::size_t here = index(from, to);
            next[from] = link.peer;
            ports_[here] = static_cast<std::uint16_t>(link.port);
            const bool turns = link.peer != to && !is_up(from, link.peer) && is_up(link.peer, next[link.peer]);
            turns_[here] = static_cast<std::uint8_t>(std::min(255, turns_[index(link.peer, to)] + turns));
            max_turns_ = std::max(max_turns_, turns_[here]);
            break;
        }
    }
}

Topology::Distance ShortestPaths::distance(const Topology& topology, std::uint32_t from, std::uint32_t to) const {
    Topology::Distance distance;
    while (from != to) {
        const PortEnd end = topology.port(from, port(from, to));
        ++(end.kind == LinkKind::global ? distance.global : distance.local);
        from = end.peer_switch;
    }
    return distance;
}

}  // namespace tradewind::machine
