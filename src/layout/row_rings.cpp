#include "layout/row_rings.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace tradewind::layout {

RowRings::RowRings(std::vector<Index> lengths) : lengths_(std::move(lengths)), first_{0} {
    for (const Index length : lengths_) {
        if (length < 1) throw InputError("a row of " + std::to_string(length) + " points: 1 or more are allowed");
        first_.push_back(first_.back() + length);
    }
    seen_.resize(static_cast<std::size_t>(first_.back()));
}

RowRings::Point RowRings::at(Index point) const {
    if (point < 0 || point >= first_.back())
        throw InputError("point " + std::to_string(point) + ": 0.." + std::to_string(first_.back() - 1) +
                         " are allowed");
    const auto row = std::upper_bound(first_.begin(), first_.end(), point) - first_.begin() - 1;
    return {row, point - first_[static_cast<std::size_t>(row)]};
}

std::vector<Index> RowRings::around(std::span<const Index> own, Index width) {
    std::vector<Point> ring, next;
    for (const Index point : own) ring.push_back(at(point));
    for (const Index point : own) seen_[static_cast<std::size_t>(point)] = 1;
    std::vector<Index> found;
    const auto reach = [&](std::size_t row, Index place) {
        const Index point = first_[row] + place;
        if (seen_[static_cast<std::size_t>(point)]) return;
        seen_[static_cast<std::size_t>(point)] = 1;
        found.push_back(point);
        next.push_back({static_cast<Index>(row), place});
    };
    for (Index step = 0; step < width && !ring.empty(); ++step) {
        next.clear();
        for (const Point& point : ring) {
            const auto row = static_cast<std::size_t>(point.row);
            const Index length = lengths_[row];
            reach(row, point.place + 1 < length ? point.place + 1 : 0);
            reach(row, point.place > 0 ? point.place - 1 : length - 1);
            const auto other = [&](std::size_t there) {
                const Index n = lengths_[there], west = point.place * n / length;
                reach(there, west);
                reach(there, west + 1 < n ? west + 1 : 0);
            };
            if (row > 0) other(row - 1);
            if (row + 1 < lengths_.size()) other(row + 1);
        }
        ring.swap(next);
    }
    for (const Index point : own) seen_[static_cast<std::size_t>(point)] = 0;
    for (const Index point : found) seen_[static_cast<std::size_t>(point)] = 0;
    std::sort(found.begin(), found.end());
    found.shrink_to_fit();  // kept for all ranks at once
    return found;
}

}  // namespace tradewind::layout
