#include "machine/topology/topology.hpp"

#include <bit>

#include "base/error.hpp"

namespace tradewind::machine {

void Topology::check_size(const std::string& what, double switches, double radix, double nodes) {
    const auto bits = [](double n) { return n < 2 ? 0 : std::bit_width(static_cast<std::uint64_t>(n) - 1); };
    if (nodes > 2147483647.0 || switches > 2147483647.0 || radix > 1048576.0 || bits(switches) + bits(radix) > 32)
        throw InputError(what + ": too large (at most 1048576 ports per switch, and 2^32 ports in all)");
}

}  // namespace tradewind::machine
