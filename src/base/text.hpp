// Texts of settings and errors.
#pragma once

#include <string>
#include <vector>

namespace tradewind {

// Without the blanks at its ends.
std::string trimmed(const std::string& text);
std::string joined(const std::vector<std::string>& texts, const std::string& between);

// The names of entries of a table.
template <typename Entries>
std::vector<std::string> names_of(const Entries& entries) {
    std::vector<std::string> names;
    for (const auto& entry : entries) names.push_back(entry.name);
    return names;
}

// The text of an error about an unknown name, with the nearest known one, if that is near.
std::string unknown_name(const std::string& what, const std::string& name, const std::vector<std::string>& known);

}  // namespace tradewind
