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

const std::vector<RoutingEntry>& routings() {
    static const std::vector<RoutingEntry> entries{
        {"dimension-order", "torus", "shortest way along one dimension after another", "Dally & Seitz 1987"},
        {"d-mod-k", "fattree", "the port up is a digit of the destination: no conflict for shift permutations",
         "Zahavi, Johnson, Kerbyson & Lang 2010"},
        {"round-robin", "fattree", "every switch deals packets to its ports up in turn", "SST/macro manual"},
        {"minimal", "dragonfly", "a shortest path, one fixed global link for a pair of nodes",
         "Kim, Dally, Scott & Abts 2008"},
        {"valiant", "dragonfly", "by way of a random group, inside a group by way of a random switch",
         "Valiant 1982; Kim, Dally, Scott & Abts 2008"},
        {"ugal", "dragonfly", "minimal or valiant, by the queues at the source switch",
         "Singh 2005; Kim, Dally, Scott & Abts 2008"},
        {"direct", "crossbar", "the one switch", ""},
    };
    return entries;
}

const std::vector<TopologyEntry>& topologies() {
    static const std::vector<TopologyEntry> entries{
        {"torus", "shape, nodes_per_switch", "n-dimensional torus", "Dally & Seitz 1987"},
        {"fattree", "levels, down_ports", "k-ary n-tree: full bandwidth at every level", "Petrini & Vanneschi 1997"},
        {"dragonfly", "rows, columns, groups, nodes_per_switch, global_links",
         "groups of rows x columns switches, rows and columns fully connected, all pairs of groups connected",
         "Kim, Dally, Scott & Abts 2008; Alverson, Froese, Kaplan & Roweth 2015"},
        {"crossbar", "nodes", "all nodes on one switch", ""},
    };
    return entries;
}

}  // namespace tradewind
