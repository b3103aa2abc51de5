#include "base/toml_value.hpp"

#include <charconv>
#include <limits>

namespace tradewind {

namespace {

// Days from 1970-01-01 in the Gregorian calendar.
std::int64_t days_since_1970(std::int64_t year, std::int64_t month, std::int64_t day) {
    const std::int64_t y = month <= 2 ? year - 1 : year, m = month <= 2 ? month + 9 : month - 3;  // years from March on
    const std::int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - 400 * era;
    return 146097 * era + 365 * of_era + of_era / 4 - of_era / 100 + (153 * m + 2) / 5 + day - 1 - 719468;
}

std::int64_t days_of_month(std::int64_t year, std::int64_t month) {
    const std::int64_t next = month == 12 ? days_since_1970(year + 1, 1, 1) : days_since_1970(year, month + 1, 1);
    return next - days_since_1970(year, month, 1);
}

// Digits with single underscores between them, as TOML writes numbers, without the underscores; nothing otherwise.
std::optional<std::string> plain_number(const std::string& word) {
    std::string plain;
    for (std::size_t i = 0; i < word.size(); ++i) {
        if (word[i] != '_') {
            plain += word[i];
        } else if (i == 0 || i + 1 == word.size() || !is_digit(word[i - 1]) || !is_digit(word[i + 1])) {
            return {};
        }
    }
    return plain;
}

}  // namespace

std::optional<TomlValue> parse_toml_number(const std::string& word) {
    auto plain = plain_number(word);
    if (!plain) return {};
    const bool signed_ = !plain->empty() && ((*plain)[0] == '+' || (*plain)[0] == '-');
    const std::string digits = plain->substr(signed_ ? 1 : 0);
    const double sign = (*plain)[0] == '-' ? -1 : 1;
    if (digits == "inf") return sign * std::numeric_limits<double>::infinity();
    if (digits == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (digits.empty() || !is_digit(digits[0]) || !is_digit(digits.back())) return {};
    if (digits.size() > 1 && digits[0] == '0' && is_digit(digits[1])) return {};  // 007
    if (const std::size_t dot = digits.find('.'); dot != std::string::npos && !is_digit(digits[dot + 1])) return {};
    const std::string unsigned_plus = (*plain)[0] == '+' ? digits : *plain;
    const char *begin = unsigned_plus.data(), *end = begin + unsigned_plus.size();
    if (digits.find_first_of(".eE") == std::string::npos) {
        std::int64_t whole = 0;
        const auto [rest, problem] = std::from_chars(begin, end, whole);
        return problem == std::errc() && rest == end ? std::optional<TomlValue>(whole) : std::nullopt;
    }
    double real = 0;
    const auto [rest, problem] = std::from_chars(begin, end, real);
    return problem == std::errc() && rest == end ? std::optional<TomlValue>(real) : std::nullopt;
}

std::optional<TomlTime> parse_toml_time(const std::string& word) {
    std::size_t at = 0;
    const auto number = [&](std::size_t digits, std::int64_t minimum,
                            std::int64_t maximum) -> std::optional<std::int64_t> {
        std::int64_t value = 0;
        for (std::size_t i = 0; i < digits; ++i, ++at) {
            if (at >= word.size() || !is_digit(word[at])) return {};
            value = 10 * value + (word[at] - '0');
        }
        return value < minimum || value > maximum ? std::nullopt : std::optional(value);
    };
    const auto one_of = [&](const std::string& allowed) {
        return at < word.size() && allowed.find(word[at++]) != std::string::npos;
    };
    const auto year = number(4, 1, 9999);
    if (!year || !one_of("-")) return {};
    const auto month = number(2, 1, 12);
    if (!month || !one_of("-")) return {};
    const auto day = number(2, 1, days_of_month(*year, *month));
    if (!day || !one_of("Tt ")) return {};
    const auto hour = number(2, 0, 23);
    if (!hour || !one_of(":")) return {};
    const auto minute = number(2, 0, 59);
    if (!minute || !one_of(":")) return {};
    const auto second = number(2, 0, 59);
    if (!second) return {};
    double fraction = 0;
    if (at < word.size() && word[at] == '.') {
        const std::size_t begin = ++at;
        for (double unit = 0.1; at < word.size() && is_digit(word[at]); ++at, unit /= 10)
            fraction += unit * (word[at] - '0');
        if (at == begin) return {};
    }
    std::int64_t ahead = 0;  // minutes before UTC
    if (at < word.size() && (word[at] == 'Z' || word[at] == 'z')) {
        ++at;
    } else {
        if (!one_of("+-")) return {};
        const int sign = word[at - 1] == '-' ? -1 : 1;
        const auto hours = number(2, 0, 23);
        if (!hours || !one_of(":")) return {};
        const auto minutes = number(2, 0, 59);
        if (!minutes) return {};
        ahead = sign * (60 * *hours + *minutes);
    }
    if (at != word.size()) return {};
    const std::int64_t whole =
        86400 * days_since_1970(*year, *month, *day) + 3600 * *hour + 60 * (*minute - ahead) + *second;
    return TomlTime{static_cast<double>(whole) + fraction};
}

}  // namespace tradewind
