// Every algorithm there is, by name: what the command line, the documents and the tests read.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// An algorithm's name as a user writes it: "burst", or with a radix "ring-4".
struct AlgorithmName {
    std::string base;
    std::optional<Index> radix;
};
AlgorithmName parse_algorithm(const std::string& text);

struct AlgorithmEntry {
    std::string pattern;  // "transpose", "halo", "fetch", "gather-scatter", "allreduce"
    std::string name;     // "ring-k" where it takes a radix, else "burst"
    bool has_radix;
    std::string description;  // one line: what, in how many stages
    std::string source;       // where it was published
    std::shared_ptr<const schedule::Schedule> (*make)(std::shared_ptr<const pattern::Pattern>, Index radix);
    // Allowed radices of a pattern: {minimum, maximum}.
    std::array<Index, 2> (*radices)(const pattern::Pattern&);
    bool is_default = false;
    bool store_and_forward = false;  // ranks pass points on: needs to know what all ranks want of a fetch
};

const std::vector<AlgorithmEntry>& algorithms();
std::vector<std::string> algorithm_names(const std::string& pattern);  // as in the entries: "ring-k"
// The one of a pattern that a name means; nullptr where there is none.
const AlgorithmEntry* find_algorithm(const std::string& pattern, const AlgorithmName& name);

// The adjoint of a pattern is carried out by the same algorithms, from their last stage to their first.
// Throws InputError for an unknown name (with the nearest known one), an algorithm of another pattern, a radix that is
// missing or out of range.
std::shared_ptr<const schedule::Schedule> make_schedule(std::shared_ptr<const pattern::Pattern> pattern,
                                                        const std::string& algorithm);

}  // namespace tradewind::algorithm
