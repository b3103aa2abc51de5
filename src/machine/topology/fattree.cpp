#include "machine/topology/fattree.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace tradewind {

FatTree::FatTree(std::uint32_t levels, std::uint32_t down_ports) : levels_(levels), k_(down_ports) {
    if (levels < 1 || levels > 16) throw InputError("fattree: 1 to 16 levels are allowed");
    if (down_ports < 2) throw InputError("fattree: 2 or more descendant ports a switch are allowed");
    const double width = std::pow(down_ports, levels - 1);
    check_size("fattree", levels * width, 2.0 * down_ports, width * down_ports);
    for (std::uint32_t l = 0; l < levels; ++l) {
        power_.push_back(width_);
        if (l + 1 < levels) width_ *= k_;
    }
}

std::string FatTree::describe() const {
    return "fat-tree of " + std::to_string(levels_) + " levels, " + std::to_string(k_) + " descendant ports a switch";
}

PortEnd FatTree::port(std::uint32_t switch_id, std::uint32_t port) const {
    const std::uint32_t level = switch_id / width_, w = switch_id % width_;
    if (port < k_) {  // down
        if (level == 0) return {LinkKind::terminal, 0, 0};
        const std::uint32_t p = power_[level - 1], digit = w / p % k_;
        return {LinkKind::local, (level - 1) * width_ + w - digit * p + port * p, k_ + digit};
    }
    if (level + 1 == levels_) return {};
    const std::uint32_t p = power_[level], digit = w / p % k_;
    return {LinkKind::local, (level + 1) * width_ + w - digit * p + (port - k_) * p, digit};
}

// A link between levels l and l + 1 replaces digit l, so a path goes as far down as the lowest digit that differs and
// above the highest one, whichever comes first.
Topology::Distance FatTree::distance(std::uint32_t from, std::uint32_t to) const {
    const std::uint32_t a = from % width_, b = to % width_;
    const int la = static_cast<int>(from / width_), lb = static_cast<int>(to / width_);
    int low = std::min(la, lb), high = std::max(la, lb);
    for (int digit = 0; digit + 1 < static_cast<int>(levels_); ++digit) {
        if (a / power_[digit] % k_ == b / power_[digit] % k_) continue;
        low = std::min(low, digit);
        high = std::max(high, digit + 1);
    }
    const int down_first = (la - low) + (high - low) + (high - lb), up_first = (high - la) + (high - low) + (lb - low);
    return {std::min(down_first, up_first), 0};
}

}  // namespace tradewind
