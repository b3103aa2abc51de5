#include "sim/world.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tradewind::sim {

World::World(const machine::Machine& machine, const program::Program& program, const machine::Placement& placement,
             const SimulationOptions& options, const Parts& parts, int channels, bool spreads)
    : machine(machine),
      program(program),
      placement(placement),
      calls(options.calls),
      replay_times(calls ? std::make_shared<ReplayTimes>(calls) : nullptr),
      ending(program, options.early_end),
      parts(parts),
      network(machine, placement, program.ranks(), parts, channels),
      lines(program.lines()),
      progress(options.progress_by),
      senders(static_cast<std::size_t>(program.ranks()) * lines * machine.nics),
      receivers(static_cast<std::size_t>(program.ranks()) * lines),
      nics(machine.topology->nodes(), is_dense(machine.topology->nodes() * sizeof(Nic), program.ranks())),
      by_switch(machine.topology->nodes_per_switch()),
      by_radix(network.radix()),
      first_terminal(machine.topology->first_terminal()),
      nics_per_node(machine.nics),
      shared_nodes(placement.ranks_per_node() > 1),
      finite(channels > 0),
      spreads(spreads),
      packet(options.packet.value == 0 ? SimulationOptions::largest_packet : options.packet.value),
      send_overhead(options.intranode ? 0 : machine.send_overhead.value),
      receive_overhead(options.intranode || options.one_sided ? 0 : machine.receive_overhead.value),
      eager_limit(options.one_sided || machine.eager_limit.value < 0 ? std::numeric_limits<std::int64_t>::max()
                                                                     : machine.eager_limit.value),
      bypass(options.unloaded ? SimulationOptions::largest_packet : machine.bypass.value),
      header(static_cast<std::uint32_t>(machine.header.value)),
      memory_byte_time(options.free_copies ? 0 : 1e12 / machine.memory_bandwidth.value),
      copy_byte_time(
          options.free_copies ? 0 : 1e12 / std::min(machine.memory_bandwidth.value, machine.copy_bandwidth.value)),
      unexpected_byte_time(machine.unexpected_bandwidth.value > 0 && !options.one_sided && !options.free_copies
                               ? 1e12 / machine.unexpected_bandwidth.value
                               : 0),
      unloaded(options.unloaded),
      receives_at_start(machine.receives_at_start),
      compact_from(static_cast<std::size_t>(options.compact_from.value)),
      blocks(static_cast<std::uint32_t>(std::min<std::int64_t>(options.blocks, program.ranks()))),
      followed(static_cast<std::uint32_t>(options.followed)),
      shown(options.shown),
      origins(program, blocks, shown),
      seed(mix(options.seed)),
      tie_order(options.order_seed) {
    const bool handshake = eager_limit != std::numeric_limits<std::int64_t>::max();
    if (options.intranode && !options.free_copies) message_cost.emplace(*options.intranode, machine, placement);
    if (options.noise.any()) noise.emplace(options.noise, seed);
    const bool copies = unexpected_byte_time > 0;
    const auto ranks = static_cast<std::size_t>(program.ranks());
    if (noise) busy = LazyArray<std::int64_t>(ranks);
    if (program.order()) {
        walkers = LazyArray<Walker>(ranks);
        line_states = LazyArray<LineState>(receivers.size());
        if (progress == Progress::thread) helpers = LazyArray<std::int64_t>(ranks);
    }
    if (send_overhead > 0 || receive_overhead > 0 || program.computes() || message_cost || copies || noise ||
        program.order())
        cpus = LazyArray<std::int64_t>(ranks);
    if (handshake) handshakes = LazyArray<Handshake>(receivers.size());
    if (shared_nodes)
        memory = LazyArray<std::int64_t>(machine.topology->nodes() / machine.nics,
                                         is_dense(nics.size() * sizeof(Nic), program.ranks()));
    if (copies || (handshake && receives_at_start)) posted = LazyArray<std::uint32_t>(receivers.size());
    ordered = shared_nodes || finite || handshake || receive_overhead > 0 || message_cost || copies || noise ||
              program.order() || calls;
    arbitrates = shared_nodes || handshake || lines > 1 || calls;
}

void World::look_ahead(std::int64_t minimum) {
    if (minimum < 1)
        throw InputError(
            "a link or NIC latency of 0 leaves the packet model no time to look ahead; "
            "name a latency of 1ps or more, or use the model 'loggp'");
    // Where all packets of a window are sorted, a key has 64 bits: time in the window, input port, and at minimum 24
    // for the packets of one window.
    while ((std::int64_t{2} << shift) <= minimum && shift + network.port_bits() < 40) ++shift;
}

}  // namespace tradewind::sim
