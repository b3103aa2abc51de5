#include "algorithm/registry.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "algorithm/allreduce_binomial.hpp"
#include "algorithm/allreduce_halving.hpp"
#include "algorithm/allreduce_recursive.hpp"
#include "algorithm/allreduce_ring.hpp"
#include "algorithm/alltoall_bruck.hpp"
#include "algorithm/alltoall_meeting.hpp"
#include "algorithm/alltoall_pairwise.hpp"
#include "algorithm/alltoall_ring.hpp"
#include "algorithm/alltoall_two_level.hpp"
#include "algorithm/fetch_direct.hpp"
#include "algorithm/fetch_two_level.hpp"
#include "algorithm/gather_scatter_cartesian.hpp"
#include "algorithm/gather_scatter_crystal.hpp"
#include "algorithm/gather_scatter_pairwise.hpp"
#include "algorithm/gather_scatter_reduced.hpp"
#include "algorithm/gather_scatter_two_level.hpp"
#include "algorithm/halo_direct.hpp"
#include "algorithm/halo_sweep.hpp"
#include "algorithm/halo_two_level.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "schedule/mirror.hpp"

namespace tradewind::algorithm {

namespace {

using PatternPtr = std::shared_ptr<const pattern::Pattern>;
using SchedulePtr = std::shared_ptr<const schedule::Schedule>;

template <class Wanted>
std::shared_ptr<const Wanted> as(const PatternPtr& pattern) {
    auto wanted = std::dynamic_pointer_cast<const Wanted>(pattern);
    if (!wanted) throw InputError("a pattern named " + pattern->name() + " is not the one that its algorithms know");
    return wanted;
}

using RedistributionPtr = std::shared_ptr<const pattern::Redistribution>;

// Where a transposition is between layouts of any closed form; else it is between blocks.
RedistributionPtr redistribution(const PatternPtr& pattern) {
    return std::dynamic_pointer_cast<const pattern::Redistribution>(pattern);
}

std::shared_ptr<const pattern::BrickGatherScatter> as_brick(const PatternPtr& pattern) {
    auto brick = std::dynamic_pointer_cast<const pattern::BrickGatherScatter>(pattern);
    if (!brick)
        throw InputError("cartesian: the ids of a brick of elements are allowed, and the " + pattern->describe() +
                         " has any ids; use pairwise");
    return brick;
}

SchedulePtr reduced(const PatternPtr& pattern, const std::string& algorithm) {
    return gather_scatter_reduced(as<pattern::GatherScatter>(pattern), algorithm);
}

std::array<Index, 2> no_radices(const pattern::Pattern&) {
    return {0, 0};
}

std::array<Index, 2> ring_radices(const pattern::Pattern& pattern) {
    if (pattern.name() != "transpose")
        throw InputError("ring-k is an algorithm of transpose, not of " + pattern.name());
    return {1, pattern.rounds()};
}

std::array<Index, 2> ranks_per_node(const pattern::Pattern& pattern) {
    return {1, pattern.ranks()};
}

// One rank has nothing to do, whatever the radix.
std::array<Index, 2> recursive_radices(const pattern::Pattern& pattern) {
    return {2, pattern.ranks() == 1 ? std::numeric_limits<std::int32_t>::max() : std::max<Index>(2, pattern.ranks())};
}

constexpr const char* zheng = "Zheng & Marguinaud 2018, doi:10.5194/gmd-11-3409-2018";
constexpr const char* thakur = "Thakur, Rabenseifner & Gropp 2005, doi:10.1177/1094342005051521";
constexpr const char* bruck = "Bruck et al. 1997, doi:10.1109/71.642949";
constexpr const char* rabenseifner = "Rabenseifner 2004, doi:10.1007/978-3-540-24685-5_1";
constexpr const char* traeff = "Träff & Rougier 2014, doi:10.1145/2642769.2642770";
constexpr const char* bienz = "Bienz, Gropp & Olson 2019, arXiv:1612.08060 (sparse matrices)";
constexpr const char* fox = "Fox et al. 1988, Solving Problems on Concurrent Processors I (crystal router)";
constexpr const char* gslib = "Tufo & Fischer 1999, Terascale spectral element algorithms (SC99); gslib";
constexpr const char* ivanov = "Ivanov et al. 2015, EASC (Nekbone's new communication kernel)";
constexpr const char* patarasuk = "Patarasuk & Yuan 2009, doi:10.1016/j.jpdc.2008.09.002";

// A row of the table: constants, which take no code.
struct Row {
    const char *pattern, *name;
    bool has_radix;
    const char *description, *source;
    SchedulePtr (*make)(PatternPtr, Index radix);
    std::array<Index, 2> (*radices)(const pattern::Pattern&);
    bool is_default = false, store_and_forward = false;
};

constexpr Row table[] = {
    {"transpose", "ring-k", true, "k ranks further on in each of ceil((n-1)/k) stages", zheng,
     [](PatternPtr p, Index k) {
         const auto any = redistribution(p);
         return any ? meeting_ring(any, k) : alltoall_ring(as<pattern::Transpose>(p), k);
     },
     ring_radices, true},
    {"transpose", "burst", false, "everything at once, in 1 stage", zheng,
     [](PatternPtr p, Index) {
         const auto any = redistribution(p);
         return any ? meeting_burst(any) : alltoall_burst(as<pattern::Transpose>(p));
     },
     no_radices},
    {"transpose", "pairwise", false, "one partner in each of n-1 stages (n, where n is not a power of 2)", thakur,
     [](PatternPtr p, Index) {
         const auto any = redistribution(p);
         return any ? meeting_pairwise(any) : alltoall_pairwise(as<pattern::Transpose>(p));
     },
     no_radices},
    {"transpose", "bruck", false, "blocks passed on from rank to rank, in ceil(log2 n) stages", bruck,
     [](PatternPtr p, Index) {
         const auto any = redistribution(p);
         return any ? closed_bruck(any) : alltoall_bruck(as<pattern::Transpose>(p));
     },
     no_radices},
    {"transpose", "two-level-k", true,
     "k ranks per node gather, nodes exchange, ranks scatter, in ceil((G-1)/k) + 2 stages for G nodes", traeff,
     [](PatternPtr p, Index k) {
         const auto any = redistribution(p);
         return any ? redistribution_two_level(any, k) : alltoall_two_level(as<pattern::Transpose>(p), k);
     },
     ranks_per_node},
    {"halo", "sweep", false, "along x, then along y with the x halo attached, in 2 stages", zheng,
     [](PatternPtr p, Index) { return halo_sweep(as<pattern::Halo>(p)); }, no_radices, true},
    {"halo", "direct", false, "all neighbours at once, corners too, in 1 stage",
     "Ding & He 2001, doi:10.1145/582034.582084 (against sweeps)",
     [](PatternPtr p, Index) { return halo_direct(as<pattern::Halo>(p)); }, no_radices},
    {"halo", "two-level-k", true,
     "k ranks per node gather, nodes exchange, ranks scatter, in 3 stages; the ranks share out the nodes around", bienz,
     [](PatternPtr p, Index k) { return halo_two_level(as<pattern::Halo>(p), k, Carriers::all); }, ranks_per_node},
    {"halo", "leaders-k", true, "the same in 3 stages, but the first rank of a node carries all between nodes", bienz,
     [](PatternPtr p, Index k) { return halo_two_level(as<pattern::Halo>(p), k, Carriers::leaders); }, ranks_per_node},
    {"fetch", "direct", false, "every rank straight from each owner of what it wants, in 1 stage",
     "Zhang et al. 2022, doi:10.1109/TPDS.2021.3084070 (star forests)",
     [](PatternPtr p, Index) { return fetch_direct(as<pattern::Fetch>(p)); }, no_radices, true},
    {"fetch", "two-level-k", true,
     "k ranks per node gather, nodes exchange, ranks scatter, in 3 stages; the ranks share out the nodes around", bienz,
     [](PatternPtr p, Index k) { return fetch_two_level(as<pattern::Fetch>(p), k, Carriers::all); }, ranks_per_node,
     false, true},
    {"fetch", "leaders-k", true, "the same in 3 stages, but the first rank of a node carries all between nodes", bienz,
     [](PatternPtr p, Index k) { return fetch_two_level(as<pattern::Fetch>(p), k, Carriers::leaders); }, ranks_per_node,
     false, true},
    {"gather-scatter", "pairwise", false, "every rank straight to all that share values with it, in 1 stage", gslib,
     [](PatternPtr p, Index) { return gather_scatter_pairwise(as<pattern::GatherScatter>(p)); }, no_radices, true},
    {"gather-scatter", "cartesian", false, "along x, then y, then z on a brick of ranks, in 3 stages", ivanov,
     [](PatternPtr p, Index) { return gather_scatter_cartesian(as_brick(p)); }, no_radices},
    {"gather-scatter", "crystal-router", false,
     "the messages of pairwise, bundled for halves of the ranks, in ceil(log2 n) stages", fox,
     [](PatternPtr p, Index) { return gather_scatter_crystal(as<pattern::GatherScatter>(p)); }, no_radices, false,
     true},
    {"gather-scatter", "two-level-k", true,
     "k ranks per node gather, nodes exchange, ranks scatter, in 3 stages; the ranks share out the nodes around", bienz,
     [](PatternPtr p, Index k) { return gather_scatter_two_level(as<pattern::GatherScatter>(p), k, Carriers::all); },
     ranks_per_node, false, true},
    {"gather-scatter", "leaders-k", true,
     "the same in 3 stages, but the first rank of a node carries all between nodes", bienz,
     [](PatternPtr p, Index k) {
         return gather_scatter_two_level(as<pattern::GatherScatter>(p), k, Carriers::leaders);
     },
     ranks_per_node, false, true},
    {"gather-scatter", "allreduce-recursive-k", true, "a reduction of all shared values by recursive-k, in its stages",
     thakur, [](PatternPtr p, Index k) { return reduced(p, "recursive-" + std::to_string(k)); }, recursive_radices},
    {"gather-scatter", "allreduce-recursive-near-k", true,
     "a reduction of all shared values by recursive-near-k, in its stages", thakur,
     [](PatternPtr p, Index k) { return reduced(p, "recursive-near-" + std::to_string(k)); }, recursive_radices},
    {"gather-scatter", "allreduce-ring", false, "a reduction of all shared values by ring, in its stages", patarasuk,
     [](PatternPtr p, Index) { return reduced(p, "ring"); }, no_radices},
    {"gather-scatter", "allreduce-rabenseifner", false,
     "a reduction of all shared values by rabenseifner, in its stages", rabenseifner,
     [](PatternPtr p, Index) { return reduced(p, "rabenseifner"); }, no_radices},
    {"gather-scatter", "allreduce-halving-doubling", false,
     "a reduction of all shared values by halving-doubling, in its stages", rabenseifner,
     [](PatternPtr p, Index) { return reduced(p, "halving-doubling"); }, no_radices},
    {"gather-scatter", "allreduce-binomial", false, "a reduction of all shared values by binomial, in its stages",
     thakur, [](PatternPtr p, Index) { return reduced(p, "binomial"); }, no_radices},
    {"allreduce", "recursive-k", true, "groups of k exchange all they have, in log_k n stages (and 2 for a fold)",
     thakur, [](PatternPtr p, Index k) { return allreduce_recursive(as<pattern::AllReduce>(p), k, Fold::far); },
     recursive_radices, true},
    {"allreduce", "recursive-near-k", true,
     "the same in as many stages, ranks that are left over folded onto neighbours", thakur,
     [](PatternPtr p, Index k) { return allreduce_recursive(as<pattern::AllReduce>(p), k, Fold::near); },
     recursive_radices},
    {"allreduce", "ring", false, "chunks summed up around a ring, then sent around, in 2 (n-1) stages", patarasuk,
     [](PatternPtr p, Index) { return allreduce_ring(as<pattern::AllReduce>(p)); }, no_radices},
    {"allreduce", "rabenseifner", false,
     "halves of the vector summed up, then brought together, in 2 log2 n stages (and 3 for a fold)", rabenseifner,
     [](PatternPtr p, Index) { return allreduce_rabenseifner(as<pattern::AllReduce>(p)); }, no_radices},
    {"allreduce", "halving-doubling", false,
     "the same in 2 ceil(log2 n) stages: some ranks play two roles instead of a fold",
     "SST/macro's MPI_Allreduce, as in Zheng & Marguinaud 2018; Rabenseifner 2004",
     [](PatternPtr p, Index) { return allreduce_halving_doubling(as<pattern::AllReduce>(p)); }, no_radices},
    {"allreduce", "binomial", false, "to rank 0 over a binomial tree and back, in 2 ceil(log2 n) stages", thakur,
     [](PatternPtr p, Index) { return allreduce_binomial(as<pattern::AllReduce>(p)); }, no_radices},
};

std::vector<AlgorithmEntry> make_entries() {
    std::vector<AlgorithmEntry> entries;
    for (const Row& row : table)
        entries.push_back({row.pattern, row.name, row.has_radix, row.description, row.source, row.make, row.radices,
                           row.is_default, row.store_and_forward});
    return entries;
}

std::string base_of(const AlgorithmEntry& entry) {
    return entry.has_radix ? entry.name.substr(0, entry.name.size() - 2) : entry.name;
}

[[noreturn]] void refuse_unknown(const std::string& pattern, const std::string& text, const AlgorithmName& name) {
    const std::vector<std::string> known = algorithm_names(pattern);
    for (const AlgorithmEntry& e : algorithms())
        if (base_of(e) == name.base && e.pattern != pattern)
            throw InputError(text + " is an algorithm of " + e.pattern + ", not of " + pattern + " (which has " +
                             joined(known, ", ") + ")");
    throw InputError(unknown_name(pattern + " algorithm", text, known));
}

}  // namespace

const std::vector<AlgorithmEntry>& algorithms() {
    static const std::vector<AlgorithmEntry> entries = make_entries();
    return entries;
}

std::vector<std::string> algorithm_names(const std::string& pattern) {
    std::vector<std::string> names;
    for (const AlgorithmEntry& e : algorithms())
        if (e.pattern == pattern) names.push_back(e.name);
    return names;
}

const AlgorithmEntry* find_algorithm(const std::string& pattern, const AlgorithmName& name) {
    for (const AlgorithmEntry& e : algorithms())
        if (e.pattern == pattern && (base_of(e) == name.base || e.name == name.base)) return &e;
    return nullptr;
}

AlgorithmName parse_algorithm(const std::string& text) {
    const std::size_t dash = text.rfind('-');
    if (dash == std::string::npos || dash + 1 == text.size()) return {text, {}};
    const std::string digits = text.substr(dash + 1);
    if (digits.find_first_not_of("0123456789") != std::string::npos) return {text, {}};
    const bool fits = digits.size() <= 18;
    return {text.substr(0, dash), fits ? std::stoll(digits) : std::numeric_limits<Index>::max()};
}

std::shared_ptr<const schedule::Schedule> make_schedule(std::shared_ptr<const pattern::Pattern> pattern,
                                                        const std::string& algorithm) {
    if (const auto forward = pattern->forward())
        return std::make_shared<schedule::Mirror>(make_schedule(forward, algorithm), std::move(pattern));
    const AlgorithmName name = parse_algorithm(algorithm);
    const AlgorithmEntry* const found = find_algorithm(pattern->name(), name);
    if (!found) refuse_unknown(pattern->name(), algorithm, name);
    const AlgorithmEntry& e = *found;
    if (!e.has_radix && name.radix) throw InputError(algorithm + ": " + e.name + " takes no radix");
    const auto [minimum, maximum] = e.radices(*pattern);
    const std::string allowed =
        std::to_string(minimum) + ".." + std::to_string(maximum) + " are allowed for " + pattern->group_text();
    if (e.has_radix && !name.radix)
        throw InputError(algorithm + ": the radix is missing, write " + base_of(e) + "-" + std::to_string(minimum) +
                         " (" + allowed + ")");
    if (e.has_radix && (*name.radix < minimum || *name.radix > maximum))
        throw InputError(algorithm + ": radix " + std::to_string(*name.radix) + " is out of range, " + allowed);
    return e.make(std::move(pattern), name.radix.value_or(0));
}

}  // namespace tradewind::algorithm
