#include "algorithm/tuning.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tradewind::algorithm {

namespace {

std::string joined(const std::vector<std::string>& texts, const std::string& between) {
    std::string all;
    for (const std::string& each : texts) all += (all.empty() ? "" : between) + each;
    return all;
}

}  // namespace

TuningRequest tuning_request(const pattern::Pattern& pattern, const std::string& element, Index fields,
                             const std::string& memory) {
    TuningRequest asked{{"pattern", pattern.name()},
                        {"ranks", static_cast<Index>(pattern.ranks())},
                        {"fields", fields},
                        {"dtype", element},
                        {"memory", memory}};
    for (auto& parameter : pattern.parameters()) asked.push_back(std::move(parameter));
    return asked;
}

std::vector<std::string> differences(const Host& host, const Host& other) {
    std::vector<std::string> found;
    if (host.cpu != other.cpu) found.push_back("the processor is " + host.cpu + ", not " + other.cpu);
    if (host.mpi != other.mpi) found.push_back("the MPI library is " + host.mpi + ", not " + other.mpi);
    if (host.ranks_per_node != other.ranks_per_node)
        found.push_back(std::to_string(host.ranks_per_node) + " ranks share a node, not " +
                        std::to_string(other.ranks_per_node));
    return found;
}

const TuningEntry* find_tuned(const std::vector<TuningEntry>& entries, const TuningRequest& request,
                              const std::optional<Host>& host) {
    const auto sorted = [](TuningRequest asked) {
        std::sort(asked.begin(), asked.end());
        return asked;
    };
    const TuningRequest wanted = sorted(request);
    const TuningEntry* best = nullptr;
    std::size_t minimum = 0;
    for (const TuningEntry& entry : entries) {
        if (sorted(entry.request) != wanted) continue;
        const std::size_t unlike = host ? differences(*host, entry.host).size() : 0;
        if (!best || unlike < minimum || (unlike == minimum && entry.date > best->date)) {
            best = &entry;
            minimum = unlike;
        }
    }
    return best;
}

TuningSource parse_tuning_source(const std::string& text) {
    const std::string strict = ",strict";
    if (!text.ends_with(strict)) return {text, false};
    return {text.substr(0, text.size() - strict.size()), true};
}

std::optional<TunedMethod> tuned_method(const TuningSource& source, const std::vector<TuningEntry>& entries,
                                        const pattern::Pattern& pattern, const std::string& element, Index fields,
                                        const std::string& memory, const std::optional<Host>& host) {
    const TuningEntry* entry = find_tuned(entries, tuning_request(pattern, element, fields, memory), host);
    if (!entry && memory == shared_memory)
        entry = find_tuned(entries, tuning_request(pattern, element, fields, private_memory), host);
    if (!entry) return {};
    TunedMethod tuned{entry->method, source.path, ""};
    if (!host) return tuned;
    if (const auto unlike = differences(*host, entry->host); !unlike.empty()) {
        tuned.warning = source.path + ": " + pattern.describe() + " was tuned elsewhere: " + joined(unlike, "; ");
        if (source.strict) throw InputError(tuned.warning + " (tune here, or leave out strict)");
    }
    return tuned;
}

}  // namespace tradewind::algorithm
