#include "machine/topology/links.hpp"

#include "machine/topology/topology.hpp"

namespace tradewind::machine {

std::uint64_t links(const Topology& topology) {
    std::uint64_t ports = 0;
    for (std::uint32_t s = 0; s < topology.switches(); ++s)
        for (std::uint32_t p = 0; p < topology.radix(); ++p) {
            const LinkKind kind = topology.port(s, p).kind;
            ports += kind == LinkKind::local || kind == LinkKind::global;
        }
    return ports / 2;
}

}  // namespace tradewind::machine
