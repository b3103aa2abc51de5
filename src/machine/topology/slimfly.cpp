#include "machine/topology/slimfly.hpp"

#include "base/error.hpp"

namespace tradewind::machine {

namespace {

std::uint32_t checked(std::uint32_t q) {
    if (q < 3 || q % 4 == 2 || !FiniteField::exists(q))
        throw InputError("slimfly: q = " + std::to_string(q) + ": a power of a prime from 3 to " +
                         std::to_string(FiniteField::largest) + " is allowed");
    return q;
}

}  // namespace

SlimFly::SlimFly(std::uint32_t q, std::uint32_t nodes_per_switch)
    : q_(checked(q)), nodes_per_switch_(nodes_per_switch), field_(q) {
    if (nodes_per_switch < 1) throw InputError("slimfly: 1 or more nodes per switch are allowed");
    const double switches = 2.0 * q * q;
    check_size("slimfly", switches, 1.5 * q + 0.5 + nodes_per_switch, switches * nodes_per_switch);
    // Even powers for side 0 and odd ones for side 1; where q = 4 w - 1, -1 is an odd power, and each set changes from
    // one kind to the other halfway, so that it holds the negative of every element.
    for (std::uint32_t side = 0; side < 2; ++side)
        if (q % 4 == 3) {
            for (std::uint32_t e = side; e < q / 2 + side; e += 2) generators_[side].push_back(field_.power(e));
            for (std::uint32_t e = q / 2 + side; e < q - 1 + side; e += 2) generators_[side].push_back(field_.power(e));
        } else {
            for (std::uint32_t e = side; e < q - 1 + side * (q % 2 == 0); e += 2)
                generators_[side].push_back(field_.power(e));
        }
    find_first_steps();
}

void SlimFly::find_first_steps() {
    for (std::uint32_t side = 0; side < 2; ++side) {
        port_by_[side].assign(q_, none);
        first_step_[side].assign(q_, none);
        for (std::size_t i = 0; i < generators_[side].size(); ++i)
            port_by_[side][generators_[side][i]] = static_cast<std::uint16_t>(i);
        for (std::size_t i = 0; i < generators_[side].size(); ++i)
            for (const std::uint16_t second : generators_[side])
                first_step_[side][field_.add(generators_[side][i], second)] = static_cast<std::uint16_t>(i);
    }
}

std::string SlimFly::describe() const {
    return "Slim Fly of q = " + std::to_string(q_) + ": " + std::to_string(switches()) + " switches with " +
           std::to_string(first_terminal()) + " links and " + std::to_string(nodes_per_switch_) + " nodes each";
}

std::uint32_t SlimFly::across(const Vertex& v, std::uint32_t x) const {
    const std::uint32_t product = field_.multiply(v.x, x);
    return v.side == 0 ? field_.subtract(v.y, product) : field_.add(v.y, product);
}

PortEnd SlimFly::port(std::uint32_t switch_id, std::uint32_t port) const {
    if (port >= first_terminal()) return {LinkKind::terminal, 0, 0};
    const Vertex v = vertex(switch_id);
    if (port < first_across()) {
        const std::uint32_t generator = generators_[v.side][port];
        return {LinkKind::local, number(v.side, v.x, field_.add(v.y, generator)),
                port_by_[v.side][field_.negative(generator)]};
    }
    const std::uint32_t x = port - first_across();
    return {LinkKind::local, number(1 - v.side, x, across(v, x)), first_across() + v.x};
}

bool SlimFly::adjacent(std::uint32_t from, std::uint32_t to) const {
    const Vertex a = vertex(from), b = vertex(to);
    if (a.side != b.side) return across(a, b.x) == b.y;
    return a.x == b.x && is_generator(a.side, field_.subtract(b.y, a.y));
}

Topology::Distance SlimFly::distance(std::uint32_t from, std::uint32_t to) const {
    return {from == to ? 0 : adjacent(from, to) ? 1 : 2, 0};
}

std::uint32_t SlimFly::towards(std::uint32_t from, std::uint32_t to) const {
    const Vertex a = vertex(from), b = vertex(to);
    if (a.side == b.side && a.x == b.x) {
        const std::uint32_t difference = field_.subtract(b.y, a.y);
        return is_generator(a.side, difference) ? port_by_[a.side][difference] : first_step_[a.side][difference];
    }
    if (a.side == b.side) {  // the one switch of the other side that both are joined to
        const std::uint32_t slope = field_.divide(field_.subtract(b.y, a.y), field_.subtract(b.x, a.x));
        return first_across() + (a.side == 0 ? slope : field_.negative(slope));
    }
    // Across at once, or first to the switch of this x whose link across leads there, or across and then to it.
    const std::uint32_t landing = across(a, b.x);
    if (landing == b.y) return first_across() + b.x;
    const std::uint32_t difference = field_.subtract(across(b, a.x), a.y);
    return is_generator(a.side, difference) ? port_by_[a.side][difference] : first_across() + b.x;
}

}  // namespace tradewind::machine
