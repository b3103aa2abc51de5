#include "base/text.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tradewind {

namespace {

// Levenshtein distance; a name that goes on as another ends is near to it.
std::size_t distance(const std::string& a, const std::string& b) {
    if (!a.empty() && b.starts_with(a)) return 1;
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t changed = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

}  // namespace

std::string trimmed(const std::string& text) {
    const char* const blank = " \t\r\n";
    const std::size_t first = text.find_first_not_of(blank);
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::string joined(const std::vector<std::string>& texts, const std::string& between) {
    std::string all;
    for (const std::string& each : texts) all += (&each == &texts.front() ? "" : between) + each;
    return all;
}

std::string unknown_name(const std::string& what, const std::string& name, const std::vector<std::string>& known) {
    const std::string* nearest = nullptr;
    std::size_t minimum = std::max<std::size_t>(2, std::min<std::size_t>(name.size(), 40) / 2) + 1;
    for (const std::string& each : known) {
        const std::size_t found = name.size() > 200 ? minimum : distance(name, each);
        if (found >= std::min(minimum, std::max(name.size(), each.size()))) continue;  // nor with all letters changed
        minimum = found;
        nearest = &each;
    }
    if (known.empty()) return "unknown " + what + " '" + name + "'; there is none";
    return "unknown " + what + " '" + name + "'" + (nearest ? "; did you mean '" + *nearest + "'?" : "") +
           " (known: " + joined(known, ", ") + ")";
}

}  // namespace tradewind
