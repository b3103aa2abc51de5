#include "pattern/fetch_part.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/numbering.hpp"

namespace tradewind::pattern {

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

// The last run of each owner so far.
class LastRuns {
  public:
    FetchRun& of(Rank owner) {
        const std::size_t number = numbers_.of(owner);
        if (number == all_.size()) all_.push_back({owner, {}});
        return all_[number].run;
    }
    template <class Visit>
    void each(Visit visit) const {
        for (const Last& last : all_) visit(last.owner, last.run);
    }

  private:
    struct Last {
        Rank owner;
        FetchRun run;
    };
    Numbering numbers_;
    std::vector<Last> all_;
};

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

// Where runs go to and fro between a few owners, what is one owner's is picked out in a pass of its own: to add each
// run where its owner's last one went would wait for that to be written.
void Bundler::add(Index length, std::size_t runs, Placed lists) {
    constexpr std::size_t worth = 8;  // a pass picks at least one of this many
    for (bool few = true; runs > 0 && few;) {
        const Rank owner = lists.owners[0];
        Kind& kind = of(owner, length);
        if (static_cast<std::size_t>(kind.end - kind.next) <= runs) grow(kind, runs + 1);
        const std::size_t left = pick_out(owner, runs, lists, kind.next, kind.next + kind.room);
        kind.next += runs - left;
        few = (runs - left) * worth >= runs;
        runs = left;
    }
    for (std::size_t k = 0; k < runs; ++k) add(of(lists.owners[k], length), lists.sources[k], lists.targets[k]);
}

// Twice as much room, or what is left to come is expected to need, and an eighth more.
void Bundler::grow(Kind& kind, std::size_t more) const {
    constexpr std::size_t first = 8;
    const std::size_t count = kind.room > 0 ? kind.runs() : 0;
    std::size_t room = std::max({first, 2 * kind.room, count + more});
    if (reached_ > 0) {
        const double all = static_cast<double>(count) * static_cast<double>(points_) / static_cast<double>(reached_);
        room = std::max(room, static_cast<std::size_t>(1.125 * all));
    }
    Runs::Places moved(2 * room);
    std::copy_n(kind.places.data(), count, moved.data());
    std::copy_n(kind.places.data() + kind.room, count, moved.data() + room);
    kind.places = std::move(moved);
    kind.room = room;
    kind.next = kind.places.data() + count;
    kind.end = kind.places.data() + room;
}

Bundler::Kind& Bundler::make(Rank owner, Index length, std::size_t slot) {
    Kind& kind = kinds_.emplace_back();
    kind.owner = owner;
    kind.length = length;
    grow(kind, 1);
    slots_[slot] = &kind;
    if (2 * kinds_.size() > slots_.size()) {
        slots_.assign(2 * slots_.size(), nullptr);
        last_slot_ = slots_.size() - 1;
        for (Kind& known : kinds_) {
            std::size_t at = slot_of(known.owner, known.length);
            while (slots_[at]) at = (at + 1) & last_slot_;
            slots_[at] = &known;
        }
    }
    return kind;
}

std::vector<FetchBundle> Bundler::take() {
    std::vector<FetchBundle> bundles;
    std::unordered_map<Rank, std::size_t> of_owner;
    for (Kind& kind : kinds_) {
        const auto [at, is_new] = of_owner.try_emplace(kind.owner, bundles.size());
        if (is_new) bundles.push_back({kind.owner, 0, {}});
        FetchBundle& bundle = bundles[at->second];
        const std::size_t runs = kind.runs();
        bundle.points += kind.length * static_cast<Index>(runs);
        bundle.runs.append({kind.length, runs, kind.room, std::move(kind.places)});
    }
    return bundles;
}

std::vector<FetchBundle> bundles_of(const FetchList& list) {
    Bundler bundler(list.owner.size());
    LastRuns last;
    for (std::size_t i = 0; i < list.owner.size(); ++i) {
        const Rank owner = list.owner[i];
        const Index source = list.index[i], target = list.place.empty() ? static_cast<Index>(i) : list.place[i];
        FetchRun& run = last.of(owner);
        if (run.source + run.length == source && run.target + run.length == target && run.length > 0) {
            ++run.length;
            continue;
        }
        if (run.length > 0) bundler.add(owner, run);
        run = {source, target, 1};
    }
    last.each([&](Rank owner, const FetchRun& run) { bundler.add(owner, run); });
    return bundler.take();
}

void sort_by_distance(std::vector<FetchBundle>& bundles, Rank rank, Rank ranks, bool sending) {
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
    sort_by_distance(part.receives, rank, ranks, false);
}

}  // namespace tradewind::pattern
