// Tuning files: which method to carry out an exchange was the fastest, and where. `tradewind tune` writes them, and all
// languages read them here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithm/method.hpp"
#include "base/host.hpp"

namespace tradewind::algorithm {

// Memory of arrays that only their own rank can read, and of those that the ranks of a node share.
inline const std::string private_memory = "private", shared_memory = "shared";

// The request for a plan, by which an entry is found: keys of the file, and their values. `element`: "f8". `fields`:
// how many arrays travel together. `memory`: where they lie.
pattern::Parameters tuning_request(const pattern::Pattern& pattern, const std::string& element, Index fields,
                                   const std::string& memory);

struct TuningEntry {
    pattern::Parameters request;  // in the order of its keys
    Host host;
    Method method;
    Index date = 0;    // seconds since 1970
    std::string text;  // as it stands in the file
};

// The entries of a file: tables [[entry]] of lines key = value. What an entry is found by has the keys, kinds and names
// that `tuning_request` gives. Throws InputError with what is wrong, each mistake with path and line.
std::vector<TuningEntry> read_tuning(const std::string& text, const std::string& path);
// The same of a file, which is read again once it has changed. Throws InputError for what cannot be read, too.
using TuningEntries = std::shared_ptr<const std::vector<TuningEntry>>;
TuningEntries read_tuning_file(const std::string& path);

// The text of those entries of a file that none of the entries of `text` replaces: that none is about the same exchange
// on the same host.
std::string kept_entries(const std::string& path, const std::string& text);

// The entry about an exchange: of several the one whose host is most like this one, of equals the latest. nullptr: none
// is. Without a host they all count as equal.
const TuningEntry* find_tuned(const std::vector<TuningEntry>& entries, pattern::Parameters request,
                              const std::optional<Host>& host);

// The method that a tuning file has for an exchange, for choose_method; none where no entry is about it. `setting`:
// "FILE", or "FILE,strict", for which what was tuned elsewhere is an error; `origin`: what errors put before it, such
// as "TRADEWIND_TUNING=". Arrays in shared memory take an entry about private memory where there is none of their own:
// it still compares the algorithms. Arrays in private memory take no entry about shared memory. Throws InputError.
std::optional<TunedMethod> tuned_method(const std::string& setting, const std::string& origin,
                                        const pattern::Pattern& pattern, const std::string& element, Index fields,
                                        const std::string& memory, const std::optional<Host>& host);

}  // namespace tradewind::algorithm
