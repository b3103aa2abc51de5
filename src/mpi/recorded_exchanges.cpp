#include "mpi/recorded_exchanges.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "base/error.hpp"
#include "schedule/transport.hpp"

namespace tradewind::mpi {

RecordedExchanges::RecordedExchanges(std::vector<RecordedRank> ranks) : ranks_(std::move(ranks)) {
    find_plans();
    merge_plans();
    find_groups();
}

void RecordedExchanges::find_plans() {
    std::map<std::pair<Words, std::int64_t>, std::size_t> known;
    plan_of_.resize(ranks_.size());
    for (std::size_t r = 0; r < ranks_.size(); ++r)
        for (std::size_t p = 0; p < ranks_[r].plans.size(); ++p) {
            const RecordedRank::Plan& plan = ranks_[r].plans[p];
            const auto [found, is_new] = known.try_emplace({plan.ranks, plan.number}, plans_.size());
            if (is_new) plans_.push_back({{}, ranks_in(plan.ranks), plan.kind, plan.times, {}});
            Plan& shared = plans_[found->second];
            if (plan.carried) shared.carried = *plan.carried;
            shared.uses.emplace_back(static_cast<Rank>(r), p);
            plan_of_[r].push_back(found->second);
        }
    for (const Plan& shared : plans_) check(shared);
}

void RecordedExchanges::check(const Plan& shared) const {
    const auto times = [&](Rank rank) {
        const auto at = std::lower_bound(shared.uses.begin(), shared.uses.end(), std::pair(rank, std::size_t{0}));
        return at == shared.uses.end() || at->first != rank ? 0 : of(rank).plans[at->second].times;
    };
    for (const Rank rank : shared.ranks)
        if (times(rank) != shared.times)
            throw InputError(
                "a plan, " +
                (shared.carried.pattern.empty() ? "not called on its first rank" : kind_text(shared.carried)) +
                ", is carried out " + std::to_string(shared.times) + " times on rank " +
                std::to_string(shared.uses[0].first) + " and " + std::to_string(times(rank)) + " times on rank " +
                std::to_string(rank) + ": all ranks of a plan carry it out as often in a recording");
    for (const auto& [rank, p] : shared.uses)
        if (of(rank).plans[p].kind != shared.kind)
            throw InputError("ranks " + std::to_string(shared.uses[0].first) + " and " + std::to_string(rank) +
                             " call different plans among the same ranks: all ranks of a plan call it");
}

// Plans of one kind and number of calls stand for each other where each is the n-th of its kind. That is its level: how
// many of them at most have been made one after another before it, on any rank; -1 where ranks made some in an order
// that has no first one. No rank has two plans of one kind and level.
std::vector<std::int64_t> RecordedExchanges::levels() const {
    std::vector<std::vector<std::size_t>> after(plans_.size());
    std::vector<std::size_t> before(plans_.size(), 0);
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
        std::vector<std::size_t> in_order(ranks_[r].plans.size());
        for (std::size_t p = 0; p < in_order.size(); ++p)
            in_order[static_cast<std::size_t>(ranks_[r].plans[p].created)] = plan_of_[r][p];
        std::map<std::int64_t, std::size_t> last;  // by kind
        for (const std::size_t p : in_order) {
            const auto [found, is_first] = last.try_emplace(plans_[p].kind, p);
            if (is_first) continue;
            after[found->second].push_back(p);
            ++before[p];
            found->second = p;
        }
    }
    std::vector<std::int64_t> levels(plans_.size(), -1), longest(plans_.size(), 0);
    std::vector<std::size_t> ready;
    for (std::size_t p = 0; p < plans_.size(); ++p)
        if (before[p] == 0) ready.push_back(p);
    for (std::size_t i = 0; i < ready.size(); ++i) {
        const std::size_t p = ready[i];
        levels[p] = longest[p];
        for (const std::size_t later : after[p]) {
            longest[later] = std::max(longest[later], levels[p] + 1);
            if (--before[later] == 0) ready.push_back(later);
        }
    }
    return levels;
}

// A number for each rank: equal where calls differ in the communicators of their plans and in pokes alone.
std::vector<std::int64_t> RecordedExchanges::manners(const std::vector<std::int64_t>& levels) const {
    std::map<std::vector<std::array<std::int64_t, 3>>, std::int64_t> known;
    std::vector<std::int64_t> manners;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
        std::vector<std::array<std::int64_t, 3>> calls;
        for (const auto& [call, plan] : ranks_[r].calls) {
            const std::size_t p = plan_of_[r][static_cast<std::size_t>(plan)];
            if (call != static_cast<std::int64_t>(Call::poke)) calls.push_back({call, plans_[p].kind, levels[p]});
        }
        manners.push_back(known.try_emplace(std::move(calls), static_cast<std::int64_t>(known.size())).first->second);
    }
    return manners;
}

// Rows of ranks, each with a plan of its own, have one exchange of the program, and so they are one group. Plans are
// merged that stand for each other on ranks of one manner. Those of ranks that have no manner in common, as components
// of a model, keep their patterns.
void RecordedExchanges::merge_plans() {
    const std::vector<std::int64_t> level = levels(), manner = manners(level);
    std::vector<std::size_t> merged_with(plans_.size());
    std::iota(merged_with.begin(), merged_with.end(), std::size_t{0});
    const auto first_of = [&](std::size_t p) {
        while (merged_with[p] != p) p = merged_with[p] = merged_with[merged_with[p]];
        return p;
    };
    std::map<std::array<std::int64_t, 4>, std::size_t> known;
    for (std::size_t p = 0; p < plans_.size(); ++p) {
        const Plan& plan = plans_[p];
        std::set<std::int64_t> own;
        for (const auto& [rank, at] : plan.uses) own.insert(manner[static_cast<std::size_t>(rank)]);
        const schedule::Family family = schedule::transport(plan.carried.transport).family;
        const bool all_meet = family == schedule::Family::fence || family == schedule::Family::collective;
        // Those of MPI's own collectives have no messages to list.
        if (level[p] < 0 || plan.carried.algorithm == "native" || (all_meet && own.size() > 1)) continue;
        for (const std::int64_t each : own) {
            const auto other = known.try_emplace({plan.kind, level[p], plan.times, each}, p).first->second;
            const std::size_t one = first_of(other), two = first_of(p);
            merged_with[std::max(one, two)] = std::min(one, two);
        }
    }
    exchange_of_.resize(plans_.size());
    for (std::size_t p = 0; p < plans_.size(); ++p) {
        const std::size_t first = first_of(p);
        exchange_of_[p] = first == p ? exchanges_.size() : exchange_of_[first];
        if (first == p) exchanges_.emplace_back();
        Exchange& exchange = exchanges_[exchange_of_[p]];
        exchange.plans.push_back(p);
        exchange.ranks.insert(exchange.ranks.end(), plans_[p].ranks.begin(), plans_[p].ranks.end());
    }
    for (Exchange& exchange : exchanges_) std::sort(exchange.ranks.begin(), exchange.ranks.end());
}

void RecordedExchanges::find_groups() {
    std::map<std::vector<std::array<std::int64_t, 2>>, std::size_t> known;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
        std::vector<std::array<std::int64_t, 2>> calls = ranks_[r].calls;
        for (auto& [call, plan] : calls)
            plan = call == static_cast<std::int64_t>(Call::poke)
                       ? 0
                       : static_cast<std::int64_t>(exchange_of(static_cast<Rank>(r), plan));
        const auto [found, is_new] = known.try_emplace(std::move(calls), groups_.size());
        if (is_new) groups_.emplace_back();
        groups_[found->second].push_back(static_cast<Rank>(r));
        group_of_.push_back(found->second);
    }
}

}  // namespace tradewind::mpi
