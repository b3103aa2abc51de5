#include "machine/topology/dragonflyplus.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tradewind::machine {

DragonflyPlus::DragonflyPlus(std::uint32_t leaves, std::uint32_t spines, std::uint32_t groups,
                             std::uint32_t nodes_per_switch, std::uint32_t global_links, Arrangement arrangement)
    : leaves_(leaves),
      spines_(spines),
      groups_(groups),
      nodes_per_switch_(nodes_per_switch),
      group_links_(spines, global_links, groups, arrangement) {
    if (leaves < 1 || spines < 1 || groups < 1 || nodes_per_switch < 1)
        throw InputError("dragonflyplus: 1 or more leaves, spines, groups and nodes per switch are allowed");
    if (spines > 16384 || global_links > 16384)
        throw InputError("dragonflyplus: at most 16384 spines per group and global links per spine are allowed");
    const double radix =
        std::max(static_cast<double>(spines) + nodes_per_switch, static_cast<double>(leaves) + global_links);
    check_size("dragonflyplus", groups * (static_cast<double>(leaves) + spines), radix,
               static_cast<double>(groups) * leaves * nodes_per_switch);
    group_links_.check("dragonflyplus");
    radix_ = static_cast<std::uint32_t>(radix);
}

std::string DragonflyPlus::describe() const {
    return "dragonfly+ of " + std::to_string(groups_) + " groups of " + std::to_string(leaves_) + " leaf and " +
           std::to_string(spines_) + " spine switches, " + std::to_string(group_links_.pairs()) +
           " links between two groups and " + std::to_string(nodes_per_switch_) + " nodes a leaf" +
           described(group_links_);
}

PortEnd DragonflyPlus::port(std::uint32_t switch_id, std::uint32_t port) const {
    const std::uint32_t group = this->group(switch_id), place = this->place(switch_id);
    if (is_leaf(switch_id)) {
        if (port < spines_) return {LinkKind::local, spine(group, port), place};
        if (port < spines_ + nodes_per_switch_) return {LinkKind::terminal, 0, 0};
        return {};
    }
    if (port < leaves_) return {LinkKind::local, group * leaves_ + port, place};
    const auto end = group_links_.end(group, place, port - leaves_);
    if (!end.used) return {};
    return {LinkKind::global, spine(end.group, end.holder), leaves_ + end.slot};
}

int DragonflyPlus::within(std::uint32_t from, std::uint32_t to) const {
    return from == to ? 0 : is_leaf(from) == is_leaf(to) ? 2 : 1;
}

Topology::Distance DragonflyPlus::distance(std::uint32_t from, std::uint32_t to) const {
    const std::uint32_t here = group(from), there = group(to);
    if (here == there) return {within(from, to), 0};
    if (is_leaf(from) && is_leaf(to)) return {2, 1};
    Distance best{4, 1};
    for (std::uint32_t m = 0; m < group_links_.pairs(); ++m) {
        const std::uint32_t gate = group_links_.gate(m, here, there).holder;
        const std::uint32_t landing = group_links_.gate(m, there, here).holder;
        best.local = std::min(best.local, within(from, spine(here, gate)) + within(spine(there, landing), to));
    }
    return best;
}

}  // namespace tradewind::machine
