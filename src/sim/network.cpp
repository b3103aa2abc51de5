#include "sim/network.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>

#include "base/error.hpp"

namespace tradewind::sim {

Network::Network(const Machine& machine, const Placement& placement, Rank ranks, int parts, int channels)
    : radix_(machine.topology->radix()),
      count_(machine.topology->switches() * radix_),
      channels_(channels),
      stride_(1 + (static_cast<std::size_t>(channels) + 1) / 2) {
    const Topology& topology = *machine.topology;
    port_bits_ = std::max(1, static_cast<int>(std::bit_width(radix_ - 1)));
    port_mask_ = port_bits_ == 32 ? ~0u : (1u << port_bits_) - 1;
    const auto rate = [](BytesPerSecond bandwidth, Picoseconds latency) {
        return Rate{static_cast<std::uint64_t>(std::llround(65536e12 / bandwidth.value)), latency.value};
    };
    for (const LinkRate* link : {&machine.local, &machine.global, &machine.injection, &machine.ejection})
        rates.push_back(rate(link->bandwidth, link->latency));
    rates.push_back(machine.crossbar_bandwidth.value > 0 ? rate(machine.crossbar_bandwidth, {0}) : Rate{});
    look_ahead_ = std::min(rates[injection].latency, rates[ejection].latency);
    divide(topology, placement, machine.nics, ranks, parts);
    wire(topology, machine.buffer.value);
    if (look_ahead_ < 1)
        throw InputError(
            "a link or NIC latency of 0 leaves the packet model no time to look ahead; "
            "name a latency of 1ps or more, or use the model 'loggp'");
}

void Network::wire(const Topology& topology, std::int64_t buffer) {
    blocks_.resize(std::size_t{count_} * stride_);
    if (channels_ > 0) upstreams.resize(count_);
    for (std::uint32_t index = 0; index < count_; ++index) {
        const PortEnd end = topology.port(index / radix_, index % radix_);
        Port& port = *new (&blocks_[index * stride_]) Port;
        port.kind = static_cast<std::uint8_t>(end.kind);
        port.rate = static_cast<std::uint8_t>(end.kind == LinkKind::terminal ? ejection
                                              : end.kind == LinkKind::global ? global
                                                                             : local);
        if (end.kind == LinkKind::local || end.kind == LinkKind::global) {
            port.peer = where(end.peer_switch, end.peer_port);
            port.owner = owners_[end.peer_switch];
            look_ahead_ = std::min(look_ahead_, rates[port.rate].latency);
        }
        for (int c = 0; c < channels_; ++c)
            (new (channels(index) + c) Channel)->credit = static_cast<std::uint32_t>(buffer);
        if (channels_ > 0) upstreams[index] = {port.peer, port.owner, port.rate, port.kind};
    }
}

// Switches that hold ranks go to the parts in contiguous runs of equal numbers of ranks (neighbours talk most); those
// that only pass packets on are dealt out in turn.
void Network::divide(const Topology& topology, const Placement& placement, std::uint32_t nics, Rank ranks, int parts) {
    owners_.assign(topology.switches(), 0);
    if (parts == 1) return;
    std::vector<std::uint32_t> held(topology.switches(), 0);
    for (Rank r = 0; r < ranks; ++r) ++held[topology.switch_of(placement.node(r) * nics)];
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
