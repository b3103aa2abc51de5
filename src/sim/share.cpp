#include "sim/share.hpp"

#include <optional>
#include <span>

#include "sim/world.hpp"

namespace tradewind::sim {

namespace {

// The NICs that are attached to a switch.
struct Terminals {
    std::uint32_t first = 0, count = 0;
};

Terminals terminals(const World& world, std::uint32_t sw) {
    const machine::Topology& topology = *world.machine.topology;
    const std::uint64_t first = std::uint64_t{sw} * topology.nodes_per_switch();
    if (first >= topology.nodes()) return {};
    return {static_cast<std::uint32_t>(first), topology.nodes_per_switch()};
}

// Calls `use` with each port of this process's switches, by its index, and the bytes that it has sent.
template <class Use>
void for_ports(const World& world, Use use) {
    const Network& network = world.network;
    network.for_switches_of(world.parts.process(), [&](std::uint32_t sw) {
        for (std::uint32_t index = sw * network.radix(); index < (sw + 1) * network.radix(); ++index)
            use(index, network.port(index).bytes);
    });
}

template <class Use>
void for_nics(const World& world, Use use) {
    world.network.for_switches_of(world.parts.process(), [&](std::uint32_t sw) {
        const Terminals nics = terminals(world, sw);
        for (std::uint32_t nic = nics.first; nic < nics.first + nics.count; ++nic) use(nic, world.nics[nic].bytes);
    });
}

void write(ByteBuffer& buffer, const World& world, const Share& share) {
    const SimulationResult& result = share.result;
    buffer.put(share.finished);
    buffer.put(share.arrived);
    buffer.put(share.load);
    buffer.put(result.messages);
    buffer.put(result.bytes);
    buffer.put(result.unexpected_bytes);
    buffer.put(result.packet_hops);
    buffer.put(result.events);
    buffer.put(std::span(result.step_end));
    buffer.put(result.delay);
    buffer.put(result.delay_series.shift);
    buffer.put(std::span(result.delay_series.values));
    buffer.put(std::span(result.delay_pairs.values));
    buffer.put(static_cast<std::uint64_t>(result.passages.size()));
    buffer.put(std::span(result.passages));
    buffer.put(static_cast<std::uint64_t>(result.trace_events.size()));
    buffer.put(std::span(result.trace_events));
    for_ports(world, [&](std::uint32_t, std::uint64_t bytes) { buffer.put(bytes); });
    for_nics(world, [&](std::uint32_t, std::uint64_t bytes) { buffer.put(bytes); });
}

template <class T>
void take_all(ByteReader& buffer, std::span<T> values) {
    for (T& value : values) value = buffer.take<T>();
}

// The statistics of a buffer go into `other`, which has their sizes.
void read(ByteReader buffer, const World& world, std::uint32_t process, Share& other, Share& share) {
    SimulationResult& result = other.result;
    other.finished = buffer.take<std::int64_t>();
    other.arrived = buffer.take<std::int64_t>();
    other.load = buffer.take<Load>();
    result.messages = buffer.take<std::int64_t>();
    result.bytes = buffer.take<std::int64_t>();
    result.unexpected_bytes = buffer.take<std::int64_t>();
    result.packet_hops = buffer.take<std::int64_t>();
    result.events = buffer.take<std::uint64_t>();
    take_all(buffer, std::span(result.step_end));
    result.delay = buffer.take<DelayHistogram>();
    result.delay_series.shift = buffer.take<int>();
    take_all(buffer, std::span(result.delay_series.values));
    take_all(buffer, std::span(result.delay_pairs.values));
    result.passages.resize(buffer.take<std::uint64_t>());
    take_all(buffer, std::span(result.passages));
    result.trace_events.resize(buffer.take<std::uint64_t>());
    take_all(buffer, std::span(result.trace_events));
    const std::uint32_t radix = world.network.radix();
    world.network.for_switches_of(process, [&](std::uint32_t sw) {
        take_all(buffer, std::span(share.result.port_bytes).subspan(std::size_t{sw} * radix, radix));
    });
    world.network.for_switches_of(process, [&](std::uint32_t sw) {
        const Terminals nics = terminals(world, sw);
        take_all(buffer, std::span(share.result.nic_bytes).subspan(nics.first, nics.count));
    });
}

void merge(Share& share, const Share& other) {
    SimulationResult& result = share.result;
    share.finished += other.finished;
    share.arrived += other.arrived;
    share.load.merge(other.load);
    for (std::size_t i = 0; i < result.step_end.size(); ++i)
        result.step_end[i] = std::max(result.step_end[i], other.result.step_end[i]);
    result.messages += other.result.messages;
    result.bytes += other.result.bytes;
    result.unexpected_bytes += other.result.unexpected_bytes;
    result.packet_hops += other.result.packet_hops;
    result.events += other.result.events;
    result.delay.merge(other.result.delay);
    result.delay_series.merge(other.result.delay_series);
    result.delay_pairs.merge(other.result.delay_pairs);
    result.passages.insert(result.passages.end(), other.result.passages.begin(), other.result.passages.end());
    result.trace_events.insert(result.trace_events.end(), other.result.trace_events.begin(),
                               other.result.trace_events.end());
}

}  // namespace

void weigh(const World& world, Share& share) {
    const Network& network = world.network;
    const auto time = [&](std::uint64_t bytes, std::uint32_t rate) {
        return Picoseconds{static_cast<std::int64_t>(static_cast<double>(bytes) *
                                                     static_cast<double>(network.rates[rate].byte_time) / 65536)};
    };
    SimulationResult& result = share.result;
    const bool reports = world.parts.process() == 0;
    if (reports) {
        result.port_bytes.resize(network.ports());
        result.nic_bytes.resize(world.nics.size());
    }
    Load& load = share.load;
    for_ports(world, [&](std::uint32_t index, std::uint64_t bytes) {
        if (bytes == 0) return;
        if (reports) result.port_bytes[index] = bytes;
        const Port& port = network.port(index);
        load.consider(time(bytes, port.rate), index);
        if (port.kind == static_cast<std::uint8_t>(machine::LinkKind::terminal)) return;
        load.maximum = std::max(load.maximum, bytes);
        load.total += bytes;
        ++load.used;
    });
    for_nics(world, [&](std::uint32_t nic, std::uint64_t bytes) {
        if (reports) result.nic_bytes[nic] = bytes;
        load.consider(time(bytes, Network::injection), std::uint64_t{network.ports()} + nic);
    });
}

void gather(const World& world, Peers& peers, Share& share) {
    if (peers.processes() == 1) return;
    ByteBuffer buffer;
    std::optional<Share> other;
    peers.collective([&] {
        if (peers.process() > 0) {
            write(buffer, world, share);
        } else {
            other.emplace(world.ending.steps());
            other->result.delay_pairs.resize(share.result.delay_pairs.blocks);
        }
    });
    peers.gather(buffer, [&](int process, std::span<const std::byte> bytes) {
        read(ByteReader(bytes), world, static_cast<std::uint32_t>(process), *other, share);
        merge(share, *other);
    });
}

}  // namespace tradewind::sim
