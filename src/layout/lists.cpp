#include "layout/lists.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tradewind::layout {

namespace {

Index count_of(const std::vector<std::vector<Index>>& ids) {
    Index count = 0;
    for (const auto& own : ids) count += static_cast<Index>(own.size());
    if (count == 0) throw InputError("lists of " + std::to_string(ids.size()) + " ranks hold no points");
    return count;
}

}  // namespace

Lists::Lists(std::vector<std::vector<Index>> ids) : ids_(std::move(ids)), grid_(count_of(ids_), 1, 1) {
    const Index count = grid_.volume();
    for (std::size_t r = 0; r < ids_.size(); ++r) {
        for (const Index id : ids_[r])
            if (id >= count)
                throw InputError("rank " + std::to_string(r) + " owns point " + std::to_string(id) + " of " +
                                 std::to_string(count) + ": each of 0.." + std::to_string(count - 1) +
                                 " has one owner");
        directory_.add(static_cast<Rank>(r), ids_[r]);
    }
    if (const std::string problem = directory_.finish(); !problem.empty()) throw InputError(problem);
}

std::string Lists::describe() const {
    return "lists of " + std::to_string(grid_.volume()) + " points on " + std::to_string(ids_.size()) + " ranks";
}

std::vector<Box> Lists::boxes(Rank rank) const {
    std::vector<Box> boxes;
    for (const Index id : ids(rank)) {
        if (!boxes.empty() && boxes.back().end[X] == id)
            ++boxes.back().end[X];
        else
            boxes.push_back({{id, 0, 0}, {id + 1, 1, 1}});
    }
    return boxes;
}

Rank Lists::owner(const std::array<Index, 3>& point) const {
    Rank found = -1;
    directory_.find_each(std::span(&point[X], 1), [&](std::size_t, OwnerWord owner) { found = owner.rank(); });
    return found;
}

}  // namespace tradewind::layout
