#include "pattern/fetch.hpp"

#include <algorithm>
#include <cstdio>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "pattern/fetch_adjoint.hpp"

namespace tradewind::pattern {

namespace {

std::string point_text(Rank rank, const layout::Owner& point) {
    return "rank " + std::to_string(rank) + " wants point " + std::to_string(point.index) + " of rank " +
           std::to_string(point.rank);
}

void check_owned(const FetchList& list, Rank rank, const std::vector<Index>& sources) {
    for (std::size_t i = 0; i < list.owner.size(); ++i)
        if (const Index owned = sources[static_cast<std::size_t>(list.owner[i])]; list.index[i] >= owned)
            throw InputError(point_text(rank, {list.owner[i], list.index[i]}) + ", which has " + std::to_string(owned) +
                             ": no rank owns it");
}

// Within one array a ghost point, which is filled from elsewhere, is no point that others can have.
void check_no_ghosts(const std::vector<FetchList>& lists) {
    std::vector<std::vector<bool>> ghosts;
    for (const FetchList& list : lists) {
        auto& places = ghosts.emplace_back(static_cast<std::size_t>(list.target), false);
        for (const Index place : list.place) places[static_cast<std::size_t>(place)] = true;
    }
    for (std::size_t rank = 0; rank < lists.size(); ++rank)
        for (std::size_t i = 0; i < lists[rank].owner.size(); ++i) {
            const layout::Owner point{lists[rank].owner[i], lists[rank].index[i]};
            if (ghosts[static_cast<std::size_t>(point.rank)][static_cast<std::size_t>(point.index)])
                throw InputError(point_text(static_cast<Rank>(rank), point) +
                                 ", which that rank takes from elsewhere itself: no rank owns it");
        }
}

}  // namespace

Index storage_of(std::span<const FetchPart> parts) {
    Index sum = 0;
    for (const FetchPart& part : parts) {
        add_checked(sum, part.source, "arrays of a fetch", "points");
        add_checked(sum, part.target, "arrays of a fetch", "points");
    }
    return checked_product({sum}, max_points, "arrays of a fetch", "points");
}

Fetch::Fetch(std::vector<Index> sources, const std::vector<FetchList>& lists, bool one_array) {
    auto made = std::make_shared<Lists>();
    made->ranks = static_cast<Rank>(sources.size());
    made->one_array = one_array;
    if (sources.empty() || lists.size() != sources.size())
        throw InputError("a fetch of " + std::to_string(sources.size()) + " ranks with " +
                         std::to_string(lists.size()) + " lists: one rank or more are allowed, and a list for each");
    made->parts.resize(sources.size());
    made->wanted.resize(sources.size());
    Index first = 0;
    for (std::size_t r = 0; r < sources.size(); ++r) {
        const Rank rank = static_cast<Rank>(r);
        if (sources[r] < 0)
            throw InputError("rank " + std::to_string(r) + " owns " + std::to_string(sources[r]) + " points");
        if (const std::string problem = problem_of(lists[r], rank, made->ranks); !problem.empty())
            throw InputError(problem);
        check_owned(lists[r], rank, sources);
        made->parts[r].first = first;
        made->parts[r].source = sources[r];
        made->parts[r].target = lists[r].target;
        add_checked(first, sources[r], "source arrays of a fetch", "points");
    }
    made->storage = storage_of(made->parts);
    if (one_array) check_no_ghosts(lists);
    std::vector<std::vector<FetchBundle>> bundles;
    for (std::size_t r = 0; r < sources.size(); ++r) {
        const FetchList& list = lists[r];
        bundles.push_back(bundles_of(list));
        std::vector<Named> each;
        for (std::size_t i = 0; i < list.owner.size(); ++i)
            each.push_back({list.place.empty() ? static_cast<Index>(i) : list.place[i],
                            made->parts[static_cast<std::size_t>(list.owner[i])].first + list.index[i], 1});
        std::sort(each.begin(), each.end(), [](const Named& a, const Named& b) { return a.place < b.place; });
        for (const Named& next : each) append(made->wanted[r], next);
    }
    connect(*made, std::move(bundles));
    lists_ = std::move(made);
}

Fetch::Fetch(const std::vector<Index>& sources, const std::vector<Index>& targets,
             std::vector<std::vector<FetchBundle>> bundles) {
    auto made = std::make_shared<Lists>();
    made->ranks = static_cast<Rank>(sources.size());
    made->parts.resize(sources.size());
    made->wanted.resize(sources.size());
    Index first = 0;
    for (std::size_t r = 0; r < sources.size(); ++r) {
        made->parts[r].first = first;
        made->parts[r].source = sources[r];
        made->parts[r].target = targets[r];
        add_checked(first, sources[r], "source arrays of a fetch", "points");
    }
    made->storage = storage_of(made->parts);
    for (std::size_t r = 0; r < sources.size(); ++r)
        for (const FetchBundle& bundle : bundles[r])
            for (const FetchRun& run : bundle.runs)
                made->wanted[r].push_back(
                    {run.target, made->parts[static_cast<std::size_t>(bundle.peer)].first + run.source, run.length});
    connect(*made, std::move(bundles));
    lists_ = std::move(made);
}

void Fetch::append(std::vector<Named>& wanted, const Named& next) {
    if (!wanted.empty()) {
        Named& last = wanted.back();
        if (last.place + last.length == next.place && last.point + last.length == next.point) {
            last.length += next.length;
            return;
        }
    }
    wanted.push_back(next);
}

void Fetch::connect(Lists& lists, std::vector<std::vector<FetchBundle>> bundles) {
    for (std::size_t r = 0; r < bundles.size(); ++r) {
        const Rank rank = static_cast<Rank>(r);
        for (const FetchBundle& bundle : bundles[r]) {
            FetchPart& owner = lists.parts[static_cast<std::size_t>(bundle.peer)];
            if (bundle.peer != rank) owner.sends.push_back({rank, bundle.points, bundle.runs});
            lists.points += bundle.points;
        }
        take_bundles(lists.parts[r], std::move(bundles[r]), rank, lists.ranks);
    }
    for (std::size_t r = 0; r < lists.parts.size(); ++r)
        sort_by_distance(lists.parts[r].sends, static_cast<Rank>(r), lists.ranks, true);
}

Fetch::Fetch(Rank ranks, Rank rank, FetchPart part, Index points, std::uint64_t mark, bool one_array) {
    auto made = std::make_shared<Lists>();
    made->ranks = ranks;
    made->only = rank;
    made->one_array = one_array;
    made->points = points;
    made->mark = mark;
    sort_by_distance(part.sends, rank, ranks, true);
    made->parts.push_back(std::move(part));
    made->storage = storage_of(made->parts);
    lists_ = std::move(made);
}

std::string Fetch::describe() const {
    std::string text = one_array() ? "unstructured halo of " : "fetch of ";
    text += std::to_string(points()) + (points() == 1 ? " point" : " points");
    if (depth() != 1) text += ", " + std::to_string(depth()) + " levels";
    return text;
}

// Who sends what follows from what is received.
std::uint64_t Fetch::hash_of(const Lists& lists) {
    std::uint64_t h = lists.one_array;
    const auto add = [&h](Index number) { h = mix(h, static_cast<std::uint64_t>(number)); };
    const auto add_runs = [&](Index peer, const Runs& runs) {
        add(peer);
        for (const FetchRun& run : runs) {
            add(run.source);
            add(run.target);
            add(run.length);
        }
    };
    for (const FetchPart& part : lists.parts) {
        add(part.source);
        add(part.target);
        add_runs(-1, part.kept);
        for (const FetchBundle& bundle : part.receives) add_runs(bundle.peer, bundle.runs);
    }
    return h;
}

std::string Fetch::signature() const {
    const Lists& lists = *lists_;
    if (!partial()) std::call_once(lists.marking, [&] { lists.mark = hash_of(lists); });
    char mark[17];
    std::snprintf(mark, sizeof mark, "%016llx", static_cast<unsigned long long>(lists.mark));
    std::string text = describe() + ", lists " + mark;
    if (levels_[1] != 1) text += ", levels " + std::to_string(levels_[0]) + " x " + std::to_string(levels_[1]);
    return text;
}

const FetchPart& Fetch::part(Rank rank) const {
    if (rank < 0 || rank >= ranks())
        throw InputError("rank " + std::to_string(rank) + ": 0.." + std::to_string(ranks() - 1) + " are allowed");
    if (!partial()) return lists_->parts[static_cast<std::size_t>(rank)];
    if (rank != lists_->only)
        throw InputError("this fetch describes rank " + std::to_string(lists_->only) + " alone, not rank " +
                         std::to_string(rank) +
                         ": one that is made of the lists of all ranks can be verified and "
                         "simulated");
    return lists_->parts[0];
}

std::vector<layout::Box> Fetch::expected(Rank rank) const {
    const FetchPart& own = part(rank);
    std::vector<layout::Box> boxes;
    if (!partial()) {
        for (const Named& n : lists_->wanted[static_cast<std::size_t>(rank)])
            boxes.push_back(along_x(n.place, n.length));
        return boxes;
    }
    for (const FetchRun& run : own.kept) boxes.push_back(target_of(run));
    for (const FetchBundle& bundle : own.receives)
        for (const FetchRun& run : bundle.runs) boxes.push_back(target_of(run));
    return boxes;
}

bool Fetch::same_points(Rank rank, const layout::Box& target, const layout::Box& points) const {
    for (const int axis : {layout::Y, layout::Z})
        if (target.begin[axis] != points.begin[axis] || target.end[axis] != points.end[axis]) return false;
    if (target.width(layout::X) != points.width(layout::X)) return false;
    const auto& wanted = lists_->wanted.at(static_cast<std::size_t>(rank));
    const Index ahead = points.begin[layout::X] - target.begin[layout::X];
    auto at = std::upper_bound(wanted.begin(), wanted.end(), target.begin[layout::X],
                               [](Index place, const Named& n) { return place < n.place; });
    if (at != wanted.begin()) --at;
    Index place = target.begin[layout::X];
    for (; place < target.end[layout::X] && at != wanted.end(); ++at) {
        if (place < at->place || place >= at->place + at->length || at->point - at->place != ahead) return false;
        place = at->place + at->length;
    }
    return place >= target.end[layout::X];
}

std::shared_ptr<const Fetch> Fetch::with_levels(std::array<Index, 2> levels) const {
    for (const Index n : levels)
        if (n < 0) throw InputError("a fetch of " + std::to_string(n) + " levels");
    checked_product({lists_->storage, levels[0], levels[1]}, max_points, "arrays of a fetch with levels", "points");
    return std::shared_ptr<const Fetch>(new Fetch(lists_, levels));
}

Parameters Fetch::parameters() const {
    return {{"points", points()}, {"levels", depth()}, {"adjoint", false}};
}

Parameters FetchAdjoint::parameters() const {
    return {{"points", fetch_->points()}, {"levels", fetch_->depth()}, {"adjoint", true}};
}

std::vector<layout::Box> FetchAdjoint::expected(Rank rank) const {
    const FetchPart& own = fetch_->part(rank);
    std::vector<bool> given(static_cast<std::size_t>(own.source), false);
    const auto give = [&](const Runs& runs) {
        for (const FetchRun& run : runs)
            for (Index i = 0; i < run.length; ++i) given[static_cast<std::size_t>(run.source + i)] = true;
    };
    give(own.kept);
    for (const FetchBundle& bundle : own.sends) give(bundle.runs);
    std::vector<layout::Box> boxes;
    for (Index i = 0; i < own.source; ++i)
        if (given[static_cast<std::size_t>(i)]) boxes.push_back(fetch_->source_of(rank, {i, 0, 1}));
    return boxes;
}

std::vector<FetchList> lists_of_ids(const std::vector<std::vector<Index>>& owned,
                                    const std::vector<std::vector<Index>>& wanted) {
    layout::Directory directory;
    for (std::size_t r = 0; r < owned.size(); ++r) directory.add(static_cast<Rank>(r), owned[r]);
    if (const std::string problem = directory.finish(); !problem.empty()) throw InputError(problem);
    std::vector<FetchList> lists;
    for (std::size_t r = 0; r < wanted.size(); ++r) {
        FetchList& list = lists.emplace_back();
        list.target = static_cast<Index>(wanted[r].size());
        const std::size_t count = wanted[r].size();
        list.owner.resize(count);
        list.index.resize(count);
        std::size_t unowned = count;
        directory.find_each(wanted[r], [&](std::size_t i, layout::OwnerWord owner) {
            list.owner[i] = owner.rank();
            list.index[i] = owner.index();
            if (owner.is_none()) unowned = std::min(unowned, i);
        });
        if (unowned < count)
            throw InputError("rank " + std::to_string(r) + " wants point " + std::to_string(wanted[r][unowned]) +
                             " (entry " + std::to_string(unowned) + " of its list), which no rank owns");
    }
    return lists;
}

}  // namespace tradewind::pattern
