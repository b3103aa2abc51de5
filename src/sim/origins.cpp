#include "sim/origins.hpp"

#include <algorithm>
#include <set>

#include "sim/event.hpp"

namespace tradewind::sim {

namespace {

// The ranks that send to those shown: at most `maximum`, those that send in early stages first.
std::vector<Rank> senders_to(const std::vector<Rank>& shown, const program::Program& program, std::size_t maximum) {
    std::set<Rank> senders;
    if (shown.empty()) return {};
    for (std::uint32_t stage = 0; stage < program.stages(); ++stage) {
        const auto at = program.at(stage);
        for (const Rank r : shown)
            for (int j = 0, n = at.receives(r); j < n; ++j) {
                if (senders.size() == maximum) return {senders.begin(), senders.end()};
                senders.insert(at.schedule->receive(r, at.stage, j).peer);
            }
    }
    return {senders.begin(), senders.end()};
}

}  // namespace

Origins::Origins(const program::Program& program, std::uint32_t blocks, const std::vector<Rank>& shown)
    : all_(static_cast<std::uint64_t>(program.ranks())), blocks_(blocks), first_(std::max(blocks, 1u)) {
    ranks_ = senders_to(shown, program, Delay::block_mask + 1 - first_);
    carried_ = blocks > 0 || !shown.empty();
}

std::uint32_t Origins::code_or_block(Rank rank) const {
    const auto found = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
    if (found == ranks_.end() || *found != rank) return block_of(rank);
    return first_ + static_cast<std::uint32_t>(found - ranks_.begin());
}

}  // namespace tradewind::sim
