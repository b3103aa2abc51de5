// Tables of a TOML file: what was written is read, and what is refused has its line.
#include "base/toml.hpp"

#include <cmath>
#include <limits>
#include <set>

#include "base/error.hpp"
#include "testing/testing.hpp"

namespace testing::base_toml {

using namespace tradewind;

constexpr auto highest = std::numeric_limits<std::int64_t>::max(), lowest = std::numeric_limits<std::int64_t>::min();

// As UTF-8; in a file some characters are escaped, as TOML wants it of quotes, backslashes and control characters.
std::string encoded(char32_t c, bool escapes) {
    char text[16];
    if (escapes && (c < 32 || c == 127 || c == '"' || c == '\\')) {
        std::snprintf(text, sizeof text, "\\u%04x", static_cast<unsigned>(c));
        return text;
    }
    if (escapes && c > 0xffff && c % 2 == 0) {
        std::snprintf(text, sizeof text, "\\U%08X", static_cast<unsigned>(c));
        return text;
    }
    std::string bytes;
    const auto add = [&](char32_t byte) { bytes += static_cast<char>(byte); };
    if (c < 0x80) {
        add(c);
    } else if (c < 0x800) {
        add(0xc0 | c >> 6), add(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        add(0xe0 | c >> 12), add(0x80 | (c >> 6 & 0x3f)), add(0x80 | (c & 0x3f));
    } else {
        add(0xf0 | c >> 18), add(0x80 | (c >> 12 & 0x3f)), add(0x80 | (c >> 6 & 0x3f)), add(0x80 | (c & 0x3f));
    }
    return bytes;
}

struct Written {
    TomlValue value;
    std::string text;
};

std::int64_t draw_integer(Draw& draw) {
    switch (draw.integer(0, 3)) {
        case 0: return draw.integer(-100, 100);
        case 1: return highest - draw.integer(0, 2);
        case 2: return lowest + draw.integer(0, 2);
        default: return draw.integer(lowest, highest);
    }
}

Written draw_value(Draw& draw) {
    switch (draw.integer(0, 5)) {
        case 0: {
            const auto value = draw_integer(draw);
            return {value, std::to_string(value)};
        }
        case 1: {
            const auto value = std::ldexp(draw.real(-1, 1), static_cast<int>(draw.integer(-1070, 1023)));
            char text[64];
            std::snprintf(text, sizeof text, draw.boolean() ? "%.17e" : "%.17E", value);
            return {value, text};
        }
        case 2: {
            const bool value = draw.boolean();
            return {value, value ? "true" : "false"};
        }
        case 3: {
            TomlList value;
            std::string text = "[ ";
            for (auto left = draw.integer(0, 5); left > 0; --left) {
                value.push_back(draw_integer(draw));
                text += std::to_string(value.back()) + (left > 1 || draw.boolean() ? ", " : "");
            }
            return {value, text + "]"};
        }
        case 4: {  // a day of a year is counted from the lengths of years and months
            const int year = static_cast<int>(draw.integer(1970, 2100)), month = static_cast<int>(draw.integer(1, 12));
            const auto leap = [](int y) { return y % 4 == 0 && (y % 100 != 0 || y % 400 == 0); };
            const auto days_of = [&](int m) { return m == 2 ? 28 + leap(year) : 30 + (m < 8 ? m % 2 : 1 - m % 2); };
            const int day = static_cast<int>(draw.integer(1, days_of(month)));
            std::int64_t days = day - 1;
            for (int y = 1970; y < year; ++y) days += 365 + leap(y);
            for (int m = 1; m < month; ++m) days += days_of(m);
            const int hour = static_cast<int>(draw.integer(0, 23)), minute = static_cast<int>(draw.integer(0, 59)),
                      second = static_cast<int>(draw.integer(0, 59)), milli = static_cast<int>(draw.integer(0, 999)),
                      east = static_cast<int>(draw.integer(-12 * 60, 14 * 60));
            char text[64];
            std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03d%c%02d:%02d", year, month, day, hour,
                          minute, second, milli, east < 0 ? '-' : '+', std::abs(east) / 60, std::abs(east) % 60);
            const double whole = static_cast<double>(((days * 24 + hour) * 60 + minute - east) * 60 + second);
            return {TomlTime{whole + milli * 1e-3}, text};
        }
        default: {
            std::string value, text = "\"";
            for (auto left = draw.integer(0, 12); left > 0; --left) {
                auto c = static_cast<char32_t>(draw.integer(0, draw.boolean() ? 127 : 0x10ffff));
                if (c >= 0xd800 && c < 0xe000) c = U'é';  // halves of pairs are no characters
                value += encoded(c, false), text += encoded(c, true);
            }
            return {value, text + "\""};
        }
    }
}

bool same(const TomlValue& a, const TomlValue& b) {
    if (std::holds_alternative<TomlTime>(a) && std::holds_alternative<TomlTime>(b)) {
        return std::abs(std::get<TomlTime>(a).seconds - std::get<TomlTime>(b).seconds) < 1e-5;
    }
    return a == b;
}

PROPERTY("what was written is read, each value with its line and as it stands", 3000) {
    const std::string end = draw.boolean() ? "\r\n" : "\n";
    std::string text = "# made" + end + end;
    int line = 3;
    struct Entry {
        std::string key;
        Written written;
        int line;
    };
    std::vector<std::pair<int, std::vector<Entry>>> tables;
    for (auto left = draw.integer(1, 4); left > 0; --left) {
        tables.push_back({line++, {}});
        text += "[[it]]" + end;
        std::set<std::string> keys;
        for (auto entries = draw.integer(0, 6); entries > 0; --entries) {
            std::string key;
            for (auto letters = draw.integer(1, 8); letters > 0; --letters) {
                key += std::string("abcXYZ019_-")[static_cast<std::size_t>(draw.integer(0, 10))];
            }
            if (!keys.insert(key).second) continue;
            tables.back().second.push_back({key, draw_value(draw), line++});
            const auto& written = tables.back().second.back().written;
            text += (draw.boolean() ? key : '"' + key + '"') + " = " + written.text + "  # " + key + end;
        }
        text += end;
        ++line;
    }
    draw.note(text);
    const auto found = read_tables(text, "file", "it");
    CHECK_EQUAL(found.size(), tables.size());
    for (std::size_t i = 0; i < tables.size(); ++i) {
        CHECK_EQUAL(found[i].line, tables[i].first);
        CHECK_EQUAL(found[i].entries.size(), tables[i].second.size());
        for (std::size_t k = 0; k < found[i].entries.size(); ++k) {
            const auto &one = found[i].entries[k], *named = found[i].find(one.key);
            const auto& other = tables[i].second[k];
            CHECK_EQUAL(one.key, other.key);
            CHECK_EQUAL(one.line, other.line);
            CHECK_EQUAL(one.text, other.written.text);
            CHECK(same(one.value, other.written.value));
            CHECK(named == &one);
        }
    }
}

TEST("other ways to write values") {
    const std::vector<std::pair<std::string, TomlValue>> cases{
        {"1_000", std::int64_t{1000}},
        {"-0", std::int64_t{0}},
        {"+7", std::int64_t{7}},
        {"1e3", 1000.0},
        {"6.02_2e+23", 6.022e23},
        {"'raw \\ text'", std::string("raw \\ text")},
        {"\"\\u00e9\\U0001F30A\\t\"", std::string("é🌊\t")},
        {"[]", TomlList{}},
        {"[1,\n 2, # two\n]", TomlList{1, 2}},
        {"2025-01-31T12:00:00Z", TomlTime{1738324800}},
        {"2025-01-31 12:00:00.25+01:00", TomlTime{1738321200.25}},
        {"2000-03-01T00:00:00+00:00", TomlTime{(30 * 365 + 7 + 31 + 29) * 86400.0}},
    };
    for (const auto& [text, value] : cases) {
        const auto found = read_tables("[[it]]\na = " + text + "\n'b c' = 1\n", "file", "it");
        CHECK(found.at(0).entries.size() == 2 && found[0].entries[0].value == value);
        CHECK_EQUAL(found[0].entries[1].key, "b c");
    }
}

TEST("what is refused has its line") {
    for (const auto& [text, words] : std::vector<std::array<std::string, 2>>{
             {"a = 1\n", "file:1: unknown key 'a' (known: [[it]])"},
             {"[[it]]\na = 1\na = 2\n", "file:3: not TOML: key 'a' stands twice"},
             {"[[it]]\n\na\n", "file:3: not TOML: no = behind the key 'a'"},
             {"[[it]]\n= 1\n", "file:2: not TOML: a key is missing"},
             {"[[it]\n", "file:1: not TOML: [[it]] is not closed"},
             {"[it]\n", "file:1: [it]: C, C++ and Fortran read tables [[it]]"},
             {"[[other]]\n", "file:1: [other]: C, C++ and Fortran read"},
             {"[[it]]\na.b = 1\n", "file:2: a key with a dot"},
             {"[[it]]\na = { b = 1 }\n", "file:2: a table within a line"},
             {"[[it]]\na = 0x1F\n", "file:2: the value 0x1F"},
             {"[[it]]\na = 1 2\n", "file:2: not TOML: something behind the end"},
             {"[[it]]\na = 9223372036854775808\n", "file:2: "},
             {"[[it]]\na = \"b\n", "file:2: not TOML"},
             {"[[it]]\na = 2025-13-01T00:00:00Z\n", "file:2: "},
         }) {
        CHECK_THROWS(InputError, {words}, read_tables(text, "file", "it"));
    }
}

}  // namespace testing::base_toml
