// Tables of a TOML file: what programs write in lists of records, each value with its line.
#pragma once

#include <string>
#include <vector>

#include "base/toml_value.hpp"

namespace tradewind {

struct TomlEntry {
    std::string key;
    TomlValue value;
    std::string text;  // as it stands in the file
    int line;
};
struct TomlTable {
    int line;
    std::vector<TomlEntry> entries;
    const TomlEntry* find(const std::string& key) const;
};

// The tables [[name]] of a text, in order: "key = value" lines, of text on one line, whole and real numbers, true and
// false, times with their distance to UTC, and lists of whole numbers. Throws InputError, with `path` and line, for
// what is no TOML, and for the rest of TOML, which is not read here.
std::vector<TomlTable> read_tables(const std::string& text, const std::string& path, const std::string& name);

}  // namespace tradewind
