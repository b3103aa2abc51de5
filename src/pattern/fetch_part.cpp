#include "pattern/fetch_part.hpp"

#include <algorithm>

namespace tradewind {

namespace {

std::string entry(Rank rank, std::size_t i) {
    return "rank " + std::to_string(rank) + ", entry " + std::to_string(i) + " of its list: ";
}

std::string place_problem(const FetchList& list, Rank rank) {
    std::vector<bool> taken(static_cast<std::size_t>(list.target), false);
    for (std::size_t i = 0; i < list.place.size(); ++i) {
        const Index place = list.place[i];
        if (place < 0 || place >= list.target)
            return entry(rank, i) + "place " + std::to_string(place) + " of the target array, which has " +
                   std::to_string(list.target);
        if (taken[static_cast<std::size_t>(place)])
            return entry(rank, i) + "place " + std::to_string(place) + " of the target array is taken twice";
        taken[static_cast<std::size_t>(place)] = true;
    }
    return "";
}

}  // namespace

std::string problem_of(const FetchList& list, Rank rank, Rank ranks) {
    const std::size_t n = list.owner.size();
    if (list.index.size() != n || (!list.place.empty() && list.place.size() != n))
        return "rank " + std::to_string(rank) + ": lists of " + std::to_string(n) + " owners, " +
               std::to_string(list.index.size()) + " indices" +
               (list.place.empty() ? "" : " and " + std::to_string(list.place.size()) + " places") +
               "; as many of each are allowed";
    for (std::size_t i = 0; i < n; ++i) {
        if (list.owner[i] < 0 || list.owner[i] >= ranks)
            return entry(rank, i) + "owner " + std::to_string(list.owner[i]) + "; ranks 0.." +
                   std::to_string(ranks - 1) + " are allowed";
        if (list.index[i] < 0)
            return entry(rank, i) + "index " + std::to_string(list.index[i]) + "; 0 and more are allowed";
    }
    if (n > 0 && list.place.empty() && static_cast<Index>(n) != list.target)
        return "rank " + std::to_string(rank) + ": a list of " + std::to_string(n) +
               " points without places, for a target array of " + std::to_string(list.target);
    return place_problem(list, rank);
}

FetchBundle& Bundler::of(Rank owner) {
    FetchBundle*& last = recent_[static_cast<std::size_t>(owner) % recent_.size()];
    if (!last || last->peer != owner) {
        const auto [at, is_new] = of_owner_.try_emplace(owner, bundles_.size());
        if (is_new) {
            bundles_.push_back({owner, 0, {}});
            recent_.fill(nullptr);  // the bundles may have moved
        }
        last = &bundles_[at->second];
    }
    return *last;
}

void Bundler::add(Rank owner, const FetchRun& next) {
    FetchBundle& bundle = of(owner);
    bundle.points += next.length;
    if (!bundle.runs.empty()) {
        FetchRun& run = bundle.runs.back();
        if (run.source + run.length == next.source && run.target + run.length == next.target) {
            run.length += next.length;
            return;
        }
    }
    bundle.runs.push_back(next);
}

std::vector<FetchBundle> bundles_of(const FetchList& list) {
    Bundler bundler;
    for (std::size_t i = 0; i < list.owner.size(); ++i)
        bundler.add(list.owner[i], {list.index[i], list.place.empty() ? static_cast<Index>(i) : list.place[i], 1});
    return bundler.take();
}

void in_turn(std::vector<FetchBundle>& bundles, Rank rank, Rank ranks, bool sending) {
    const auto distance = [=](const FetchBundle& bundle) {
        const std::int64_t further = sending ? bundle.peer - std::int64_t{rank} : rank - std::int64_t{bundle.peer};
        return further < 0 ? further + ranks : further;
    };
    std::sort(bundles.begin(), bundles.end(),
              [&](const FetchBundle& a, const FetchBundle& b) { return distance(a) < distance(b); });
}

void take_bundles(FetchPart& part, std::vector<FetchBundle> bundles, Rank rank, Rank ranks) {
    for (FetchBundle& bundle : bundles)
        if (bundle.peer == rank)
            part.kept = std::move(bundle.runs);
        else
            part.receives.push_back(std::move(bundle));
    in_turn(part.receives, rank, ranks, false);
}

}  // namespace tradewind
