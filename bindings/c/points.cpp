// The points of each rank, and the fetches that ranks make from them together.
#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "communicator.hpp"
#include "levels.hpp"
#include "mpi/allgather_lists.hpp"
#include "objects.hpp"
#include "pattern/fetch_adjoint.hpp"
#include "pattern/gather_scatter.hpp"

using namespace tradewind;
using namespace tradewind::c;

namespace {

using Ids = std::vector<Index>;
using PointsPtr = std::shared_ptr<const OwnPoints>;
using FetchPtr = std::shared_ptr<const pattern::Fetch>;

// A list of the caller, whose numbers count from `first`. What is negative stays so.
template <typename To, typename From>
std::vector<To> listed(const char* name, std::int64_t count, const From* values, Index first = 0) {
    if (count < 0) throw InputError(std::to_string(count) + " entries in " + name + ": 0 or more are allowed");
    if (count > 0) require(values, name);
    std::vector<To> list;
    list.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i)
        list.push_back(static_cast<To>(values[i] < 0 ? values[i] : values[i] - static_cast<From>(first)));
    return list;
}

// --- point sets ---

enum Counting { from_0 = 0, from_1 = 1 };

// `check` checks the arguments as far as a rank can alone; `make` makes the points of its result.
template <typename Check, typename Make>
void make_points(MPI_Comm comm, tw_points* points, Check check, Make make) {
    require_communicator(comm);
    const auto checked = raise_collectively(comm, [&] {
        require(points, "points");
        return check();
    });
    go_on(comm);
    points->id = c::points().add(PointsPtr(make(checked)));
}

void of_ids(MPI_Comm comm, std::int64_t count, const std::int64_t* ids, Counting first, tw_points* points) {
    make_points(
        comm, points, [&] { return listed<Index>("ids", count, ids); },
        [&](const Ids& own) { return new OwnPoints{mpi::Points(comm, own), first, 0}; });
}

void of_count(MPI_Comm comm, std::int64_t count, Counting first, tw_points* points) {
    make_points(
        comm, points, [&] { return count; },
        [&](Index own) { return new OwnPoints{mpi::Points(comm, own), first, 0}; });
}

void of_layout(MPI_Comm comm, tw_layout layout, Counting first, tw_points* points) {
    make_points(
        comm, points, [&] { return blocks_of(layout, "points"); },
        [&](const std::shared_ptr<const layout::Blocks>& blocks) {
            return new OwnPoints{mpi::Points(comm, *blocks), first, first};
        });
}

template <typename Make>
tw_status add_points(tw_points* points, Make make) {
    if (points) points->id = 0;
    return guarded(make);
}

// --- fetches ---

// The ranks with which a rank exchanges, where it knows them.
struct Peers {
    bool known = false;
    std::vector<Rank> ranks;  // ascending
};

Peers taken_peers(int peers, const int* peer) {
    if (peers == TW_ANY_PEERS) return {};
    if (peers < 0) throw InputError(std::to_string(peers) + " peers: 0 or more are allowed, or TW_ANY_PEERS");
    Peers taken{true, listed<Rank>("peer", peers, peer)};
    std::sort(taken.ranks.begin(), taken.ranks.end());
    taken.ranks.erase(std::unique(taken.ranks.begin(), taken.ranks.end()), taken.ranks.end());
    return taken;
}

// The lists of a rank, as the caller gave them.
struct Listed {
    std::int64_t owners;
    const int* owner;
    std::int64_t indices;
    const std::int64_t* index;
    std::int64_t places;
    const std::int64_t* place;
};

pattern::FetchList taken_list(const Listed& l, const OwnPoints& own, bool one_array) {
    if (l.owners != l.indices || (l.place && l.places != l.owners))
        throw InputError("rank " + std::to_string(own.points.rank()) + ": lists of " + std::to_string(l.owners) +
                         " owners, " + std::to_string(l.indices) + " indices" +
                         (l.place ? ", " + std::to_string(l.places) + " places" : "") +
                         ": as many of each are allowed");
    pattern::FetchList list;
    list.owner = listed<Rank>("owner", l.owners, l.owner);
    list.index = listed<Index>("index", l.indices, l.index, own.first);
    const Index behind = one_array ? own.points.count() : 0;
    if (l.place) {
        list.place = listed<Index>("place", l.places, l.place, own.first);
        const auto last = std::max_element(list.place.begin(), list.place.end());
        if (last != list.place.end() && *last >= max_points)
            throw InputError("place " + std::to_string(*last) + ": less than " + std::to_string(max_points) +
                             " is allowed");
        list.target = one_array ? behind : last == list.place.end() ? 0 : std::max<Index>(*last + 1, 0);
    } else {
        list.target = behind + static_cast<Index>(list.owner.size());
        if (one_array) {
            list.place.resize(list.owner.size());
            std::iota(list.place.begin(), list.place.end(), behind);
        }
    }
    return list;
}

// `check` checks the arguments as far as a rank can alone; `make` makes the fetch of its result and the peers.
template <typename Check, typename Make>
tw_status add_fetch(tw_points points, int peers, const int* peer, tw_pattern* pattern, Check check, Make make) {
    if (pattern) pattern->id = 0;
    return guarded([&] {
        require_mpi();
        const PointsPtr own = c::points().at(points.id);
        const MPI_Comm comm = own->points.communicator();
        const auto [checked, among] = raise_collectively(comm, [&] {
            require(pattern, "pattern");
            return std::pair(check(*own), taken_peers(peers, peer));
        });
        go_on(comm);
        pattern->id = patterns().add(make(own->points, checked, among));
    });
}

tw_status fetch_of_ids(tw_points points, std::int64_t wanted, const std::int64_t* ids, bool one_array, int peers,
                       const int* peer, tw_pattern* pattern) {
    return add_fetch(
        points, peers, peer, pattern,
        [&](const OwnPoints& own) { return listed<Index>("ids", wanted, ids, own.first_id); },
        [&](const mpi::Points& own, const Ids& list, const Peers& among) {
            return own.fetch_ids(list, one_array ? own.count() : 0, one_array, among.known, among.ranks);
        });
}

tw_status fetch_of_list(tw_points points, const Listed& given, bool one_array, int peers, const int* peer,
                        tw_pattern* pattern) {
    return add_fetch(
        points, peers, peer, pattern, [&](const OwnPoints& own) { return taken_list(given, own, one_array); },
        [&](const mpi::Points& own, const pattern::FetchList& list, const Peers& among) {
            return own.fetch(list, one_array, among.known, among.ranks);
        });
}

// `what`: that which only a fetch has.
FetchPtr fetch_at(tw_pattern pattern, const std::string& what) {
    const auto& found = patterns().at(pattern.id);
    auto fetch = std::dynamic_pointer_cast<const pattern::Fetch>(found);
    if (!fetch) throw InputError(what + " of the " + found->describe() + ": a fetch is allowed");
    return fetch;
}

// --- renumbered ---

struct Renumbered {
    Ids own, halo;
    Index interior;
};

// The places of a rank's points that others want, rank by rank, each where the first of them finds it.
std::vector<std::size_t> rim_of(const pattern::FetchPart& part, std::size_t points) {
    std::vector<const pattern::FetchBundle*> sends;
    for (const pattern::FetchBundle& bundle : part.sends) sends.push_back(&bundle);
    std::sort(sends.begin(), sends.end(), [](const auto* a, const auto* b) { return a->peer < b->peer; });
    std::vector<bool> taken(points, false);
    std::vector<std::size_t> rim;
    for (const pattern::FetchBundle* bundle : sends) {
        const auto begin = static_cast<std::ptrdiff_t>(rim.size());
        for (const pattern::FetchRun& run : bundle->runs)
            for (Index i = run.source; i < run.source + run.length; ++i) {
                const auto place = static_cast<std::size_t>(i);
                if (!taken[place]) rim.push_back(place);
                taken[place] = true;
            }
        std::sort(rim.begin() + begin, rim.end());
    }
    return rim;
}

Renumbered renumbered(MPI_Comm comm, const Ids& own, Ids halo) {
    Renumbered order;
    {
        const mpi::Points before(comm, own);
        const auto exchange = before.fetch_ids(halo, before.count(), true, false, {});
        const std::vector<std::size_t> rim = rim_of(exchange->part(before.rank()), own.size());
        std::vector<bool> inner(own.size(), true);
        for (const std::size_t place : rim) inner[place] = false;
        for (std::size_t i = 0; i < own.size(); ++i)
            if (inner[i]) order.own.push_back(own[i]);
        order.interior = static_cast<Index>(order.own.size());
        for (const std::size_t place : rim) order.own.push_back(own[place]);
    }
    std::sort(halo.begin(), halo.end());
    halo.erase(std::unique(halo.begin(), halo.end()), halo.end());
    const pattern::FetchList at = mpi::Points(comm, order.own).locate(halo);
    std::vector<std::size_t> places(halo.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
        return std::tuple(at.owner[a], at.index[a]) < std::tuple(at.owner[b], at.index[b]);
    });
    for (const std::size_t place : places) order.halo.push_back(halo[place]);
    return order;
}

void renumber(MPI_Comm comm, std::int64_t owns, const std::int64_t* own, std::int64_t halos, const std::int64_t* halo,
              std::int64_t* new_own, std::int64_t* interior, std::int64_t* new_halo, std::int64_t* new_halos) {
    require_communicator(comm);
    const auto lists = raise_collectively(comm, [&] {
        require(interior, "interior");
        require(new_halos, "new_halos");
        if (owns > 0) require(new_own, "new_own");
        if (halos > 0) require(new_halo, "new_halo");
        return std::pair(listed<Index>("own", owns, own), listed<Index>("halo", halos, halo));
    });
    go_on(comm);
    const Renumbered order = renumbered(comm, lists.first, lists.second);
    std::copy(order.own.begin(), order.own.end(), new_own);
    std::copy(order.halo.begin(), order.halo.end(), new_halo);
    *interior = order.interior;
    *new_halos = static_cast<std::int64_t>(order.halo.size());
}

}  // namespace

tw_status tw_points_of_ids(MPI_Comm comm, int64_t count, const int64_t* ids, tw_points* points) {
    return add_points(points, [&] { of_ids(comm, count, ids, from_0, points); });
}

tw_status tw_points_of_count(MPI_Comm comm, int64_t count, tw_points* points) {
    return add_points(points, [&] { of_count(comm, count, from_0, points); });
}

tw_status tw_points_of_layout(MPI_Comm comm, tw_layout layout, tw_points* points) {
    return add_points(points, [&] { of_layout(comm, layout, from_0, points); });
}

tw_status tw_points_of_ids_f(MPI_Fint comm, int64_t count, const int64_t* ids, tw_points* points) {
    return add_points(points, [&] {
        require_mpi();
        of_ids(MPI_Comm_f2c(comm), count, ids, from_1, points);
    });
}

tw_status tw_points_of_count_f(MPI_Fint comm, int64_t count, tw_points* points) {
    return add_points(points, [&] {
        require_mpi();
        of_count(MPI_Comm_f2c(comm), count, from_1, points);
    });
}

tw_status tw_points_of_layout_f(MPI_Fint comm, tw_layout layout, tw_points* points) {
    return add_points(points, [&] {
        require_mpi();
        of_layout(MPI_Comm_f2c(comm), layout, from_1, points);
    });
}

tw_status tw_points_count(tw_points points, int64_t* count) {
    return guarded([&] {
        const PointsPtr own = c::points().at(points.id);
        require(count, "count");
        *count = own->points.count();
    });
}

tw_status tw_points_locate(tw_points points, int64_t wanted, const int64_t* ids, int* owner, int64_t* index) {
    return guarded([&] {
        require_mpi();
        const PointsPtr own = c::points().at(points.id);
        const MPI_Comm comm = own->points.communicator();
        const Ids list = raise_collectively(comm, [&] {
            if (wanted > 0) require(owner, "owner");
            if (wanted > 0) require(index, "index");
            return listed<Index>("ids", wanted, ids, own->first_id);
        });
        go_on(comm);
        const pattern::FetchList found = own->points.locate(list);
        for (std::size_t i = 0; i < list.size(); ++i) {
            owner[i] = found.owner[i];
            index[i] = found.index[i] + own->first;
        }
    });
}

tw_status tw_points_fetch(tw_points points, int64_t wanted, const int64_t* ids, int peers, const int* peer,
                          tw_pattern* pattern) {
    return fetch_of_ids(points, wanted, ids, false, peers, peer, pattern);
}

tw_status tw_points_halo(tw_points points, int64_t wanted, const int64_t* ids, int peers, const int* peer,
                         tw_pattern* pattern) {
    return fetch_of_ids(points, wanted, ids, true, peers, peer, pattern);
}

tw_status tw_points_fetch_listed(tw_points points, int64_t owners, const int* owner, int64_t indices,
                                 const int64_t* index, int64_t places, const int64_t* place, int peers, const int* peer,
                                 tw_pattern* pattern) {
    return fetch_of_list(points, {owners, owner, indices, index, places, place}, false, peers, peer, pattern);
}

tw_status tw_points_halo_listed(tw_points points, int64_t owners, const int* owner, int64_t indices,
                                const int64_t* index, int64_t places, const int64_t* place, int peers, const int* peer,
                                tw_pattern* pattern) {
    return fetch_of_list(points, {owners, owner, indices, index, places, place}, true, peers, peer, pattern);
}

tw_status tw_points_known_to_all(tw_points points, tw_pattern fetch, tw_pattern* pattern) {
    if (pattern) pattern->id = 0;
    return guarded([&] {
        require_mpi();
        const PointsPtr own = c::points().at(points.id);
        const MPI_Comm comm = own->points.communicator();
        const FetchPtr part = raise_collectively(comm, [&] {
            require(pattern, "pattern");
            return fetch_at(fetch, "the lists");
        });
        pattern->id = patterns().add(mpi::allgather_lists(comm, *part));
    });
}

tw_status tw_points_free(tw_points points) {
    return guarded([&] { c::points().remove(points.id); });
}

tw_status tw_renumbered(MPI_Comm comm, int64_t owns, const int64_t* own, int64_t halos, const int64_t* halo,
                        int64_t* new_own, int64_t* interior, int64_t* new_halo, int64_t* new_halos) {
    return guarded([&] { renumber(comm, owns, own, halos, halo, new_own, interior, new_halo, new_halos); });
}

tw_status tw_renumbered_f(MPI_Fint comm, int64_t owns, const int64_t* own, int64_t halos, const int64_t* halo,
                          int64_t* new_own, int64_t* interior, int64_t* new_halo, int64_t* new_halos) {
    return guarded([&] {
        require_mpi();
        renumber(MPI_Comm_f2c(comm), owns, own, halos, halo, new_own, interior, new_halo, new_halos);
    });
}

tw_status tw_adjoint(tw_pattern of, tw_pattern* pattern) {
    return add_pattern(pattern, [&]() -> std::shared_ptr<const pattern::Pattern> {
        const auto& found = patterns().at(of.id);
        if (const auto sum = std::dynamic_pointer_cast<const pattern::GatherScatter>(found)) {
            if (sum->operation() == "add") return sum;
            throw InputError("the " + sum->operation() + " of values is not linear, and has no adjoint: add has one");
        }
        return std::make_shared<pattern::FetchAdjoint>(fetch_at(of, "an adjoint"));
    });
}

tw_status tw_fetch_levels(tw_pattern fetch, const int64_t levels[2], tw_pattern* pattern) {
    return add_pattern(pattern, [&] {
        require(levels, "levels");
        return patterns().at(fetch.id)->for_levels({levels[0], levels[1]});
    });
}
