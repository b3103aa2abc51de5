#include "mpi/packing/listed.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tradewind::mpi {

namespace {

constexpr std::size_t fewest = 4;      // copies that are worth a list
constexpr std::size_t max_kinds = 64;  // shapes among them: each copy is compared with all
constexpr Index longest = 4096;        // bytes of a copy

// Loops over levels go around the places, so that each level is gone through on its own; where levels lie next to each
// other in one of the memories, around a few places at a time, whose cache lines are there for all of them.
Index places_at_once(const StridedCopy& c) {
    constexpr Index near = 512, few = 256;  // bytes, places
    for (std::size_t a = 0; a < 3; ++a)
        if (c.count[a] > 1 && std::min(std::abs(c.from_stride[a]), std::abs(c.to_stride[a])) < near) return few;
    return c.places;
}

// `from_at(i)`, `to_at(i)`: bytes to place i.
template <typename Run, typename From, typename To>
void each_place(const StridedCopy& c, Run copy_run, From from_at, To to_at) {
    const Index tile = places_at_once(c);
    for (Index first = 0; first < c.places; first += tile) {
        const Index end = std::min(first + tile, c.places);
        for (Index k = 0; k < c.count[2]; ++k)
            for (Index j = 0; j < c.count[1]; ++j)
                for (Index i = 0; i < c.count[0]; ++i) {
                    const std::byte* from = c.from + k * c.from_stride[2] + j * c.from_stride[1] + i * c.from_stride[0];
                    std::byte* to = c.to + k * c.to_stride[2] + j * c.to_stride[1] + i * c.to_stride[0];
                    for (Index p = first; p < end; ++p) copy_run(to + to_at(p), from + from_at(p));
                }
    }
}

// The loop over the places is compiled for each kind of them.
template <typename Run>
void each_place(const StridedCopy& c, Run copy_run) {
    const auto listed = [](const Places& places) {
        return [steps = places.steps, step = places.step](Index i) { return steps[i] * step; };
    };
    const auto dense = [](const Places& places) { return [step = places.step](Index i) { return i * step; }; };
    if (c.from_places.steps && c.to_places.steps)
        each_place(c, copy_run, listed(c.from_places), listed(c.to_places));
    else if (c.from_places.steps)
        each_place(c, copy_run, listed(c.from_places), dense(c.to_places));
    else if (c.to_places.steps)
        each_place(c, copy_run, dense(c.from_places), listed(c.to_places));
    else
        each_place(c, copy_run, dense(c.from_places), dense(c.to_places));
}

template <std::size_t run>
void copy_fixed(const StridedCopy& c) {
    each_place(c, [](std::byte* to, const std::byte* from) { std::memcpy(to, from, run); });
}

void copy_any(const StridedCopy& c) {
    const auto bytes = static_cast<std::size_t>(c.run);
    each_place(c, [bytes](std::byte* to, const std::byte* from) { std::memcpy(to, from, bytes); });
}

struct Kind {
    StridedCopy first;
    std::vector<Index> from, to;  // bytes from the first
};

}  // namespace

void choose_listed(StridedCopy& c) {
    switch (c.run) {
        case 4: c.execute = copy_fixed<4>; return;
        case 8: c.execute = copy_fixed<8>; return;
        case 16: c.execute = copy_fixed<16>; return;
        case 24: c.execute = copy_fixed<24>; return;
        case 32: c.execute = copy_fixed<32>; return;
        case 64: c.execute = copy_fixed<64>; return;
        default: c.execute = copy_any; return;
    }
}

void repeat_at(StridedCopy& copy, Places from, Places to, Index places) {
    copy.from_places = from;
    copy.to_places = to;
    copy.places = places;
}

void list_alike(std::vector<StridedCopy>& copies, std::size_t first, PlaceLists& lists) {
    if (copies.size() - first < fewest) return;
    std::vector<Kind> kinds;
    std::vector<StridedCopy> kept;
    std::size_t last = 0;
    for (std::size_t i = first; i < copies.size(); ++i) {
        const StridedCopy& copy = copies[i];
        if (copy.bytes() > longest) {
            kept.push_back(copy);
            continue;
        }
        if (last == kinds.size() || !alike(kinds[last].first, copy)) {
            const auto at =
                std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return alike(k.first, copy); });
            last = static_cast<std::size_t>(at - kinds.begin());
            if (at == kinds.end()) kinds.push_back({copy, {}, {}});
            if (kinds.size() > max_kinds) return;
        }
        Kind& kind = kinds[last];
        kind.from.push_back(copy.from - kind.first.from);
        kind.to.push_back(copy.to - kind.first.to);
    }
    copies.resize(first);
    copies.insert(copies.end(), kept.begin(), kept.end());
    for (Kind& kind : kinds) {
        copies.push_back(kind.first);
        const auto places = static_cast<Index>(kind.from.size());
        if (places < 2) continue;
        const Index* from = lists.emplace_back(std::move(kind.from)).data();
        const Index* to = lists.emplace_back(std::move(kind.to)).data();
        repeat_at(copies.back(), {from, 1}, {to, 1}, places);
    }
}

}  // namespace tradewind::mpi
