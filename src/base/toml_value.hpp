// Values of a TOML file, and how its numbers and times are written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tradewind {

// A time with its distance to UTC, as seconds since 1970.
struct TomlTime {
    double seconds = 0;
    friend bool operator==(const TomlTime&, const TomlTime&) = default;
};
using TomlList = std::vector<std::int64_t>;
using TomlValue = std::variant<std::string, std::int64_t, double, bool, TomlTime, TomlList>;

inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// The value of a word: a whole or real number as TOML writes it; nothing for other words, or one that does not fit.
std::optional<TomlValue> parse_toml_number(const std::string& word);
// "2025-01-31T12:00:00.5+01:00"; nothing for what is none, and without a distance to UTC.
std::optional<TomlTime> parse_toml_time(const std::string& word);

}  // namespace tradewind
