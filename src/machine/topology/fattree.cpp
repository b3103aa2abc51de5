#include "machine/topology/fattree.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tradewind::machine {

FatTree::FatTree(std::vector<std::uint32_t> down, std::vector<std::uint32_t> up)
    : down_(std::move(down)), up_(std::move(up)) {
    const std::size_t levels = down_.size();
    if (levels < 1 || levels > 16) throw InputError("fattree: 1 to 16 levels are allowed");
    if (up_.size() + 1 != levels)
        throw InputError("fattree: uplinks of " + std::to_string(up_.size()) + " levels: those of all " +
                         std::to_string(levels) + " but the top one are needed");
    double nodes = 1, switches = 0, radix = 0;
    for (std::size_t l = 0; l < levels; ++l) {
        if (down_[l] < 2) throw InputError("fattree: 2 or more downlinks per switch are allowed");
        if (l + 1 < levels && up_[l] < 1) throw InputError("fattree: 1 or more uplinks per switch are allowed");
        nodes *= down_[l];
        radix = std::max(radix, static_cast<double>(down_[l]) + up_ports(static_cast<std::uint32_t>(l)));
    }
    double width = nodes / down_[0];
    for (std::size_t l = 0; l < levels; ++l) {
        switches += width;
        if (l + 1 < levels) width = width / down_[l + 1] * up_[l];
    }
    check_size("fattree", switches, radix, nodes);
    radix_ = static_cast<std::uint32_t>(radix);
    first_.push_back(0);
    for (std::uint32_t l = 0; l < levels; ++l) {
        stride_.push_back(1);
        for (std::uint32_t digit = 0; digit + 1 < levels; ++digit) stride_.push_back(stride_.back() * base(l, digit));
        first_.push_back(first_.back() + stride_.back());
    }
}

std::uint32_t FatTree::level(std::uint32_t switch_id) const {
    std::uint32_t level = 0;
    while (switch_id >= first_[level + 1]) ++level;
    return level;
}

std::string FatTree::describe() const {
    const auto list = [](const std::vector<std::uint32_t>& numbers) {
        std::string text;
        for (const std::uint32_t n : numbers) text += (text.empty() ? "" : ", ") + std::to_string(n);
        return text;
    };
    const bool one = std::all_of(down_.begin(), down_.end(), [&](std::uint32_t k) { return k == down_[0]; }) &&
                     std::all_of(up_.begin(), up_.end(), [&](std::uint32_t k) { return k == down_[0]; });
    const std::string start = "fat-tree of " + std::to_string(levels()) + " levels, ";
    if (one) return start + std::to_string(down_[0]) + " downlinks per switch";
    return start + list(down_) + " downlinks and " + list(up_) + " uplinks per switch";
}

std::uint32_t FatTree::moved(std::uint32_t w, std::uint32_t level, std::uint32_t to_level, std::uint32_t digit,
                             std::uint32_t value) const {
    const std::uint32_t low = stride(level, digit), above = w / low / base(level, digit);
    return w % low + low * (value + base(to_level, digit) * above);
}

PortEnd FatTree::port(std::uint32_t switch_id, std::uint32_t port) const {
    const std::uint32_t level = this->level(switch_id), w = switch_id - first_[level];
    const auto own = [&](std::uint32_t digit) { return w / stride(level, digit) % base(level, digit); };
    if (port < down_[level]) {
        if (level == 0) return {LinkKind::terminal, 0, 0};
        return {LinkKind::local, first_[level - 1] + moved(w, level, level - 1, level - 1, port),
                down_[level - 1] + own(level - 1)};
    }
    if (port >= down_[level] + up_ports(level)) return {};
    return {LinkKind::local, first_[level + 1] + moved(w, level, level + 1, level, port - down_[level]), own(level)};
}

// A link between levels l and l + 1 replaces digit l, so a path goes as far down as the lowest digit that differs and
// above the highest one, whichever comes first. Digits between the two levels are replaced on every path.
Topology::Distance FatTree::distance(std::uint32_t from, std::uint32_t to) const {
    const int la = static_cast<int>(level(from)), lb = static_cast<int>(level(to));
    int low = std::min(la, lb), high = std::max(la, lb);
    std::uint32_t a = from - first_[la], b = to - first_[lb];
    for (int digit = 0; digit + 1 < static_cast<int>(levels()); ++digit) {
        const std::uint32_t base_a = base(la, digit), base_b = base(lb, digit);
        const bool same = a % base_a == b % base_b || (std::min(la, lb) <= digit && digit < std::max(la, lb));
        a /= base_a;
        b /= base_b;
        if (same) continue;
        low = std::min(low, digit);
        high = std::max(high, digit + 1);
    }
    const int down_first = (la - low) + (high - low) + (high - lb), up_first = (high - la) + (high - low) + (lb - low);
    return {std::min(down_first, up_first), 0};
}

}  // namespace tradewind::machine
