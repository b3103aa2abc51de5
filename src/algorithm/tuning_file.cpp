// The entries of a tuning file, read line by line and checked.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <sstream>

#include "algorithm/registry.hpp"
#include "algorithm/tuning.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "pattern/allreduce.hpp"
#include "pattern/fetch.hpp"
#include "pattern/gather_scatter.hpp"
#include "pattern/halo.hpp"
#include "pattern/transpose.hpp"
#include "schedule/transport.hpp"

namespace tradewind::algorithm {

namespace {

using Value = pattern::Parameter;

// A key of an entry, and what it may hold: a value like one that is given, or a number of seconds, or a time.
struct Key {
    std::string name;
    Value like;                             // numbers: the least
    bool asked = false;                     // part of what an entry is found by
    bool optional = false;                  // it may be missing
    std::vector<std::string> allowed = {};  // texts; any where empty
    enum class Kind { like, seconds, time } kind = Kind::like;
};

// The smallest patterns: their parameters are the least of an entry, and have every text that is allowed.
std::vector<std::shared_ptr<const pattern::Pattern>> smallest_patterns() {
    const layout::Grid point(1, 1, 1);
    std::vector<std::shared_ptr<const pattern::Pattern>> all;
    for (const bool x : {false, true})
        for (const bool y : {false, true})
            all.push_back(std::make_shared<pattern::Halo>(layout::Blocks(point, {1, 1}), 0, std::array{x, y}));
    for (const char* axes : {"xy", "yx", "xz", "zx", "yz", "zy"}) {
        const layout::Blocks blocks(point, {1, 1}, axes);
        all.push_back(std::make_shared<pattern::Transpose>(blocks, blocks));
    }
    all.push_back(std::make_shared<pattern::AllReduce>(1, 1));
    const std::array<Index, 2> none{0, 0};
    all.push_back(pattern::Fetch({Index{0}}, std::vector<pattern::FetchList>(1)).with_levels(none));
    all.push_back(pattern::ListedGatherScatter(std::vector<std::vector<Index>>(1), "add").with_levels(none));
    return all;
}

// The keys of entries, by pattern.
const std::map<std::string, std::vector<Key>>& known_keys() {
    static const auto known = [] {
        std::map<std::string, std::vector<Key>> all;
        const auto add = [&](const pattern::Pattern& pattern, const std::string& element, const std::string& memory) {
            std::vector<Key>& keys = all[pattern.name()];
            for (const auto& [name, value] : tuning_request(pattern, element, 1, memory)) {
                auto key = std::find_if(keys.begin(), keys.end(), [&](const Key& each) { return each.name == name; });
                if (key == keys.end()) key = keys.insert(keys.end(), {name, value, true, name == "memory", {}});
                const auto* text = std::get_if<std::string>(&value);
                if (text && std::find(key->allowed.begin(), key->allowed.end(), *text) == key->allowed.end())
                    key->allowed.push_back(*text);
            }
        };
        for (const auto& pattern : smallest_patterns())
            for (const char* element : {"f4", "f8", "i4", "i8", "c8", "c16"})
                for (const std::string& memory : {private_memory, shared_memory}) add(*pattern, element, memory);
        const std::string text;
        const auto seconds = [](const char* name, bool optional) {
            return Key{name, {}, false, optional, {}, Key::Kind::seconds};
        };
        for (auto& [pattern, keys] : all)
            keys.insert(keys.end(), {{"host", text},
                                     {"cpu", text},
                                     {"mpi", text},
                                     {"ranks_per_node", Index{1}},
                                     {"oversubscribed", false},
                                     {"algorithm", text},
                                     {"transport", text, false, true},
                                     {"packing", text, false, true},
                                     seconds("median_s", false),
                                     seconds("min_s", false),
                                     seconds("default_s", true),
                                     {"trials", Index{1}},
                                     {"date", {}, false, false, {}, Key::Kind::time},
                                     {"tradewind", text}});
        return all;
    }();
    return known;
}

// The place of a character outside of quotes, or the end of the line.
std::size_t find_unquoted(const std::string& line, char wanted) {
    char quote = 0;
    std::size_t at = 0;
    for (; at < line.size() && (quote || line[at] != wanted); ++at) {
        const char c = line[at];
        if (quote == '"' && c == '\\') ++at;
        if (quote ? c == quote : c == '"' || c == '\'') quote = quote ? 0 : c;
    }
    return std::min(at, line.size());
}

// A line without comment, and without blanks at its ends.
std::string statement(const std::string& line) {
    return trimmed(line.substr(0, find_unquoted(line, '#')));
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

void add_utf8(std::string& text, std::uint32_t code) {
    const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // bytes of six bits each
    constexpr std::uint32_t marks[] = {0, 0xC0, 0xE0, 0xF0};
    text += static_cast<char>(marks[more] | (code >> (6 * more)));
    for (int i = more - 1; i >= 0; --i) text += static_cast<char>(0x80 | (code >> (6 * i) & 0x3F));
}

// Text in quotes, with the escapes of TOML.
std::optional<std::string> text_of(const std::string& word) {
    const char quote = word.size() < 2 ? '\0' : word.front();
    if ((quote != '"' && quote != '\'') || word.back() != quote) return {};
    std::string text;
    const char *at = word.data() + 1, *const end = word.data() + word.size() - 1;
    while (at != end) {
        const char c = *at++;
        if (c == quote) return {};
        if (c != '\\' || quote == '\'') {
            text += c;
            continue;
        }
        static constexpr std::string_view letters = "btnfr\"\\", meant = "\b\t\n\f\r\"\\";
        if (at == end) return {};
        const char escaped = *at++;
        if (const std::size_t i = letters.find(escaped); i != std::string_view::npos) {
            text += meant[i];
            continue;
        }
        const std::ptrdiff_t digits = escaped == 'u' ? 4 : 8;
        std::uint32_t code = 0;
        if ((escaped != 'u' && escaped != 'U') || end - at < digits ||
            std::from_chars(at, at + digits, code, 16).ptr != at + digits || code > 0x10FFFF ||
            (code >= 0xD800 && code < 0xE000))
            return {};
        at += digits;
        add_utf8(text, code);
    }
    return text;
}

template <typename Number>
std::optional<Number> number_of(std::string word) {
    for (std::size_t i = word.find('_'); i != std::string::npos; i = word.find('_', i)) {
        if (i == 0 || i + 1 == word.size() || !is_digit(word[i - 1]) || !is_digit(word[i + 1])) return {};
        word.erase(i, 1);
    }
    const std::size_t sign = !word.empty() && (word[0] == '+' || word[0] == '-');
    const char *begin = word.data() + (sign && word[0] == '+'), *const digits = word.data() + sign,
               *const end = word.data() + word.size();
    if (digits == end || !is_digit(*digits) || !is_digit(end[-1])) return {};
    if (*digits == '0' && digits + 1 != end && is_digit(digits[1])) return {};  // 007
    Number number{};
    const auto [rest, problem] = std::from_chars(begin, end, number);
    return problem == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

std::optional<std::vector<Index>> list_of(const std::string& word) {
    if (!word.starts_with('[') || !word.ends_with(']')) return {};
    std::vector<Index> numbers;
    std::istringstream items(word.substr(1, word.size() - 2));
    for (std::string item; std::getline(items, item, ',');) {
        if (trimmed(item).empty() && items.eof()) break;  // behind the last comma
        const auto number = number_of<Index>(trimmed(item));
        if (!number) return {};
        numbers.push_back(*number);
    }
    return numbers;
}

// "2025-01-31T12:00:00.5+01:00" as seconds since 1970, without their fraction; nothing without a distance to UTC.
std::optional<Index> time_of(const std::string& word) {
    const auto has = [&](std::size_t at, std::string_view form) {
        const auto same = [](char f, char c) {
            return f == '0' ? is_digit(c) : f == 'T' ? c == 'T' || c == 't' || c == ' ' : f == c;
        };
        return word.size() >= at + form.size() && std::equal(form.begin(), form.end(), &word[at], same);
    };
    const auto number = [&](std::size_t at, std::size_t digits) { return std::stoi(word.substr(at, digits)); };
    if (!has(0, "0000-00-00T00:00:00")) return {};
    const std::chrono::year_month_day day(std::chrono::year(number(0, 4)),
                                          std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                          std::chrono::day(static_cast<unsigned>(number(8, 2))));
    const int hour = number(11, 2), minute = number(14, 2), second = number(17, 2);
    if (!day.ok() || hour > 23 || minute > 59 || second > 59) return {};
    const std::size_t zone = std::min(has(19, ".0") ? word.find_first_not_of("0123456789", 20) : 19, word.size());
    const std::string offset = word.substr(zone);
    int ahead = 0;  // minutes before UTC
    if (offset != "Z" && offset != "z") {
        if (offset.size() != 6 || !(has(zone, "+00:00") || has(zone, "-00:00"))) return {};
        const int hours = number(zone + 1, 2), minutes = number(zone + 4, 2);
        if (hours > 23 || minutes > 59) return {};
        ahead = (word[zone] == '-' ? -1 : 1) * (60 * hours + minutes);
    }
    const Index days = std::chrono::sys_days(day).time_since_epoch().count();
    return 86400 * days + 3600 * hour + 60 * (minute - ahead) + second;
}

// Return what a key may hold where a word is something else, or "" with its value.
std::string read_value(const Key& key, const std::string& word, Value& value) {
    const auto taken = [&](const auto& found) {
        if (found) value = *found;
        return found.has_value();
    };
    const auto least = [](Index n) { return std::to_string(n) + " or more"; };
    if (key.kind == Key::Kind::seconds) {
        const auto seconds = number_of<double>(word);
        return seconds && *seconds > 0 ? "" : "seconds above 0 are allowed";
    }
    if (key.kind == Key::Kind::time)
        return taken(time_of(word)) ? "" : "a time with its distance to UTC is allowed, like 2025-01-31T12:00:00Z";
    if (const auto* number = std::get_if<Index>(&key.like)) {
        if (taken(number_of<Index>(word)) && std::get<Index>(value) >= *number) return "";
        return "a whole number of " + least(*number) + " is allowed";
    }
    if (const auto* list = std::get_if<std::vector<Index>>(&key.like)) {
        if (taken(list_of(word)) && std::get<std::vector<Index>>(value).size() == list->size() &&
            std::ranges::equal(std::get<std::vector<Index>>(value), *list, std::greater_equal()))
            return "";
        return "a list of " + std::to_string(list->size()) + " whole numbers of " + least(list->front()) +
               " is allowed";
    }
    if (std::holds_alternative<bool>(key.like)) {
        value = word == "true";
        return word == "true" || word == "false" ? "" : "true or false is allowed";
    }
    if (!taken(text_of(word))) return "text in quotes is allowed";
    const auto& allowed = key.allowed;
    if (allowed.empty() || std::find(allowed.begin(), allowed.end(), std::get<std::string>(value)) != allowed.end())
        return "";
    return "one of '" + joined(allowed, "', '") + "' is allowed";
}

struct Line {
    std::string key, word;
    int number;
};
struct Table {
    int line;
    std::vector<Line> lines;
    std::string text;
};

std::vector<Table> read_tables(const std::string& text, const std::string& path) {
    std::vector<Table> tables;
    std::istringstream lines(text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text);
    int number = 0;
    std::string raw;
    const auto next = [&] {
        if (!std::getline(lines, raw)) return false;
        ++number;
        if (!tables.empty()) tables.back().text += raw + "\n";
        return true;
    };
    while (next()) {
        std::string line = statement(raw);
        if (line.empty()) continue;
        const int first = number;
        const auto refuse = [&](const std::string& problem) {
            throw InputError(path + ":" + std::to_string(first) + ": " + problem);
        };
        if (line == "[[entry]]") {
            if (!tables.empty()) tables.back().text.resize(tables.back().text.size() - raw.size() - 1);
            tables.push_back({number, {}, raw + "\n"});
            continue;
        }
        const std::size_t equals = find_unquoted(line, '=');
        std::string key = trimmed(line.substr(0, equals));
        if (equals == line.size() || equals == 0 || line[0] == '[') {
            if (line.size() > 60) line = line.substr(0, 57) + "...";
            std::replace_if(line.begin(), line.end(), [](char c) { return c >= 0 && c < 32; }, '?');
            refuse("'" + line +
                   "': tables [[entry]] of lines key = value are allowed, as `tradewind tune` writes them");
        }
        key = text_of(key).value_or(key);
        if (tables.empty()) refuse(unknown_name("key", key, {"[[entry]]"}));
        std::string word = trimmed(line.substr(equals + 1));
        while (word.starts_with('[') && !word.ends_with(']')) {
            if (!next() || find_unquoted(raw, '=') != raw.size()) refuse("'" + word + "': the list is not closed");
            word += statement(raw);
        }
        for (const Line& other : tables.back().lines)
            if (other.key == key) refuse("key '" + key + "' stands twice in one entry");
        tables.back().lines.push_back({key, word, first});
    }
    return tables;
}

std::vector<std::string> problems_of(const std::string& pattern, const Method& method) {
    if (method.transport.empty() != method.native() || method.packing.empty() != method.native())
        return {"transport and packing belong to every algorithm but native, which has neither"};
    if (method.native()) return {};
    std::vector<std::string> problems;
    const auto check = [&](const std::string& what, const std::string& name, const std::vector<std::string>& known) {
        if (std::find(known.begin(), known.end(), name) == known.end())
            problems.push_back(unknown_name(what, name, known));
    };
    const AlgorithmName name = parse_algorithm(method.algorithm);
    const AlgorithmEntry* const found = find_algorithm(pattern, name);
    if (!found || found->has_radix != name.radix.has_value())
        problems.push_back(unknown_name(pattern + " algorithm", method.algorithm, algorithm_names(pattern)));
    check("transport", method.transport, names_of(schedule::transports()));
    check("packing", method.packing, names_of(schedule::packings()));
    return problems;
}

// Adds what is wrong to `problems`, each with its line; then what is returned means nothing.
TuningEntry entry_of(const Table& table, std::vector<std::pair<int, std::string>>& problems) {
    const auto note = [&](int line, const std::string& problem) { problems.emplace_back(line, problem); };
    const auto find = [&](const std::string& key) {
        return std::find_if(table.lines.begin(), table.lines.end(), [&](const Line& line) { return line.key == key; });
    };
    std::vector<std::string> patterns;
    for (const auto& [name, keys] : known_keys()) patterns.push_back(name);
    const auto named = find("pattern");
    if (named == table.lines.end()) {
        note(table.line, "key 'pattern' is missing (known: " + joined(patterns, ", ") + ")");
        return {};
    }
    const std::string pattern = text_of(named->word).value_or(named->word);
    const auto keys = known_keys().find(pattern);
    if (keys == known_keys().end()) {
        note(named->number, unknown_name("pattern", pattern, patterns));
        return {};
    }
    const std::size_t before = problems.size();
    TuningEntry entry;
    std::map<std::string, Value> values{{"transport", std::string()}, {"packing", std::string()}};
    for (const Key& key : keys->second) {
        const auto line = find(key.name);
        if (line == table.lines.end()) {
            if (!key.optional) note(table.line, "key '" + key.name + "' is missing");
            continue;
        }
        Value value;
        if (const std::string allowed = read_value(key, line->word, value); !allowed.empty())
            note(line->number, key.name + " = " + line->word + ": " + allowed);
        values[key.name] = value;
    }
    const auto known = names_of(keys->second);
    for (const Line& line : table.lines)
        if (std::find(known.begin(), known.end(), line.key) == known.end())
            note(line.number, unknown_name("key", line.key, known));
    if (problems.size() > before) return {};
    values.emplace("memory", private_memory);  // in files of earlier versions
    for (const Key& key : keys->second)
        if (key.asked) entry.request.emplace_back(key.name, values.at(key.name));
    std::sort(entry.request.begin(), entry.request.end());
    const auto text = [&](const char* key) { return std::get<std::string>(values.at(key)); };
    entry.host = {text("cpu"), text("mpi"), std::get<Index>(values.at("ranks_per_node"))};
    entry.method = {text("algorithm"), text("transport"), text("packing")};
    entry.date = std::get<Index>(values.at("date"));
    entry.text = trimmed(table.text);
    for (const std::string& problem : problems_of(pattern, entry.method)) note(table.line, problem);
    return entry;
}

}  // namespace

std::vector<TuningEntry> read_tuning(const std::string& text, const std::string& path) {
    constexpr std::size_t maximum = 40;
    std::vector<TuningEntry> entries;
    std::vector<std::string> all;
    for (const Table& table : read_tables(text, path)) {
        std::vector<std::pair<int, std::string>> problems;
        entries.push_back(entry_of(table, problems));
        for (const auto& [line, problem] : problems)
            all.push_back(path + ":" + std::to_string(line) + ": entry " + std::to_string(entries.size()) + ": " +
                          problem);
    }
    if (all.empty()) return entries;
    const std::size_t more = all.size() - std::min(all.size(), maximum);
    all.resize(all.size() - more);
    if (more > 0) all.push_back(path + ": and " + std::to_string(more) + " mistakes more");
    throw InputError(joined(all, "\n"));
}

}  // namespace tradewind::algorithm
