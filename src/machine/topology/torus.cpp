#include "machine/topology/torus.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tradewind::machine {

Torus::Torus(std::vector<std::uint32_t> shape, std::uint32_t nodes_per_switch)
    : shape_(std::move(shape)), nodes_per_switch_(nodes_per_switch) {
    if (shape_.empty() || shape_.size() > 6) throw InputError("torus: 1 to 6 dimensions are allowed");
    double switches = 1;
    for (const std::uint32_t n : shape_) {
        if (n < 1 || n > 1024) throw InputError("torus: 1 to 1024 switches along a dimension are allowed");
        switches *= n;
    }
    if (nodes_per_switch < 1) throw InputError("torus: 1 or more nodes per switch are allowed");
    check_size("torus", switches, first_terminal() + static_cast<double>(nodes_per_switch),
               switches * nodes_per_switch);
    for (const std::uint32_t n : shape_) {
        stride_.push_back(switches_);
        by_shape_.emplace_back(n);
        by_stride_.emplace_back(switches_);
        switches_ *= n;
    }
}

std::string Torus::describe() const {
    std::string text = "torus ";
    for (std::size_t d = 0; d < shape_.size(); ++d) text += (d ? " x " : "") + std::to_string(shape_[d]);
    return text + ", " + std::to_string(nodes_per_switch_) + " nodes per switch";
}

PortEnd Torus::port(std::uint32_t switch_id, std::uint32_t port) const {
    if (port >= first_terminal()) return {LinkKind::terminal, 0, 0};
    const std::uint32_t d = port / 2, n = shape_[d], c = coordinate(switch_id, d);
    if (n == 1) return {};
    const bool forward = port % 2 == 0;
    const std::uint32_t next = forward ? (c + 1) % n : (c + n - 1) % n;
    return {LinkKind::local, switch_id - c * stride_[d] + next * stride_[d], forward ? port + 1 : port - 1};
}

Topology::Distance Torus::distance(std::uint32_t from, std::uint32_t to) const {
    Distance distance;
    for (std::size_t d = 0; d < shape_.size(); ++d) distance.local += steps(from, to, d);
    return distance;
}

int Torus::steps(std::uint32_t from, std::uint32_t to, std::size_t d) const {
    const std::uint32_t n = shape_[d], here = coordinate(from, d), there = coordinate(to, d);
    const std::uint32_t apart = here < there ? there - here : here - there;
    return static_cast<int>(std::min(apart, n - apart));
}

}  // namespace tradewind::machine
