#include "sim/network.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.hpp"

namespace tradewind::sim {

Network::Network(const Machine& machine, const Placement& placement, Rank ranks, int parts)
    : nics(machine.topology->nodes()), radix_(machine.topology->radix()) {
    const Topology& topology = *machine.topology;
    port_bits_ = std::max(1, static_cast<int>(std::bit_width(radix_ - 1)));
    port_mask_ = port_bits_ == 32 ? ~0u : (1u << port_bits_) - 1;
    for (const LinkRate* rate : {&machine.local, &machine.global, &machine.injection, &machine.ejection})
        rates.push_back(
            {static_cast<std::uint64_t>(std::llround(65536e12 / rate->bandwidth.value)), rate->latency.value});
    look_ahead_ = std::min(rates[injection].latency, rates[ejection].latency);
    divide(topology, placement, ranks, parts);

    ports.reserve(std::size_t{topology.switches()} * radix_);
    for (std::uint32_t s = 0; s < topology.switches(); ++s)
        for (std::uint32_t p = 0; p < radix_; ++p) {
            const PortEnd end = topology.port(s, p);
            Port& port = ports.emplace_back();
            port.kind = static_cast<std::uint8_t>(end.kind);
            port.rate = static_cast<std::uint8_t>(end.kind == LinkKind::terminal ? ejection
                                                  : end.kind == LinkKind::global ? global
                                                                                 : local);
            if (end.kind == LinkKind::local || end.kind == LinkKind::global) {
                port.peer = where(end.peer_switch, end.peer_port);
                port.owner = owners_[end.peer_switch];
                look_ahead_ = std::min(look_ahead_, rates[port.rate].latency);
            }
        }
    if (look_ahead_ < 1)
        throw InputError(
            "a link or NIC latency of 0 leaves the packet model no time to look ahead; "
            "name a latency of 1ps or more, or use the model 'loggp'");
}

// Switches that hold ranks go to the parts in contiguous runs of equal numbers of ranks (neighbours talk most); those
// that only pass packets on are dealt out in turn.
void Network::divide(const Topology& topology, const Placement& placement, Rank ranks, int parts) {
    owners_.assign(topology.switches(), 0);
    if (parts == 1) return;
    std::vector<std::uint32_t> held(topology.switches(), 0);
    for (Rank r = 0; r < ranks; ++r) ++held[topology.switch_of(placement.node(r))];
    std::uint64_t before = 0, passing = 0;
    for (std::uint32_t s = 0; s < topology.switches(); ++s) {
        if (held[s] == 0) {
            owners_[s] = static_cast<std::uint16_t>(passing++ % static_cast<std::uint64_t>(parts));
            continue;
        }
        owners_[s] = static_cast<std::uint16_t>((before + held[s] / 2) * static_cast<std::uint64_t>(parts) /
                                                static_cast<std::uint64_t>(ranks));
        before += held[s];
    }
}

}  // namespace tradewind::sim
