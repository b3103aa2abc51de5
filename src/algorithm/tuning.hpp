// Tuning files: which method to carry out an exchange was the fastest, and where. `tradewind tune` writes them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithm/method.hpp"

namespace tradewind::algorithm {

// The request for a plan, by which an entry is found: keys of the file, and their values.
using TuningValue = pattern::Parameter;
using TuningRequest = pattern::Parameters;
// Memory of arrays that only their own rank can read, and of those that the ranks of a node share.
inline const std::string private_memory = "private", shared_memory = "shared";
// `element`: "f8". `fields`: how many arrays travel together. `memory`: where they lie.
TuningRequest tuning_request(const pattern::Pattern& pattern, const std::string& element, Index fields,
                             const std::string& memory);

// Where ranks run, as far as a measured time depends on it.
struct Host {
    std::string cpu, mpi;
    Index ranks_per_node = 0;  // the maximum over the nodes
};
// The differences from another host, in words.
std::vector<std::string> differences(const Host& host, const Host& other);

struct TuningEntry {
    TuningRequest request;
    Host host;
    Method method;
    double date = 0;  // seconds since 1970
};

// The keys that an entry about a pattern has, and whether it may lack them.
std::vector<std::pair<std::string, bool>> tuning_keys(const std::string& pattern);

// The entries of a file. Throws InputError with all that is wrong with them, each with path and line.
std::vector<TuningEntry> read_tuning(const std::string& text, const std::string& path);

// The entry about an exchange: of several the one whose host is most like this one, of equals the latest. nullptr: none
// is. Without a host they all count as equal.
const TuningEntry* find_tuned(const std::vector<TuningEntry>& entries, const TuningRequest& request,
                              const std::optional<Host>& host);

// The value of TRADEWIND_TUNING: "FILE", or "FILE,strict", for which what was tuned elsewhere is an error.
struct TuningSource {
    std::string path;
    bool strict = false;
};
TuningSource parse_tuning_source(const std::string& text);

// The method that a tuning file has for an exchange, for choose_method; none where no entry is about it. Throws
// InputError where the file is strict and the entry is from elsewhere. Arrays in shared memory take an entry about
// private memory where there is none of their own: it still compares the algorithms. Arrays in private memory take no
// entry about shared memory.
std::optional<TunedMethod> tuned_method(const TuningSource& source, const std::vector<TuningEntry>& entries,
                                        const pattern::Pattern& pattern, const std::string& element, Index fields,
                                        const std::string& memory, const std::optional<Host>& host);

}  // namespace tradewind::algorithm
