// The way of one packet through a network, without a simulation.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "machine/machine.hpp"

namespace tradewind::machine {

// A packet's link between two switches, by the port that it takes from the first, and its virtual channel there.
struct Hop {
    std::uint32_t switch_id, port, channel;
};

// Walks packets by the routing of a machine.
class Walker {
  public:
    // Throws InputError for a machine that cannot be.
    explicit Walker(const Machine& machine);

    // Virtual channels that make the routing free of deadlock.
    int channels() const { return channels_; }
    std::uint32_t nodes() const { return machine_.topology->nodes(); }

    // From node to node. `random` are the packet's 30 random bits. Adaptive routings find empty queues where `queues`
    // is 0, else at each port 0 to 3 KiB drawn from it. A routing that deals out ports in turn goes on from packet to
    // packet. Throws InputError for a node that is not there, std::runtime_error where the routing leads nowhere.
    std::vector<Hop> walk(std::uint32_t from_node, std::uint32_t to_node, std::uint32_t random, std::uint64_t queues);

  private:
    using Walk = std::function<std::vector<Hop>(std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t)>;

    Machine machine_;
    int channels_ = 0;
    Walk walk_;
};

}  // namespace tradewind::machine
