// The number of links of a network.
#pragma once

#include <cstdint>

namespace tradewind::machine {

class Topology;

// Links between switches, each of which joins two of them both ways.
std::uint64_t links(const Topology& topology);

}  // namespace tradewind::machine
