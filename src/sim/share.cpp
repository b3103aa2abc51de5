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
    buffer.put(result.busy);
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

void take_used(ByteReader& buffer, std::uint32_t first, std::uint32_t count, SentBytes& sent) {
    for (std::uint32_t number = first; number < first + count; ++number)
        if (const auto bytes = buffer.take<std::uint64_t>(); bytes > 0) sent.used.emplace_back(number, bytes);
}

// The statistics of a buffer go into `other`, which has their sizes.
void read(ByteReader buffer, const World& world, std::uint32_t process, Share& other, Share& share) {
    SimulationResult& result = other.result;
    other.finished = buffer.take<std::int64_t>();
    other.arrived = buffer.take<std::int64_t>();
    other.load = buffer.take<Load>();
    result.busy = buffer.take<BusyTime>();
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
    world.network.for_switches_of(
        process, [&](std::uint32_t sw) { take_used(buffer, sw * radix, radix, share.result.port_bytes); });
    world.network.for_switches_of(process, [&](std::uint32_t sw) {
        const Terminals nics = terminals(world, sw);
        take_used(buffer, nics.first, nics.count, share.result.nic_bytes);
    });
}

void merge(Share& share, const Share& other) {
    SimulationResult& result = share.result;
    share.finished += other.finished;
    share.arrived += other.arrived;
    share.load.merge(other.load);
    for (std::size_t i = 0; i < result.step_end.size(); ++i)
        result.step_end[i] = std::max(result.step_end[i], other.result.step_end[i]);
    result.busy.merge(other.result.busy);
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
        result.port_bytes.size = network.ports();
        result.nic_bytes.size = world.nics.size();
    }
    Load& load = share.load;
    const auto weigh_nic = [&](std::uint32_t nic) {
        const std::uint64_t bytes = world.nics[nic].bytes;
        if (bytes == 0) return;
        if (reports) result.nic_bytes.used.emplace_back(nic, bytes);
        load.consider(time(bytes, Network::injection), std::uint64_t{network.ports()} + nic);
    };
    network.for_wired([&](std::uint32_t index) {
        const Port& port = network.port(index);
        const bool terminal = port.kind == static_cast<std::uint8_t>(machine::LinkKind::terminal);
        if (terminal) weigh_nic(world.terminal_at(index));
        if (port.bytes == 0) return;
        if (reports) result.port_bytes.used.emplace_back(index, port.bytes);
        load.consider(time(port.bytes, port.rate), index);
        if (terminal) return;
        load.maximum = std::max(load.maximum, port.bytes);
        load.total += port.bytes;
        ++load.used;
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
