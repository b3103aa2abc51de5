#include "machine/topology/hyperx.hpp"

#include "base/error.hpp"

namespace tradewind::machine {

HyperX::HyperX(const std::string& what, std::vector<std::uint32_t> shape, std::vector<std::uint32_t> links,
               std::uint32_t nodes_per_switch)
    : nodes_per_switch_(nodes_per_switch), shape_(std::move(shape)), links_(std::move(links)) {
    if (shape_.empty() || shape_.size() > 24) throw InputError(what + ": 1 to 24 dimensions are allowed");
    if (links_.size() != shape_.size())
        throw InputError(what + ": parallel links for " + std::to_string(links_.size()) + " dimensions, but it has " +
                         std::to_string(shape_.size()));
    if (nodes_per_switch < 1) throw InputError(what + ": 1 or more nodes per switch are allowed");
    double switches = 1, radix = nodes_per_switch;
    for (std::size_t d = 0; d < shape_.size(); ++d) {
        if (shape_[d] < 1 || shape_[d] > 65536)
            throw InputError(what + ": 1 to 65536 switches along a dimension are allowed");
        if (links_[d] < 1 || links_[d] > 1024) throw InputError(what + ": 1 to 1024 parallel links are allowed");
        switches *= shape_[d];
        radix += static_cast<double>(shape_[d]) * links_[d];
    }
    check_size(what, switches, radix, switches * nodes_per_switch);
    first_port_.push_back(0);
    for (std::size_t d = 0; d < shape_.size(); ++d) {
        stride_.push_back(switches_);
        switches_ *= shape_[d];
        first_port_.push_back(first_port_.back() + shape_[d] * links_[d]);
    }
}

std::string HyperX::describe() const {
    std::string text = "HyperX ";
    for (std::size_t d = 0; d < shape_.size(); ++d) {
        text += (d ? " x " : "") + std::to_string(shape_[d]);
        if (links_[d] > 1) text += " (" + std::to_string(links_[d]) + " parallel links)";
    }
    return text + ", " + std::to_string(nodes_per_switch_) + " nodes per switch";
}

PortEnd HyperX::port(std::uint32_t switch_id, std::uint32_t port) const {
    if (port >= first_terminal()) return {LinkKind::terminal, 0, 0};
    std::size_t d = 0;
    while (port >= first_port_[d + 1]) ++d;
    const std::uint32_t to = (port - first_port_[d]) / links_[d], lane = (port - first_port_[d]) % links_[d];
    const std::uint32_t here = coordinate(switch_id, d);
    if (to == here) return {};
    return {LinkKind::local, switch_id - here * stride_[d] + to * stride_[d], first_port_[d] + here * links_[d] + lane};
}

Topology::Distance HyperX::distance(std::uint32_t from, std::uint32_t to) const {
    Distance distance;
    for (std::size_t d = 0; d < shape_.size(); ++d) distance.local += coordinate(from, d) != coordinate(to, d);
    return distance;
}

}  // namespace tradewind::machine
