#include "spectral/grid.hpp"

#include <algorithm>
#include <cctype>
#include <numbers>

#include "base/error.hpp"

namespace tradewind::spectral {

namespace {

constexpr Index most = 16384;        // latitudes of a hemisphere
constexpr Index longest = 8 * most;  // row, points

std::vector<Index> checked(std::vector<Index> rows) {
    const auto count = static_cast<Index>(rows.size());
    const bool symmetric = std::equal(rows.begin(), rows.end(), rows.rbegin());
    if (count == 0 || count % 2 || count > 2 * most || !symmetric || *std::min_element(rows.begin(), rows.end()) < 2 ||
        *std::max_element(rows.begin(), rows.end()) > longest)
        throw InputError("rows of a Gaussian grid: an even number of them, up to " + std::to_string(2 * most) +
                         ", of 2 to " + std::to_string(longest) + " points and alike in both hemispheres, is allowed");
    return rows;
}

std::vector<Index> rows_of(const std::string& name) {
    const std::string digits = name.empty() ? "" : name.substr(1);
    const bool number = !digits.empty() && digits.size() <= 5 && digits[0] != '0' &&
                        std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); });
    const Index half = number ? std::stol(digits) : 0;
    if (half < 1 || half > most || (name[0] != 'O' && name[0] != 'F'))
        throw InputError("unknown grid \"" + name + "\": O1..O" + std::to_string(most) + " (octahedral) and F1..F" +
                         std::to_string(most) + " (full Gaussian) are allowed; for others give the points of each row");
    std::vector<Index> rows;
    for (Index i = 0; i < 2 * half; ++i)
        rows.push_back(name[0] == 'O' ? 20 + 4 * std::min(i, 2 * half - 1 - i) : 4 * half);
    return rows;
}

}  // namespace

GaussianGrid::GaussianGrid(std::vector<Index> rows)
    : rows_(checked(std::move(rows))),
      name_("reduced Gaussian grid of " + std::to_string(rows_.size()) + " rows"),
      gaussian_(kernel::gaussian_latitudes(static_cast<Index>(rows_.size()) / 2)) {
    first_.push_back(0);
    for (const Index row : rows_) first_.push_back(first_.back() + row);
}

GaussianGrid::GaussianGrid(const std::string& name) : GaussianGrid(rows_of(name)) {
    name_ = name;
}

bool GaussianGrid::is_full() const {
    return std::all_of(rows_.begin(), rows_.end(), [this](Index row) { return row == rows_[0]; });
}

std::size_t GaussianGrid::north_of(Index row) const {
    return static_cast<std::size_t>(std::min(row, 2 * half() - 1 - row));
}

double GaussianGrid::latitude(Index row) const {
    const long double north = 90 - gaussian_.colatitude[north_of(row)] * 180 / std::numbers::pi_v<long double>;
    return static_cast<double>(row < half() ? north : -north);
}

double GaussianGrid::cosine(Index row) const {
    return static_cast<double>(gaussian_.sine[north_of(row)]);
}

double GaussianGrid::weight(Index row) const {
    return gaussian_.weight[north_of(row)];
}

}  // namespace tradewind::spectral
