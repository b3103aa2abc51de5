#include "machine/topology/dragonfly.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tradewind::machine {

Dragonfly::Dragonfly(std::uint32_t rows, std::uint32_t columns, std::uint32_t groups, std::uint32_t nodes_per_switch,
                     std::uint32_t global_links, Arrangement arrangement)
    : rows_(rows),
      columns_(columns),
      groups_(groups),
      nodes_per_switch_(nodes_per_switch),
      global_links_(global_links),
      group_links_(rows * columns, global_links, groups, arrangement) {
    if (rows < 1 || columns < 1 || groups < 1 || nodes_per_switch < 1)
        throw InputError("dragonfly: 1 or more rows, columns, groups and nodes per switch are allowed");
    const double size = static_cast<double>(rows) * columns;
    // The routing of a packet keeps the number of a group, or of a switch in its group, in 14 bits.
    if (rows > 1023 || columns > 1023 || size > 16384 || groups > 16384)
        throw InputError("dragonfly: at most 16384 switches per group (1023 per row) and 16384 groups are allowed");
    if (global_links > 16383) throw InputError("dragonfly: at most 16383 global links per switch are allowed");
    check_size("dragonfly", size * groups, static_cast<double>(rows) + columns + global_links + nodes_per_switch,
               size * groups * nodes_per_switch);
    group_links_.check("dragonfly");
}

std::string Dragonfly::describe() const {
    return "dragonfly of " + std::to_string(groups_) + " groups of " + std::to_string(rows_) + " x " +
           std::to_string(columns_) + " switches, " + std::to_string(global_links_) + " global links and " +
           std::to_string(nodes_per_switch_) + " nodes per switch" + described(group_links_);
}

PortEnd Dragonfly::port(std::uint32_t switch_id, std::uint32_t port) const {
    if (port >= first_terminal()) return {LinkKind::terminal, 0, 0};
    const std::uint32_t group = switch_id / group_size(), local = switch_id % group_size();
    const std::uint32_t row = local / columns_, column = local % columns_, first = switch_id - local;
    if (port < columns_) {
        if (port == column) return {};
        return {LinkKind::local, first + row * columns_ + port, column};
    }
    if (port < first_global()) {
        if (port - columns_ == row) return {};
        return {LinkKind::local, first + (port - columns_) * columns_ + column, columns_ + row};
    }
    const auto end = group_links_.end(group, local, port - first_global());
    if (!end.used) return {};
    return {LinkKind::global, end.group * group_size() + end.holder, first_global() + end.slot};
}

Topology::Distance Dragonfly::distance(std::uint32_t from, std::uint32_t to) const {
    Distance best = distance_by(from, to, 0);
    for (std::uint32_t m = 1; m < links_per_pair() && best.global > 0; ++m)
        best.local = std::min(best.local, distance_by(from, to, m).local);
    return best;
}

Topology::Distance Dragonfly::distance_by(std::uint32_t from, std::uint32_t to, std::uint32_t m) const {
    const std::uint32_t size = group_size();
    const auto local = [&](std::uint32_t a, std::uint32_t b) {
        return static_cast<int>(a / columns_ != b / columns_) + static_cast<int>(a % columns_ != b % columns_);
    };
    if (from / size == to / size) return {local(from % size, to % size), 0};
    const std::uint32_t here = from / size, there = to / size;
    const std::uint32_t gate = group_links_.gate(m, here, there).holder;
    const std::uint32_t landing = group_links_.gate(m, there, here).holder;
    return {local(from % size, gate) + local(landing, to % size), 1};
}

}  // namespace tradewind::machine
