#include "machine/machine.hpp"

#include <limits>
#include <string>

#include "base/error.hpp"
#include "machine/topology/torus.hpp"

namespace tradewind::machine {

namespace {

// A value of a machine: its name in errors, and what is allowed.
struct Limit {
    const char* what;
    double (*value)(const Machine&);
    double low, high;
    const char* allowed;
    bool or_zero = false;  // which means that there is none
};

constexpr double inf = std::numeric_limits<double>::infinity(), MB = 1e6, MiB = 1 << 20, GiB = 1 << 30;
constexpr double TB1000 = 1e15;  // the byte time is kept in 2^-16 ps in 36 bits

template <auto value>
double of(const Machine& machine) {
    return static_cast<double>((machine.*value).value);
}

template <auto rate>
double bandwidth(const Machine& machine) {
    return (machine.*rate).bandwidth.value;
}

template <auto rate>
double latency(const Machine& machine) {
    return static_cast<double>((machine.*rate).latency.value);
}

// In the order in which they are checked.
constexpr Limit limits[] = {
    {"link bandwidth", bandwidth<&Machine::local>, MB, TB1000, "1MB/s to 1000TB/s"},
    {"link latency", latency<&Machine::local>, 0, inf, "0 or more"},
    {"global link bandwidth", bandwidth<&Machine::global>, MB, TB1000, "1MB/s to 1000TB/s"},
    {"global link latency", latency<&Machine::global>, 0, inf, "0 or more"},
    {"injection bandwidth", bandwidth<&Machine::injection>, MB, TB1000, "1MB/s to 1000TB/s"},
    {"injection latency", latency<&Machine::injection>, 0, inf, "0 or more"},
    {"ejection bandwidth", bandwidth<&Machine::ejection>, MB, TB1000, "1MB/s to 1000TB/s"},
    {"ejection latency", latency<&Machine::ejection>, 0, inf, "0 or more"},
    {"overhead per message", of<&Machine::send_overhead>, 0, inf, "0 or more"},
    {"overhead per message", of<&Machine::receive_overhead>, 0, inf, "0 or more"},
    {"memory bandwidth of a node", of<&Machine::memory_bandwidth>, MB, inf, "1MB/s or more"},
    {"buffer of a switch", of<&Machine::buffer>, 1, GiB, "1B to 1GiB"},
    {"buffer of a port or for a NIC", of<&Machine::port_buffer>, 1, GiB, "1B to 1GiB", true},
    {"buffer of a port or for a NIC", of<&Machine::output_buffer>, 1, GiB, "1B to 1GiB", true},
    {"buffer of a port or for a NIC", of<&Machine::nic_buffer>, 1, GiB, "1B to 1GiB", true},
    {"channels of a port", [](const Machine& machine) -> double { return machine.channels; }, 1, 16, "1 to 16", true},
    {"bandwidth of copies of unexpected messages", of<&Machine::unexpected_bandwidth>, MB, TB1000, "1MB/s to 1000TB/s",
     true},
    {"bandwidth of a switch", of<&Machine::crossbar_bandwidth>, MB, TB1000, "1MB/s to 1000TB/s", true},
    {"bandwidth of one copy", of<&Machine::copy_bandwidth>, MB, inf, "1MB/s or more"},
    {"header of a message", of<&Machine::header>, 1, MiB, "1B to 1MiB"},
    {"messages that bypass the network", of<&Machine::bypass>, 0, 128 * MiB, "0B to 128MiB"},
    {"NICs per node", [](const Machine& machine) -> double { return machine.nics; }, 1, 16, "1 to 16"},
};

}  // namespace

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
    for (const Limit& limit : limits) {
        const double value = limit.value(*this);
        if (value == 0 && limit.or_zero) continue;
        if (!(value >= limit.low && value <= limit.high))
            throw InputError(std::string(limit.what) + ": " + limit.allowed + " are allowed");
    }
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
