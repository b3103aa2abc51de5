#include "pattern/gather_scatter.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <unordered_map>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/random.hpp"

namespace tradewind::pattern {

GatherScatter::GatherScatter(std::string operation) : operation_(std::move(operation)) {
    copy_loops("f8", operation_);  // which may refuse
}

std::string GatherScatter::describe() const {
    std::string text = "gather-scatter (" + operation_ + ") of " + std::to_string(shared()) +
                       (shared() == 1 ? " shared value" : " shared values");
    if (depth() != 1) text += ", " + std::to_string(depth()) + " levels";
    return text;
}

std::string GatherScatter::signature() const {
    return describe() + ", " + identity() + ", levels " + std::to_string(levels_[0]) + " x " +
           std::to_string(levels_[1]);
}

Parameters GatherScatter::parameters() const {
    return {{"shared", shared()}, {"levels", depth()}};
}

std::shared_ptr<const GatherScatter> GatherScatter::with_levels(std::array<Index, 2> levels) const {
    for (const Index n : levels)
        if (n < 0) throw InputError("a gather-scatter of " + std::to_string(n) + " levels");
    checked_product({points(), levels[0], levels[1]}, max_points, "arrays of a gather-scatter with levels", "points");
    auto made = copy();
    made->levels_ = levels;
    return made;
}

OwnIds::OwnIds(std::span<const Index> values) {
    std::vector<std::pair<Index, Index>> sorted;  // (id, place)
    sorted.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] > 0) sorted.emplace_back(values[i], static_cast<Index>(i));
    std::sort(sorted.begin(), sorted.end());
    places.reserve(sorted.size());
    for (const auto& [id, place] : sorted) {
        if (ids.empty() || ids.back() != id) {
            ids.push_back(id);
            begins.push_back(places.size());
        }
        places.push_back(place);
    }
    begins.push_back(places.size());
}

namespace {

// Lists of some of the groups, in another order.
struct Groups {
    std::vector<std::size_t> begins{0};
    std::vector<Index> places;
    void add(const OwnIds& own, std::size_t i) {
        places.insert(places.end(), own.places.begin() + static_cast<std::ptrdiff_t>(own.begins[i]),
                      own.places.begin() + static_cast<std::ptrdiff_t>(own.begins[i + 1]));
        begins.push_back(places.size());
    }
    Copies copies(bool sweeps) const { return {begins, places, sweeps}; }
};

}  // namespace

OwnCopies OwnIds::split(const std::vector<std::pair<Index, Index>>& cells, bool sweeps) const {
    std::vector<std::size_t> group_of_cell(cells.size());
    std::vector<std::pair<Index, std::size_t>> inner;  // (first place, group), in the order of the array
    auto next = cells.begin();
    for (std::size_t i = 0; i < ids.size(); ++i) {
        while (next != cells.end() && next->first < ids[i]) ++next;
        if (next != cells.end() && next->first == ids[i])
            group_of_cell[static_cast<std::size_t>(next->second)] = i;
        else if (begins[i + 1] - begins[i] > 1)
            inner.emplace_back(places[begins[i]], i);
    }
    std::sort(inner.begin(), inner.end());
    Groups alone, shared;
    for (const auto& [place, i] : inner) alone.add(*this, i);
    for (const std::size_t i : group_of_cell) shared.add(*this, i);
    return {alone.copies(sweeps), shared.copies(sweeps)};
}

namespace {

// Cells that the same ranks share.
using Classes = std::map<std::vector<Rank>, std::vector<std::size_t>>;  // by ranks: entries of SharedIds, ascending

Classes classes_of(const SharedIds& with) {
    Classes classes;
    for (std::size_t i = 0; i < with.ids.size(); ++i)
        classes[{with.ranks.begin() + static_cast<std::ptrdiff_t>(with.begins[i]),
                 with.ranks.begin() + static_cast<std::ptrdiff_t>(with.begins[i + 1])}]
            .push_back(i);
    return classes;
}

// Cells received from each other rank, which lie one rank after another, and the first of them.
std::map<Rank, Index> targets_of(const Classes& classes, Rank rank, Index& received) {
    std::map<Rank, Index> counts;
    for (const auto& [ranks, entries] : classes)
        for (const Rank peer : ranks)
            if (peer != rank) counts[peer] += static_cast<Index>(entries.size());
    received = 0;
    for (auto& [peer, count] : counts) count = std::exchange(received, received + count);
    return counts;
}

std::vector<Fold> folds_of(const Classes& classes, Rank rank, std::map<Rank, Index> next) {
    std::vector<Fold> folds;
    Index cell = 0;
    for (const auto& [ranks, entries] : classes) {
        Fold& fold = folds.emplace_back(Fold{cell, static_cast<Index>(entries.size()), {}, 0});
        cell += fold.length;
        for (const Rank peer : ranks) {
            if (peer == rank) {
                fold.own = fold.parts.size();
                continue;
            }
            fold.parts.push_back(next[peer]);
            next[peer] += fold.length;
        }
    }
    return folds;
}

std::vector<std::pair<Index, Index>> sorted_cells(const std::vector<Index>& ids) {
    std::vector<std::pair<Index, Index>> cells;
    for (const Index id : ids) cells.emplace_back(id, static_cast<Index>(cells.size()));
    std::sort(cells.begin(), cells.end());
    return cells;
}

// The bundles that a rank sends, or receives where `source` has their first cells: a run for each class, so
// that both ends of a message have the same ones.
template <class Source>
std::vector<FetchBundle> bundles_of(const Classes& classes, Rank rank, std::map<Rank, Index> next, Source source) {
    Bundler bundler(0);
    Index cell = 0;
    for (const auto& [ranks, entries] : classes) {
        const auto length = static_cast<Index>(entries.size());
        for (const Rank peer : ranks)
            if (peer != rank) {
                bundler.add(peer, {source(peer, ranks, cell), next[peer], length});
                next[peer] += length;
            }
        cell += length;
    }
    return bundler.take();
}

}  // namespace

const ListedGatherScatter::Part& ListedGatherScatter::part(Rank rank) const {
    if (rank < 0 || rank >= ranks())
        throw InputError("rank " + std::to_string(rank) + ": 0.." + std::to_string(ranks() - 1) + " are allowed");
    if (!partial()) return lists_->parts[static_cast<std::size_t>(rank)];
    if (rank != lists_->only)
        throw InputError("this gather-scatter describes rank " + std::to_string(lists_->only) + " alone, not rank " +
                         std::to_string(rank) +
                         ": one that is made of the ids of all ranks can be verified and simulated");
    return lists_->parts[0];
}

std::string ListedGatherScatter::identity() const {
    char mark[17];
    std::snprintf(mark, sizeof mark, "%016llx", static_cast<unsigned long long>(lists_->mark));
    return std::string("ids ") + mark;
}

ListedGatherScatter::ListedGatherScatter(Rank ranks, Rank rank, std::span<const Index> ids, SharedIds with,
                                         Index shared, std::uint64_t mark, const std::string& operation)
    : GatherScatter(operation) {
    auto made = std::make_shared<Lists>();
    made->ranks = ranks;
    made->only = rank;
    made->shared = shared;
    made->mark = mark;
    made->points = static_cast<Index>(ids.size());
    const Classes classes = classes_of(with);
    FetchPart exchange;
    const std::map<Rank, Index> targets = targets_of(classes, rank, exchange.target);
    Part& part = made->parts.emplace_back();
    part.values = made->points;
    for (const auto& [sharers, entries] : classes)
        for (const std::size_t entry : entries) {
            part.ids.push_back(with.ids[entry]);
            part.numbers.push_back(with.numbers[entry]);
        }
    part.copies = OwnIds(ids).split(sorted_cells(part.ids));
    part.folds = folds_of(classes, rank, targets);
    exchange.source = static_cast<Index>(part.ids.size());
    const auto own_cell = [](Rank, const std::vector<Rank>&, Index cell) { return cell; };
    exchange.sends = bundles_of(classes, rank, {}, own_cell);
    // Where cells lie in the arrays of other ranks is not known, and not asked.
    const auto unknown = [](Rank, const std::vector<Rank>&, Index) { return Index{0}; };
    take_bundles(exchange, bundles_of(classes, rank, targets, unknown), rank, ranks);
    made->exchange = std::make_shared<Fetch>(ranks, rank, std::move(exchange), 0, mark);
    lists_ = std::move(made);
}

namespace {

// The ids that each rank shares with others.
std::vector<SharedIds> shared_among(const std::vector<OwnIds>& own, Index& shared) {
    std::vector<std::pair<Index, Rank>> all;
    for (std::size_t r = 0; r < own.size(); ++r)
        for (const Index id : own[r].ids) all.emplace_back(id, static_cast<Rank>(r));
    std::sort(all.begin(), all.end());
    std::vector<SharedIds> with(own.size());
    shared = 0;
    for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
        for (end = begin; end < all.size() && all[end].first == all[begin].first;) ++end;
        if (end - begin < 2) continue;
        for (std::size_t i = begin; i < end; ++i) {
            SharedIds& of = with[static_cast<std::size_t>(all[i].second)];
            of.ids.push_back(all[i].first);
            of.numbers.push_back(shared);
            for (std::size_t k = begin; k < end; ++k) of.ranks.push_back(all[k].second);
            of.begins.push_back(of.ranks.size());
        }
        ++shared;
    }
    return with;
}

}  // namespace

ListedGatherScatter::ListedGatherScatter(const std::vector<std::vector<Index>>& ids, const std::string& operation)
    : GatherScatter(operation), lists_(lists_of(ids)) {}

ListedGatherScatter::ListedGatherScatter(const ListedGatherScatter& own, const std::vector<std::vector<Index>>& shared)
    : GatherScatter(own) {
    const auto made = lists_of(shared);
    made->mark = own.lists_->mark;
    Part& part = made->parts.at(static_cast<std::size_t>(own.only()));
    if (part.ids != own.part(own.only()).ids)
        throw InputError("rank " + std::to_string(own.only()) + " shares other ids than by the lists of all ranks");
    part = own.part(own.only());
    lists_ = made;
}

std::shared_ptr<ListedGatherScatter::Lists> ListedGatherScatter::lists_of(const std::vector<std::vector<Index>>& ids) {
    if (ids.empty()) throw InputError("a gather-scatter among 0 ranks: the ids of one rank or more are allowed");
    auto made = std::make_shared<Lists>();
    made->ranks = static_cast<Rank>(ids.size());
    std::vector<OwnIds> own;
    for (const auto& each : ids) {
        own.emplace_back(each);
        add_checked(made->points, static_cast<Index>(each.size()), "arrays of a gather-scatter", "values");
        made->mark = mix(made->mark, each.size());
        for (const Index id : each) made->mark = mix(made->mark, static_cast<std::uint64_t>(std::max<Index>(id, 0)));
    }
    const std::vector<SharedIds> with = shared_among(own, made->shared);
    std::vector<Classes> classes;
    std::vector<std::map<std::vector<Rank>, Index>> begins(ids.size());  // of the cells of a class
    for (std::size_t r = 0; r < ids.size(); ++r) {
        classes.push_back(classes_of(with[r]));
        Index cell = 0;
        for (const auto& [ranks, entries] : classes[r]) {
            begins[r].emplace(ranks, cell);
            cell += static_cast<Index>(entries.size());
        }
    }
    std::vector<Index> sources, targets(ids.size());
    std::vector<std::vector<FetchBundle>> bundles;
    for (std::size_t r = 0; r < ids.size(); ++r) {
        const auto rank = static_cast<Rank>(r);
        Part& part = made->parts.emplace_back();
        part.values = static_cast<Index>(ids[r].size());
        for (const auto& [sharers, entries] : classes[r])
            for (const std::size_t entry : entries) {
                part.ids.push_back(with[r].ids[entry]);
                part.numbers.push_back(with[r].numbers[entry]);
            }
        part.copies = own[r].split(sorted_cells(part.ids));
        const std::map<Rank, Index> places = targets_of(classes[r], rank, targets[r]);
        part.folds = folds_of(classes[r], rank, places);
        sources.push_back(static_cast<Index>(part.ids.size()));
        const auto cell_of_peer = [&](Rank peer, const std::vector<Rank>& ranks, Index) {
            return begins[static_cast<std::size_t>(peer)].at(ranks);
        };
        bundles.push_back(bundles_of(classes[r], rank, places, cell_of_peer));
    }
    made->exchange = std::make_shared<Fetch>(sources, targets, std::move(bundles));
    return made;
}

}  // namespace tradewind::pattern
