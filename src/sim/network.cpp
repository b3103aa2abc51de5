#include "sim/network.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>

#include "base/error.hpp"

namespace tradewind::sim {

Network::Network(const machine::Machine& machine, const machine::Placement& placement, Rank ranks, const Parts& parts,
                 int channels)
    : topology_(*machine.topology),
      parts_(parts),
      radix_(topology_.radix()),
      count_(topology_.switches() * radix_),
      channels_(channels),
      stride_(1 + (static_cast<std::size_t>(channels) + 1) / 2) {
    port_bits_ = std::max(1, static_cast<int>(std::bit_width(radix_ - 1)));
    port_mask_ = port_bits_ == 32 ? ~0u : (1u << port_bits_) - 1;
    const auto rate = [](BytesPerSecond bandwidth, Picoseconds latency) {
        return Rate{static_cast<std::uint64_t>(std::llround(65536e12 / bandwidth.value)), latency.value};
    };
    for (const machine::LinkRate* link : {&machine.injection, &machine.local, &machine.global, &machine.ejection})
        rates.push_back(rate(link->bandwidth, link->latency));
    rates.push_back(machine.crossbar_bandwidth.value > 0 ? rate(machine.crossbar_bandwidth, {0}) : Rate{});
    divide(topology_, placement, machine.nics, ranks);
    if (channels > 0) buffer_sizes_ = machine::buffer_sizes(machine);
    look_ahead_ = smallest_latency();
    wired_.resize(parts_.here);
    const auto huge = [&](std::size_t bytes) { return !scattered() && is_dense(bytes, ranks); };
    const std::size_t count = count_;
    blocks_ = LazyArray<Block>(count * stride_, huge(count * stride_ * sizeof(Block)));
    if (channels_ > 0) upstreams = LazyArray<Upstream>(count, huge(count * sizeof(Upstream)));
    if (buffer_sizes_.output > 0) exits_ = LazyArray<Exit>(count * channels_, huge(count * channels_ * sizeof(Exit)));
    // Packets from another process have not wired the links they came by.
    if (parts_.processes > 1)
        for_switches_of(parts_.process(), [&](std::uint32_t sw) {
            for (std::uint32_t port = 0; port < radix_; ++port) wire(sw * radix_ + port);
        });
}

std::int64_t Network::smallest_latency() const {
    using machine::LinkKind;
    std::int64_t smallest = std::min(rates[injection].latency, rates[ejection].latency);
    // Looks no further than for a kind of link that would make it smaller.
    for (std::uint32_t index = 0; index < count_; ++index) {
        if (smallest <= std::min(rates[local].latency, rates[global].latency)) break;
        const LinkKind kind = topology_.port(index / radix_, index % radix_).kind;
        if (kind == LinkKind::local) smallest = std::min(smallest, rates[local].latency);
        if (kind == LinkKind::global) smallest = std::min(smallest, rates[global].latency);
    }
    return smallest;
}

void Network::wire(std::uint32_t index) {
    const machine::PortEnd end = topology_.port(index / radix_, index % radix_);
    Port& port = *new (&blocks_[index * stride_]) Port;
    port.kind = static_cast<std::uint8_t>(end.kind);
    port.rate = static_cast<std::uint8_t>(end.kind == machine::LinkKind::terminal ? ejection
                                          : end.kind == machine::LinkKind::global ? global
                                                                                  : local);
    const bool link = end.kind == machine::LinkKind::local || end.kind == machine::LinkKind::global;
    if (link) {
        port.peer = where(end.peer_switch, end.peer_port);
        port.owner = owners_[end.peer_switch];
    }
    for (int c = 0; c < channels_; ++c)
        (new (channels(index) + c) Channel)->credit = static_cast<std::uint32_t>(buffer_sizes_.channel);
    for (int c = 0; has_exits() && c < channels_; ++c)
        (new (&exit(index, static_cast<std::uint32_t>(c))) Exit)->free = static_cast<std::uint32_t>(
            end.kind == machine::LinkKind::terminal ? buffer_sizes_.exit : buffer_sizes_.output);
    const std::uint32_t sw = index / radix_;
    if (channels_ > 0) {
        // With several processes all are wired before, each by its own.
        const bool other_end = link && parts_.processes == 1;
        const Upstream here{where(sw, index % radix_), owners_[sw], port.rate, port.kind};
        const Upstream there{port.peer, port.owner, port.rate, port.kind};
        upstreams[other_end ? end.peer_switch * radix_ + end.peer_port : index] = other_end ? here : there;
    }
    wired_[owners_[sw] - parts_.first].push_back(index);
}

// Ranks in step, but of unlike messages, keep the switches of one half of a machine busy in one window and those of the
// other half in the next: with half of it each, two threads that compute the wide halo of a million ranks waited for
// each other in a third of the time. So each part has several runs of switches, far apart; and one where these would be
// short, since most messages are between neighbours and what passes from part to part costs more.
constexpr std::uint64_t max_runs = 8, min_run = 50'000;  // ranks

// Switches that hold ranks go to the parts in contiguous runs of equal numbers of ranks.
void Network::divide(const machine::Topology& topology, const machine::Placement& placement, std::uint32_t nics,
                     Rank ranks) {
    owners_.assign(topology.switches(), 0);
    const std::uint64_t parts = parts_.all(), all = static_cast<std::uint64_t>(ranks);
    if (parts == 1) return;
    const std::uint64_t runs = std::clamp<std::uint64_t>(all / parts / min_run, 1, max_runs);
    std::vector<std::uint32_t> held(topology.switches(), 0);
    for (Rank r = 0; r < ranks; ++r) ++held[topology.switch_of(placement.node(r) * nics)];
    std::uint64_t before = 0;
    std::uint32_t passing = 0;
    for (std::uint32_t s = 0; s < topology.switches(); ++s) {
        if (held[s] == 0) {
            owners_[s] = static_cast<std::uint16_t>(owner_of_passing(s, passing++));
            continue;
        }
        const std::uint64_t run = (before + held[s] / 2) * parts * runs / all;
        owners_[s] = static_cast<std::uint16_t>(run % parts);
        before += held[s];
    }
}

// Pages are taken whole, so switches that share one go to one process; and each process has several runs of them, since
// often only some of the switches that pass packets on have much to do.
constexpr std::size_t small_run = std::size_t{1} << 14, large_run = HugeAllocator<Port>::page, min_runs = 4;

bool Network::scattered() const {
    return parts_.processes > 1 && owners_.size() * switch_bytes() < large_run * min_runs * parts_.processes;
}

// Those that only pass packets on are dealt out in turn.
std::uint32_t Network::owner_of_passing(std::uint32_t sw, std::uint32_t passing) const {
    const std::size_t run = (scattered() ? small_run : large_run) / switch_bytes();
    const auto process = static_cast<std::uint32_t>(sw / std::max<std::size_t>(1, run) % parts_.processes);
    return process * parts_.here + passing % parts_.here;
}

}  // namespace tradewind::sim
