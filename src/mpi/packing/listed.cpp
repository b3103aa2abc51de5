#include "mpi/packing/listed.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tradewind {

namespace {

constexpr std::size_t fewest = 4;       // copies that are worth a list
constexpr std::size_t most_kinds = 64;  // shapes among them: each copy is compared with all
constexpr Index longest = 4096;         // bytes of a copy

// Loops over levels go around the hops, so that each level is gone through on its own; where levels lie next to each
// other in one of the memories, around a few hops at a time, whose cache lines are there for all of them.
Index hops_at_once(const StridedCopy& c) {
    constexpr Index near = 512, few = 256;  // bytes, hops
    for (std::size_t a = 0; a < 3; ++a)
        if (c.count[a] > 1 && std::min(std::abs(c.from_stride[a]), std::abs(c.to_stride[a])) < near) return few;
    return c.hop_count;
}

template <typename Run>
void each_hop(const StridedCopy& c, Run copy_run) {
    const Index tile = hops_at_once(c);
    for (Index first = 0; first < c.hop_count; first += tile) {
        const Hop *begin = c.hops + first, *end = c.hops + std::min(first + tile, c.hop_count);
        for (Index k = 0; k < c.count[2]; ++k)
            for (Index j = 0; j < c.count[1]; ++j)
                for (Index i = 0; i < c.count[0]; ++i) {
                    const std::byte* from = c.from + k * c.from_stride[2] + j * c.from_stride[1] + i * c.from_stride[0];
                    std::byte* to = c.to + k * c.to_stride[2] + j * c.to_stride[1] + i * c.to_stride[0];
                    for (const Hop* hop = begin; hop != end; ++hop) copy_run(to + hop->to, from + hop->from);
                }
    }
}

template <std::size_t run>
void copy_short(const StridedCopy& c) {
    each_hop(c, [](std::byte* to, const std::byte* from) { std::memcpy(to, from, run); });
}

void copy_any(const StridedCopy& c) {
    each_hop(c, [&c](std::byte* to, const std::byte* from) { std::memcpy(to, from, static_cast<std::size_t>(c.run)); });
}

void choose(StridedCopy& c) {
    switch (c.run) {
        case 4: c.execute = copy_short<4>; return;
        case 8: c.execute = copy_short<8>; return;
        case 16: c.execute = copy_short<16>; return;
        case 24: c.execute = copy_short<24>; return;
        case 32: c.execute = copy_short<32>; return;
        case 64: c.execute = copy_short<64>; return;
        default: c.execute = copy_any; return;
    }
}

bool alike(const StridedCopy& a, const StridedCopy& b) {
    return a.run == b.run && a.count == b.count && a.from_stride == b.from_stride && a.to_stride == b.to_stride;
}

struct Kind {
    StridedCopy first;
    std::vector<Hop> hops;
};

}  // namespace

void repeat_at(StridedCopy& copy, std::vector<Hop> hops, HopLists& lists) {
    if (hops.size() < 2) return;
    lists.push_back(std::move(hops));
    copy.hops = lists.back().data();
    copy.hop_count = static_cast<Index>(lists.back().size());
    choose(copy);
}

void list_alike(std::vector<StridedCopy>& copies, std::size_t first, HopLists& lists) {
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
            if (at == kinds.end()) kinds.push_back({copy, {}});
            if (kinds.size() > most_kinds) return;
        }
        Kind& kind = kinds[last];
        kind.hops.push_back({copy.from - kind.first.from, copy.to - kind.first.to});
    }
    copies.resize(first);
    copies.insert(copies.end(), kept.begin(), kept.end());
    for (Kind& kind : kinds) {
        copies.push_back(kind.first);
        repeat_at(copies.back(), std::move(kind.hops), lists);
    }
}

}  // namespace tradewind
