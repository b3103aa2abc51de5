#include "algorithm/method.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "algorithm/registry.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "pattern/fetch.hpp"
#include "pattern/gather_scatter.hpp"
#include "schedule/transport.hpp"

namespace tradewind::algorithm {

namespace {

const std::string& usual_transport() {
    return schedule::default_transport().name;
}
const std::string& usual_packing() {
    return schedule::default_packing().name;
}

// The named one, or all: the usual one first.
template <typename Entries>
std::vector<std::string> candidates(const std::string& named, const std::string& usual, const Entries& entries) {
    if (!named.empty()) return {named};
    std::vector<std::string> names{usual};
    for (const auto& entry : entries) names.push_back(entry.name);
    return names;
}

bool are_compatible(const std::string& transport_name, const std::string& packing) {
    for (const schedule::TransportEntry& entry : schedule::transports())
        if (entry.name == transport_name)
            return std::find(entry.packings.begin(), entry.packings.end(), packing) != entry.packings.end();
    return false;
}

// Has the stages of one that does something.
std::shared_ptr<const pattern::Pattern> fetch_of_nothing(Rank ranks) {
    const std::vector<Index> sources(static_cast<std::size_t>(ranks), 0);
    return std::make_shared<pattern::Fetch>(sources, std::vector<pattern::FetchList>(sources.size()));
}

std::shared_ptr<const pattern::Pattern> nothing_of(const pattern::Pattern& pattern) {
    if (pattern.name() != "gather-scatter") return fetch_of_nothing(pattern.ranks());
    return std::make_shared<pattern::ListedGatherScatter>(
        std::vector<std::vector<Index>>(static_cast<std::size_t>(pattern.ranks())), "add");
}

constexpr std::array<std::string Method::*, 3> parts{&Method::algorithm, &Method::transport, &Method::packing};

void fill(Method& method, const Method& more) {
    for (const auto part : parts)
        if ((method.*part).empty()) method.*part = more.*part;
}

// Those parts of `more` that are open, from an origin.
void take(ChosenMethod& chosen, const Method& more, const std::string& origin) {
    for (const auto part : parts) {
        if (!(chosen.method.*part).empty() || (more.*part).empty()) continue;
        chosen.method.*part = more.*part;
        chosen.origin.*part = origin;
    }
}

bool agrees(const Method& method, const Method& named) {
    return std::all_of(parts.begin(), parts.end(),
                       [&](auto part) { return (named.*part).empty() || named.*part == method.*part; });
}

}  // namespace

Method parse_method(const std::string& text) {
    std::array<std::string, 3> parts;
    std::size_t begin = 0, found = 0;
    while (true) {
        const std::size_t comma = text.find(',', begin);
        if (found < parts.size()) parts[found] = trimmed(text.substr(begin, comma - begin));
        ++found;
        if (comma == std::string::npos) break;
        begin = comma + 1;
    }
    if (found > parts.size())
        throw InputError(std::to_string(found) +
                         " parts, but ALGORITHM,TRANSPORT,PACKING are allowed, like sweep,,buffer");
    return {parts[0], parts[1], parts[2]};
}

std::string text_of(const Method& method) {
    return method.algorithm + "," + method.transport + "," + method.packing;
}

std::string variable_of(const std::string& pattern) {
    std::string name = "TRADEWIND_";
    for (const char c : pattern) name += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c == '-' ? '_' : c);
    return name;
}

std::string default_algorithm(const std::string& pattern) {
    for (const AlgorithmEntry& entry : algorithms()) {
        if (entry.pattern != pattern || !entry.is_default) continue;
        if (!entry.has_radix) return entry.name;
        return entry.name.substr(0, entry.name.size() - 1) + (pattern == "allreduce" ? "2" : "1");
    }
    throw InputError("pattern \"" + pattern + "\" has no algorithms");
}

Method completed(const std::string& pattern, Method method) {
    if (method.complete()) return method;
    if (method.algorithm.empty()) method.algorithm = default_algorithm(pattern);
    for (const std::string& transport_name : candidates(method.transport, usual_transport(), schedule::transports()))
        for (const std::string& packing : candidates(method.packing, usual_packing(), schedule::packings()))
            if (are_compatible(transport_name, packing)) return {method.algorithm, transport_name, packing};
    fill(method, {"", usual_transport(), usual_packing()});  // what does not go together is refused later
    return method;
}

bool needs_all_lists(const pattern::Pattern& pattern, const std::string& algorithm) {
    if (!pattern.partial()) return false;
    const AlgorithmEntry* const entry = find_algorithm(pattern.name(), parse_algorithm(algorithm));
    return entry && entry->store_and_forward;
}

std::string native_refusal(const pattern::Pattern& pattern) {
    if (pattern.collective() != pattern::Collective::none) return "";
    if (pattern.name() == "transpose")
        return "algorithm 'native': MPI has one for a transpose within groups of ranks, and here senders and receivers "
               "are "
               "not the same groups";
    return "algorithm 'native': MPI has one for transpose and allreduce, none for " + pattern.name();
}

std::string method_refusal(const std::shared_ptr<const pattern::Pattern>& pattern, const Method& method) {
    if (method.native()) return native_refusal(*pattern);
    Method full = method;
    fill(full, {"", usual_transport(), usual_packing()});
    if (full.algorithm.empty()) full.algorithm = default_algorithm(pattern->name());
    try {
        const auto known = needs_all_lists(*pattern, full.algorithm) ? nothing_of(*pattern) : pattern;
        return schedule::transport_refusal(*make_schedule(known, full.algorithm), full.transport, full.packing);
    } catch (const InputError& error) {
        return error.what();
    }
}

const Method& all_to_all_of_mpi() {
    static const Method method{"burst", "alltoallv", schedule::default_packing().name};
    return method;
}

Method carried_method(const pattern::Pattern& pattern, const Method& method) {
    if (!method.native()) return method;
    if (pattern.collective() != pattern::Collective::all_to_all)
        return {method.algorithm, usual_transport(), usual_packing()};
    const Method& mpis = all_to_all_of_mpi();
    if (!agrees(mpis, {"", method.transport, method.packing}))
        throw InputError("algorithm 'native' is MPI_Alltoallv of packed data, not transport '" + method.transport +
                         "' with packing '" + method.packing + "'");
    return mpis;
}

ChosenMethod choose_method(const std::shared_ptr<const pattern::Pattern>& pattern, const Method& asked,
                           const std::string& environment, const std::function<std::optional<TunedMethod>()>& tuned) {
    const std::string variable = variable_of(pattern->name()), setting = variable + "='" + environment + "': ";
    ChosenMethod chosen;
    take(chosen, asked, "argument");
    try {
        take(chosen, parse_method(environment), variable);
    } catch (const InputError& error) {
        throw InputError(setting + error.what());
    }
    std::string file;
    if (!chosen.method.complete() && tuned) {
        if (const auto found = tuned()) {
            chosen.warning = found->warning;
            file = found->file;
            if (agrees(found->method, chosen.method)) take(chosen, found->method, file);
        }
    }
    take(chosen, completed(pattern->name(), chosen.method), "default");
    if (const std::string refusal = method_refusal(pattern, chosen.method); !refusal.empty()) {
        std::vector<std::string> origins;  // each once, in the order of the parts
        for (const auto part : parts)
            if (std::find(origins.begin(), origins.end(), chosen.origin.*part) == origins.end())
                origins.push_back(chosen.origin.*part);
        std::string named;
        for (const std::string& each : origins)
            named += each == variable ? setting : each == file && !file.empty() ? file + ": " : "";
        throw InputError(named + refusal);
    }
    return chosen;
}

}  // namespace tradewind::algorithm
