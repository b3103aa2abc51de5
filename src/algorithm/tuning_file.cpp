// The entries of a tuning file, checked.
#include <algorithm>
#include <cmath>

#include "algorithm/registry.hpp"
#include "algorithm/tuning.hpp"
#include "base/error.hpp"
#include "base/toml.hpp"
#include "schedule/transport.hpp"

namespace tradewind::algorithm {

namespace {

// The requirement that a value misses; "" if it meets all.
using Check = std::string (*)(const TomlValue&);

template <Index minimum>
std::string is_whole(const TomlValue& value) {
    const auto* number = std::get_if<std::int64_t>(&value);
    return number && *number >= minimum ? "" : "a whole number of " + std::to_string(minimum) + " or more is allowed";
}

template <std::size_t count>
std::string are_counts(const TomlValue& value) {
    const auto* list = std::get_if<TomlList>(&value);
    const bool fits =
        list && list->size() == count && std::all_of(list->begin(), list->end(), [](auto n) { return n >= 1; });
    return fits ? "" : "a list of " + std::to_string(count) + " whole numbers of 1 or more is allowed";
}

std::string is_text(const TomlValue& value) {
    return std::holds_alternative<std::string>(value) ? "" : "text is allowed";
}

std::string is_truth(const TomlValue& value) {
    return std::holds_alternative<bool>(value) ? "" : "true or false is allowed";
}

std::string is_time(const TomlValue& value) {
    return std::holds_alternative<TomlTime>(value) ? "" : "a time with its distance to UTC is allowed";
}

std::string is_seconds(const TomlValue& value) {
    const auto* real = std::get_if<double>(&value);
    const auto* number = std::get_if<std::int64_t>(&value);
    return (real && *real > 0 && std::isfinite(*real)) || (number && *number > 0) ? "" : "seconds above 0 are allowed";
}

std::string one_of(const TomlValue& value, const std::vector<std::string>& names) {
    const auto* name = std::get_if<std::string>(&value);
    if (name && std::find(names.begin(), names.end(), *name) != names.end()) return "";
    std::string known;
    for (const std::string& each : names) known += (known.empty() ? "'" : ", '") + each + "'";
    return "one of " + known + " is allowed";
}

std::string is_element(const TomlValue& value) {
    return one_of(value, {"f4", "f8", "i4", "i8", "c8", "c16"});
}

std::string is_memory(const TomlValue& value) {
    return one_of(value, {private_memory, shared_memory});
}

std::string are_axes(const TomlValue& value) {
    return one_of(value, {"xy", "yx", "xz", "zx", "yz", "zy"});
}

std::string are_periods(const TomlValue& value) {
    return one_of(value, {"", "x", "y", "xy"});
}

struct Key {
    std::string name;
    Check check;
    bool asked;  // part of what an entry is found by
    bool optional = false;
};

const std::vector<std::string> patterns{"fetch", "halo", "transpose", "allreduce", "gather-scatter"};

std::vector<Key> keys_of(const std::string& pattern) {
    std::vector<Key> keys{{"pattern", is_text, true}};
    if (pattern == "halo") {
        keys.insert(keys.end(), {{"grid", are_counts<3>, true},
                                 {"split", are_counts<2>, true},
                                 {"width", is_whole<0>, true},
                                 {"periodic", are_periods, true}});
    } else if (pattern == "transpose") {
        keys.insert(keys.end(), {{"grid", are_counts<3>, true},
                                 {"from_split", are_counts<2>, true},
                                 {"from_axes", are_axes, true},
                                 {"to_split", are_counts<2>, true},
                                 {"to_axes", are_axes, true}});
    } else if (pattern == "allreduce") {
        keys.push_back({"count", is_whole<1>, true});
    } else if (pattern == "gather-scatter") {
        keys.insert(keys.end(), {{"shared", is_whole<0>, true}, {"levels", is_whole<0>, true}});
    } else {
        keys.insert(keys.end(),
                    {{"points", is_whole<0>, true}, {"levels", is_whole<0>, true}, {"adjoint", is_truth, true}});
    }
    keys.insert(keys.end(), {{"ranks", is_whole<1>, true},
                             {"fields", is_whole<1>, true},
                             {"dtype", is_element, true},
                             {"memory", is_memory, true, true},
                             {"host", is_text, false},
                             {"cpu", is_text, false},
                             {"mpi", is_text, false},
                             {"ranks_per_node", is_whole<1>, false},
                             {"oversubscribed", is_truth, false},
                             {"algorithm", is_text, false},
                             {"transport", is_text, false, true},
                             {"packing", is_text, false, true},
                             {"median_s", is_seconds, false},
                             {"min_s", is_seconds, false},
                             {"default_s", is_seconds, false, true},
                             {"trials", is_whole<1>, false},
                             {"date", is_time, false},
                             {"tradewind", is_text, false}});
    return keys;
}

TuningValue value_of(const TomlValue& value) {
    if (const auto* words = std::get_if<std::string>(&value)) return *words;
    if (const auto* number = std::get_if<std::int64_t>(&value)) return static_cast<Index>(*number);
    if (const auto* yes = std::get_if<bool>(&value)) return *yes;
    const TomlList& list = std::get<TomlList>(value);
    return std::vector<Index>(list.begin(), list.end());
}

std::string unknown(const std::string& what, const std::string& name, const std::string& known) {
    return "unknown " + what + " '" + name + "' (known: " + known + ")";
}

template <typename Names, typename Name>
std::string listed(const Names& names, Name name) {
    std::string text;
    for (const auto& each : names) text += (text.empty() ? "" : ", ") + std::string(name(each));
    return text;
}

// Why an entry's method is none, for a pattern of that name.
std::string method_problem(const std::string& pattern, const Method& method) {
    if (method.transport.empty() != method.native() || method.packing.empty() != method.native())
        return "transport and packing belong to every algorithm but native, which has neither";
    if (method.native()) return "";
    const AlgorithmName name = parse_algorithm(method.algorithm);
    const AlgorithmEntry* const found = find_algorithm(pattern, name);
    if (!found || found->has_radix != name.radix.has_value()) {
        std::vector<std::string> names;
        for (const AlgorithmEntry& each : algorithms())
            if (each.pattern == pattern) names.push_back(each.name);
        return unknown(pattern + " algorithm", method.algorithm, listed(names, [](const auto& each) { return each; }));
    }
    const auto named = [](const auto& entries, const std::string& wanted) {
        return std::any_of(entries.begin(), entries.end(), [&](const auto& each) { return each.name == wanted; });
    };
    const auto name_of = [](const auto& each) { return each.name; };
    if (!named(schedule::transports(), method.transport))
        return unknown("transport", method.transport, listed(schedule::transports(), name_of));
    if (!named(schedule::packings(), method.packing))
        return unknown("packing", method.packing, listed(schedule::packings(), name_of));
    return "";
}

class EntryReader {
  public:
    EntryReader(const TomlTable& table, std::size_t number, const std::string& path, std::vector<std::string>& problems)
        : table_(table), owner_("entry " + std::to_string(number) + ": "), path_(path), problems_(problems) {}

    // Notes what is wrong; then what it returns means nothing.
    TuningEntry read() {
        const std::size_t before = problems_.size();
        const std::string pattern = text_at("pattern");
        if (!table_.find("pattern")) {
            note(table_.line, "key 'pattern' is missing");
        } else if (std::find(patterns.begin(), patterns.end(), pattern) == patterns.end()) {
            note(table_.find("pattern")->line,
                 unknown("pattern", pattern, listed(patterns, [](const auto& each) { return each; })));
        } else {
            check_keys(keys_of(pattern));
        }
        if (problems_.size() > before) return {};
        TuningEntry entry;
        for (const Key& key : keys_of(pattern))
            if (const TomlEntry* const found = table_.find(key.name); key.asked && found)
                entry.request.emplace_back(key.name, value_of(found->value));
        if (!table_.find("memory"))
            entry.request.emplace_back("memory", private_memory);  // in files of earlier versions
        entry.host = {text_at("cpu"), text_at("mpi"), std::get<std::int64_t>(table_.find("ranks_per_node")->value)};
        entry.method = {text_at("algorithm"), text_at("transport"), text_at("packing")};
        entry.date = std::get<TomlTime>(table_.find("date")->value).seconds;
        if (const std::string problem = method_problem(pattern, entry.method); !problem.empty())
            note(table_.line, problem);
        return entry;
    }

  private:
    void note(int line, const std::string& problem) {
        problems_.push_back(path_ + ":" + std::to_string(line) + ": " + owner_ + problem);
    }

    std::string text_at(const std::string& key) const {
        const TomlEntry* const found = table_.find(key);
        const auto* words = found ? std::get_if<std::string>(&found->value) : nullptr;
        return words ? *words : "";
    }

    void check_keys(const std::vector<Key>& keys) {
        for (const Key& key : keys) {
            const TomlEntry* const found = table_.find(key.name);
            if (!found && !key.optional) note(table_.line, "key '" + key.name + "' is missing");
            if (!found) continue;
            if (const std::string allowed = key.check(found->value); !allowed.empty())
                note(found->line, key.name + " = " + found->text + ": " + allowed);
        }
        for (const TomlEntry& entry : table_.entries) {
            const auto same = [&](const Key& key) { return key.name == entry.key; };
            if (std::none_of(keys.begin(), keys.end(), same))
                note(entry.line, unknown("key", entry.key, listed(keys, [](const Key& key) { return key.name; })));
        }
    }

    const TomlTable& table_;
    const std::string owner_;
    const std::string& path_;
    std::vector<std::string>& problems_;
};

}  // namespace

std::vector<std::pair<std::string, bool>> tuning_keys(const std::string& pattern) {
    std::vector<std::pair<std::string, bool>> found;
    for (const Key& key : keys_of(pattern)) found.emplace_back(key.name, key.optional);
    return found;
}

std::vector<TuningEntry> read_tuning(const std::string& text, const std::string& path) {
    std::vector<TuningEntry> entries;
    std::vector<std::string> problems;
    for (const TomlTable& table : read_tables(text, path, "entry"))
        entries.push_back(EntryReader(table, entries.size() + 1, path, problems).read());
    std::string all;
    for (const std::string& each : problems) all += (all.empty() ? "" : "\n") + each;
    if (!problems.empty()) throw InputError(all);
    return entries;
}

}  // namespace tradewind::algorithm
