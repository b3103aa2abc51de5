#include "program/line_sharing.hpp"

#include <algorithm>
#include <bit>

namespace tradewind::program {

LineSharing::LineSharing(const std::vector<std::vector<Operation>>& operations, const std::vector<Instance>& instances,
                         const std::vector<std::vector<std::size_t>>& among)
    : operations_(operations),
      instances_(instances),
      among_(among),
      next_(operations.size(), 0),
      seen_(operations.size(), 0),
      open_(operations.size(), 0),
      pending_(operations.size()),
      line_(instances.size(), no_line),
      come_(instances.size(), 0) {}

std::uint32_t LineSharing::share(const std::function<void(std::uint32_t, std::uint32_t)>& place_at) {
    std::uint32_t lines = 0;
    std::size_t placed = 0;
    for (const bool passes : {false, true}) {
        passes_starts_ = passes;
        for (std::size_t g = 0; g < operations_.size(); ++g) advance(g);
        for (; placed < ready_.size(); ++placed) {
            const std::uint32_t line = line_for(ready_[placed]);
            lines = std::max(lines, line + 1);
            place_at(ready_[placed], line);
            place(ready_[placed], line);
        }
    }
    return lines;
}

// On to the next start or wait of an exchange that has no line.
void LineSharing::advance(std::size_t g) {
    std::size_t& next = next_[g];
    for (; next < operations_[g].size(); ++next) {
        const Operation& operation = operations_[g][next];
        if (operation.kind != Operation::start && operation.kind != Operation::wait) continue;
        const std::uint32_t instance = operation.instance;
        if (groups_of(instance).size() < 2) continue;
        const bool has_line = line_[instance] != no_line;
        if (operation.kind == Operation::wait) {
            if (!has_line) return;
            open_[g] &= ~(Lines{1} << line_[instance]);
            continue;
        }
        if (next >= seen_[g]) {
            seen_[g] = next + 1;
            pending_[g].push_back({instance, open_[g]});
            if (++come_[instance] == groups_of(instance).size()) ready_.push_back(instance);
        }
        if (!has_line && !passes_starts_) return;
    }
}

std::uint32_t LineSharing::line_for(std::uint32_t instance) const {
    Lines avoid = 0;
    for (const std::size_t g : groups_of(instance))
        for (const Pending& pending : pending_[g])
            if (pending.instance == instance) avoid |= pending.avoid;
    // More lines than a program may have: which of them it is does not matter.
    constexpr std::uint32_t last = 63;
    static_assert(last >= Order::max_lines);
    return std::min<std::uint32_t>(last, static_cast<std::uint32_t>(std::countr_one(avoid)));
}

void LineSharing::place(std::uint32_t instance, std::uint32_t line) {
    line_[instance] = line;
    const Lines bit = Lines{1} << line;
    for (const std::size_t g : groups_of(instance)) {
        auto& pending = pending_[g];
        std::erase_if(pending, [&](const Pending& each) { return each.instance == instance; });
        for (Pending& each : pending) each.avoid |= bit;
        open_[g] |= bit;
    }
    for (const std::size_t g : groups_of(instance)) advance(g);
}

std::optional<LineSharing::Stuck> LineSharing::stuck() const {
    for (std::size_t g = 0; g < operations_.size(); ++g) {
        if (next_[g] == operations_[g].size()) continue;
        const std::uint32_t instance = operations_[g][next_[g]].instance;
        for (const std::size_t other : groups_of(instance)) {
            const auto& before = pending_[other];
            if (std::any_of(before.begin(), before.end(), [&](auto& each) { return each.instance == instance; }))
                continue;
            return Stuck{g, other, instance, operations_[other][next_[other]].instance};
        }
    }
    return std::nullopt;
}

}  // namespace tradewind::program
