#include "program/collectives.hpp"

#include <algorithm>
#include <bit>

namespace tradewind::program {

namespace {

using Stages = std::vector<CollectiveStage>;

// MPICH's limits between algorithms, in bytes.
constexpr std::int64_t long_broadcast = 12288, short_allgather = 81920, long_allgather = 524288, long_reduce = 2048,
                       short_alltoall = 256, medium_alltoall = 32768, long_reduce_scatter = 524288;
constexpr Rank few_ranks = 8;

struct Here {
    Rank rank, ranks, root;

    // Numbers from the root on, and back.
    Rank relative() const { return (rank - root + ranks) % ranks; }
    Rank actual(Rank relative) const { return (relative + root) % ranks; }
    Rank after(Rank by) const { return (rank + by) % ranks; }
    Rank before(Rank by) const { return (rank - by + ranks) % ranks; }
    bool is_power_of_two() const { return std::has_single_bit(static_cast<std::uint32_t>(ranks)); }
};

CollectiveStage swap(Rank to, std::int64_t bytes, Rank from) {
    return {{{to, bytes}}, {from}};
}

// The ranks below a rank of a binomial tree, itself included, whose lowest set bit is `bit`.
Rank below(Rank relative, Rank bit, Rank ranks) {
    return std::min(bit, ranks - relative);
}

// Dissemination: in stage s to the rank 2^s further.
Stages barrier(const Here& here) {
    Stages stages;
    for (Rank by = 1; by < here.ranks; by *= 2) stages.push_back(swap(here.after(by), 0, here.before(by)));
    return stages;
}

Rank lowest_bit(const Here& here) {
    Rank bit = 1;
    while (bit < here.ranks && (here.relative() & bit) == 0) bit *= 2;
    return bit;
}

// From the root down a binomial tree; `bytes` of the part of a number of ranks.
template <class Bytes>
Stages down(const Here& here, Bytes bytes) {
    Stages stages;
    const Rank relative = here.relative(), lowest = lowest_bit(here);
    if (relative != 0) stages.push_back({{}, {here.actual(relative - lowest)}});
    for (Rank bit = lowest / 2; bit > 0; bit /= 2)
        if (relative + bit < here.ranks)
            stages.push_back({{{here.actual(relative + bit), bytes(below(relative + bit, bit, here.ranks))}}, {}});
    return stages;
}

// The same tree from its leaves to the root.
template <class Bytes>
Stages up(const Here& here, Bytes bytes) {
    Stages stages;
    const Rank relative = here.relative(), lowest = lowest_bit(here);
    for (Rank bit = 1; bit < lowest; bit *= 2)
        if (relative + bit < here.ranks) stages.push_back({{}, {here.actual(relative + bit)}});
    if (relative != 0)
        stages.push_back({{{here.actual(relative - lowest), bytes(below(relative, lowest, here.ranks))}}, {}});
    return stages;
}

Stages ring(const Here& here, std::int64_t bytes) {
    return Stages(static_cast<std::size_t>(here.ranks - 1), swap(here.after(1), bytes, here.before(1)));
}

// Each stage doubles what a rank has; of ranks that are a power of two.
Stages doubling(const Here& here, std::int64_t bytes, bool grows) {
    Stages stages;
    for (Rank by = 1; by < here.ranks; by *= 2) {
        stages.push_back(swap(here.rank ^ by, bytes, here.rank ^ by));
        if (grows) bytes *= 2;
    }
    return stages;
}

Stages halving(const Here& here, std::int64_t bytes) {
    Stages stages;
    for (Rank by = here.ranks / 2; by > 0; by /= 2) stages.push_back(swap(here.rank ^ by, bytes /= 2, here.rank ^ by));
    return stages;
}

Stages joined(Stages first, const Stages& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

Stages broadcast(const Here& here, std::int64_t bytes) {
    if (bytes < long_broadcast || here.ranks < few_ranks) return down(here, [&](Rank) { return bytes; });
    const std::int64_t part = (bytes + here.ranks - 1) / here.ranks;
    Stages stages = down(here, [&](Rank ranks) { return ranks * part; });
    const Here numbered{here.rank, here.ranks, 0};
    return joined(std::move(stages), here.is_power_of_two() && bytes < long_allgather ? doubling(numbered, part, true)
                                                                                      : ring(numbered, part));
}

Stages reduce(const Here& here, std::int64_t bytes) {
    if (bytes <= long_reduce || !here.is_power_of_two()) return up(here, [&](Rank) { return bytes; });
    const std::int64_t part = (bytes + here.ranks - 1) / here.ranks;
    return joined(halving(here, bytes), up(here, [&](Rank ranks) { return ranks * part; }));
}

// Bruck, Ho, Kipnis, Upfal & Weathersby 1997: in stage s all that a rank has, or what is still missing.
Stages bruck_allgather(const Here& here, std::int64_t bytes) {
    Stages stages;
    for (Rank by = 1; by < here.ranks; by *= 2)
        stages.push_back(swap(here.before(by), bytes * std::min(by, here.ranks - by), here.after(by)));
    return stages;
}

Stages allgather(const Here& here, std::int64_t bytes) {
    const std::int64_t total = bytes * here.ranks;
    if (here.is_power_of_two() && total < long_allgather) return doubling(here, bytes, true);
    return total < short_allgather ? bruck_allgather(here, bytes) : ring(here, bytes);
}

Stages alltoall(const Here& here, std::int64_t total) {
    const std::int64_t bytes = (total + here.ranks - 1) / here.ranks;
    Stages stages;
    if (bytes <= short_alltoall && here.ranks >= few_ranks) {
        for (Rank by = 1; by < here.ranks; by *= 2) {
            const Rank blocks = here.ranks / (2 * by) * by + std::max(0, here.ranks % (2 * by) - by);
            stages.push_back(swap(here.after(by), bytes * blocks, here.before(by)));
        }
        return stages;
    }
    if (bytes <= medium_alltoall) {
        CollectiveStage all;
        for (Rank by = 1; by < here.ranks; ++by) {
            all.sends.push_back({here.after(by), bytes});
            all.receives.push_back(here.before(by));
        }
        return {all};
    }
    for (Rank by = 1; by < here.ranks; ++by) stages.push_back(swap(here.after(by), bytes, here.before(by)));
    return stages;
}

Stages reduce_scatter(const Here& here, std::int64_t bytes) {
    if (here.is_power_of_two() && bytes < long_reduce_scatter) return halving(here, bytes);
    Stages stages;
    for (Rank by = 1; by < here.ranks; ++by)
        stages.push_back(swap(here.after(by), (bytes + here.ranks - 1) / here.ranks, here.before(by)));
    return stages;
}

// Each stage brings the sum of twice as many ranks before it; those at the ends have fewer partners.
Stages scan(const Here& here, std::int64_t bytes) {
    Stages stages;
    for (Rank by = 1; by < here.ranks; by *= 2)
        if (const Rank partner = here.rank ^ by; partner < here.ranks) stages.push_back(swap(partner, bytes, partner));
    return stages;
}

Stages of_schedule(const schedule::Schedule& schedule, Rank rank, std::int64_t bytes_per_point) {
    Stages stages;
    for (int stage = 0; stage < schedule.stages(); ++stage) {
        CollectiveStage now;
        for (int j = 0; j < schedule.sends(rank, stage); ++j)
            if (const schedule::Message sent = schedule.send(rank, stage, j); sent.count > 0)
                now.sends.push_back({sent.peer, sent.count * bytes_per_point});
        for (int j = 0; j < schedule.receives(rank, stage); ++j)
            if (const schedule::Message received = schedule.receive(rank, stage, j); received.count > 0)
                now.receives.push_back(received.peer);
        if (!now.sends.empty() || !now.receives.empty()) stages.push_back(std::move(now));
    }
    return stages;
}

}  // namespace

Stages stages_of(Collective kind, Rank rank, Rank ranks, Rank root, std::int64_t bytes,
                 const AllReduceSchedule& allreduce) {
    if (ranks < 2) return {};
    const Here here{rank, ranks, root};
    switch (kind) {
        case Collective::barrier: return barrier(here);
        case Collective::broadcast: return broadcast(here, bytes);
        case Collective::reduce: return reduce(here, bytes);
        case Collective::allreduce: return of_schedule(*allreduce(ranks, bytes), rank, 1);
        case Collective::gather: return up(here, [&](Rank many) { return many * bytes; });
        case Collective::scatter: return down(here, [&](Rank many) { return many * bytes; });
        case Collective::allgather: return allgather(here, bytes);
        case Collective::alltoall: return alltoall(here, bytes);
        case Collective::reduce_scatter: return reduce_scatter(here, bytes);
        case Collective::scan: return scan(here, bytes);
    }
    return {};
}

}  // namespace tradewind::program
