#include "machine/machine.hpp"

#include "base/error.hpp"
#include "machine/topology/torus.hpp"

namespace tradewind::machine {

const LinkRate& Machine::rate(LinkKind kind) const {
    return kind == LinkKind::terminal ? ejection : kind == LinkKind::global ? global : local;
}

Topology::Distance Machine::bypass_distance(std::uint32_t from_switch, std::uint32_t to_switch) const {
    if (bypass_last_dimension)
        if (const auto* torus = dynamic_cast<const Torus*>(topology.get()))
            return {torus->steps(from_switch, to_switch, torus->shape().size() - 1), 0};
    return topology->distance(from_switch, to_switch);
}

void Machine::check() const {
    const auto check_rate = [](const char* what, const LinkRate& rate) {
        // The byte time is kept in 2^-16 ps in 36 bits.
        if (!(rate.bandwidth.value >= 1e6 && rate.bandwidth.value <= 1e15))
            throw InputError(std::string(what) + " bandwidth: 1MB/s to 1000TB/s are allowed");
        if (rate.latency.value < 0) throw InputError(std::string(what) + " latency: 0 or more are allowed");
    };
    check_rate("link", local);
    check_rate("global link", global);
    check_rate("injection", injection);
    check_rate("ejection", ejection);
    if (send_overhead.value < 0 || receive_overhead.value < 0)
        throw InputError("overhead per message: 0 or more are allowed");
    if (!(memory_bandwidth.value >= 1e6)) throw InputError("memory bandwidth of a node: 1MB/s or more are allowed");
    if (buffer.value < 1 || buffer.value > 1 << 30) throw InputError("buffer of a switch: 1B to 1GiB are allowed");
    for (const Bytes& bytes : {port_buffer, output_buffer, nic_buffer})
        if (bytes.value < 0 || bytes.value > 1 << 30)
            throw InputError("buffer of a port or for a NIC: 1B to 1GiB are allowed");
    if (channels < 0 || channels > 16) throw InputError("channels of a port: 1 to 16 are allowed");
    if (unexpected_bandwidth.value != 0 && !(unexpected_bandwidth.value >= 1e6 && unexpected_bandwidth.value <= 1e15))
        throw InputError("bandwidth of copies of unexpected messages: 1MB/s to 1000TB/s are allowed");
    if (crossbar_bandwidth.value != 0 && !(crossbar_bandwidth.value >= 1e6 && crossbar_bandwidth.value <= 1e15))
        throw InputError("bandwidth of a switch: 1MB/s to 1000TB/s are allowed");
    if (!(copy_bandwidth.value >= 1e6)) throw InputError("bandwidth of one copy: 1MB/s or more are allowed");
    if (header.value < 1 || header.value > 1 << 20) throw InputError("header of a message: 1B to 1MiB are allowed");
    if (bypass.value < 0 || bypass.value > 1 << 27)
        throw InputError("messages that bypass the network: 0B to 128MiB are allowed");
    if (nics < 1 || nics > 16) throw InputError("NICs per node: 1 to 16 are allowed");
    if (topology->nodes_per_switch() % nics != 0)
        throw InputError(std::to_string(nics) + " NICs per node do not divide the " +
                         std::to_string(topology->nodes_per_switch()) + " that are attached to a switch");
    bool known = false;
    std::string allowed;
    for (const RoutingEntry& entry : routings()) {
        if (entry.topology != topology->name()) continue;
        known = known || entry.name == routing;
        allowed += (allowed.empty() ? "" : ", ") + entry.name;
    }
    if (!known)
        throw InputError("routing '" + routing + "' is not one of a " + topology->name() + " (known: " + allowed + ")");
}

}  // namespace tradewind::machine
