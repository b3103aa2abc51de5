#include "machine/machine.hpp"

#include "base/error.hpp"

namespace tradewind {

const LinkRate& Machine::rate(LinkKind kind) const {
    return kind == LinkKind::terminal ? ejection : kind == LinkKind::global ? global : local;
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
        throw InputError("overhead a message: 0 or more are allowed");
    if (!(memory_bandwidth.value >= 1e6)) throw InputError("memory bandwidth of a node: 1MB/s or more are allowed");
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

}  // namespace tradewind
