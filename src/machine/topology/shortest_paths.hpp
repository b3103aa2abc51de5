// Shortest paths between all switches of any topology, as a table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/topology/topology.hpp"

namespace tradewind::machine {

// One shortest path for each pair of switches; of several ports that begin one, a hash of the pair picks.
//
// To be free of deadlock, a path's virtual channel rises by one wherever it turns from down to up. Up is towards the
// switch that is nearer to switch 0 (of two that are equally near, the one with the lower number), so that neither up
// nor down alone leads round a circle (up*/down*, Schroeder et al. 1991). A path that turns t times more is on channel
// channels() - 1 - t.
class ShortestPaths {
  public:
    // A table has an entry of three bytes for each pair.
    static constexpr std::uint32_t max_switches = 4096;
    static constexpr int max_channels = 16;

    // All switches can be reached. Throws InputError for more switches or channels than are allowed.
    explicit ShortestPaths(const Topology& topology);

    // The port of the first link from one switch to another one.
    std::uint32_t port(std::uint32_t from, std::uint32_t to) const { return ports_[index(from, to)]; }
    std::uint32_t channel(std::uint32_t from, std::uint32_t to) const { return max_turns_ - turns_[index(from, to)]; }
    int channels() const { return max_turns_ + 1; }

    Topology::Distance distance(const Topology& topology, std::uint32_t from, std::uint32_t to) const;

  private:
    struct Link {
        std::uint32_t peer, port;
    };
    std::size_t index(std::uint32_t from, std::uint32_t to) const { return std::size_t{to} * switches_ + from; }
    void find_links(const Topology& topology);
    // From everywhere to one switch.
    void find_paths(std::uint32_t to);
    bool is_up(std::uint32_t from, std::uint32_t to) const {
        return levels_[to] != levels_[from] ? levels_[to] < levels_[from] : to < from;
    }
    std::vector<std::uint32_t> breadth_first(std::uint32_t start, std::vector<std::uint32_t>& distance) const;

    std::uint32_t switches_;
    std::vector<std::vector<Link>> links_;  // [switch]
    std::vector<std::uint32_t> levels_;     // [switch]: links to switch 0
    std::vector<std::uint16_t> ports_;      // [to][from]
    std::vector<std::uint8_t> turns_;       // [to][from]
    std::uint8_t max_turns_ = 0;
};

}  // namespace tradewind::machine
