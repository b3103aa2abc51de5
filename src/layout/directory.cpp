#include "layout/directory.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tradewind::layout {

namespace {

constexpr std::uint64_t sparse = 32;  // ids for each that is there: beyond, steps would take most of the memory

}  // namespace

void Directory::add(Rank rank, std::span<const Index> ids) {
    // No reserve for just these: of many ranks, each would copy those before it.
    for (std::size_t i = 0; i < ids.size(); ++i) add(ids[i], {rank, static_cast<Index>(i)});
}

std::string Directory::finish() {
    points_ = ids_.size();
    owners_.emplace_back();
    if (points_ == 0) return "";
    const auto [minimum, maximum] = std::minmax_element(ids_.begin(), ids_.end());
    if (*minimum < 0)
        return "rank " + std::to_string(owners_[static_cast<std::size_t>(minimum - ids_.begin())].rank()) +
               " owns point " + std::to_string(*minimum) + ": 0 and more are allowed";
    if (last_ >= OwnerWord::points_per_rank)
        return "a rank owns " + std::to_string(last_ + 1) + " points with ids: up to " +
               std::to_string(OwnerWord::points_per_rank) + " are allowed";
    first_ = static_cast<std::uint64_t>(*minimum);
    span_ = static_cast<std::uint64_t>(*maximum) - first_ + 1;
    if (span_ / sparse < points_ && count()) return "";
    const std::string problem = sort();
    if (problem.empty()) shelve();
    return problem;
}

// False, and nothing done, where an id is there twice.
bool Directory::count() {
    steps_.assign(span_, absent);
    bool twice = false;
    for (const Index id : ids_) {
        std::uint8_t& step = steps_[static_cast<std::uint64_t>(id) - first_];
        twice |= step == 0;
        step = 0;
    }
    if (twice) {
        steps_.clear();
        return false;
    }
    before_.clear();
    std::size_t before = 0;
    for (std::size_t i = 0; i < span_; ++i) {
        if (i % ids_together == 0) before_.push_back(before);
        if (steps_[i] != absent) steps_[i] = static_cast<std::uint8_t>(before++ - before_.back());
    }
    std::vector<OwnerWord> by_id(owners_.size());
    for (std::size_t i = 0; i < points_; ++i) by_id[place_of(ids_[i])] = owners_[i];
    owners_ = std::move(by_id);
    ids_ = {};
    return true;
}

std::string Directory::sort() {
    if (!std::is_sorted(ids_.begin(), ids_.end())) {
        std::vector<std::pair<Index, OwnerWord>> entries(points_);
        for (std::size_t i = 0; i < points_; ++i) entries[i] = {ids_[i], owners_[i]};
        std::stable_sort(entries.begin(), entries.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (std::size_t i = 0; i < points_; ++i) std::tie(ids_[i], owners_[i]) = entries[i];
    }
    const auto twin = std::adjacent_find(ids_.begin(), ids_.end());
    if (twin == ids_.end()) return "";
    const auto place = static_cast<std::size_t>(twin - ids_.begin());
    const auto by = [&](const OwnerWord& owner) {
        return "by rank " + std::to_string(owner.rank()) + " (its point " + std::to_string(owner.index()) + ")";
    };
    return "point " + std::to_string(*twin) + " is owned twice: " + by(owners_[place]) + " and " +
           by(owners_[place + 1]);
}

// As many shelves as ids at least, and at most twice as many and one.
void Directory::shelve() {
    while (span_ >> shift_ >= 2 * points_) ++shift_;
    shelves_.assign((span_ >> shift_) + 2, points_);
    for (std::size_t i = points_; i-- > 0;) shelves_[(static_cast<std::uint64_t>(ids_[i]) - first_) >> shift_] = i;
    for (std::size_t s = shelves_.size() - 1; s-- > 0;) shelves_[s] = std::min(shelves_[s], shelves_[s + 1]);
}

std::size_t Directory::place_on_shelf(Index id) const {
    const std::size_t* const shelf = &shelves_[(static_cast<std::uint64_t>(id) - first_) >> shift_];
    const auto begin = ids_.begin() + static_cast<std::ptrdiff_t>(shelf[0]);
    const auto end = ids_.begin() + static_cast<std::ptrdiff_t>(shelf[1]);
    const auto at = std::lower_bound(begin, end, id);
    return at == end || *at != id ? points_ : static_cast<std::size_t>(at - ids_.begin());
}

}  // namespace tradewind::layout
