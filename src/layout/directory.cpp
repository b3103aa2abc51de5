#include "layout/directory.hpp"

#include <algorithm>
#include <iterator>

namespace tradewind::layout {

namespace {

constexpr std::uint64_t sparse = 64;  // ids for each that is there: beyond, there would be more marks than entries

}  // namespace

void Directory::add(Rank rank, std::span<const Index> ids) {
    // No reserve for just these: of many ranks, each would copy those before it.
    for (std::size_t i = 0; i < ids.size(); ++i) entries_.push_back({ids[i], {rank, static_cast<Index>(i)}});
}

std::string Directory::finish() {
    points_ = entries_.size();
    entries_.push_back({-1, {-1, -1}});
    if (points_ == 0) return "";
    const auto [minimum, maximum] = std::minmax_element(entries_.begin(), std::prev(entries_.end()),
                                                        [](const Entry& a, const Entry& b) { return a.id < b.id; });
    if (minimum->id < 0)
        return "rank " + std::to_string(minimum->owner.rank) + " owns point " + std::to_string(minimum->id) +
               ": 0 and more are allowed";
    first_ = static_cast<std::uint64_t>(minimum->id);
    span_ = static_cast<std::uint64_t>(maximum->id) - first_ + 1;
    if (span_ / sparse < points_ && mark()) return "";
    const std::string problem = sort();
    if (problem.empty()) shelve();
    return problem;
}

// False, and nothing done, where an id is there twice.
bool Directory::mark() {
    marks_.assign((span_ + 63) / 64, {});
    const auto beyond = [&](std::size_t i) { return static_cast<std::uint64_t>(entries_[i].id) - first_; };
    std::uint64_t twice = 0;
    for (std::size_t i = 0; i < points_; ++i) {
        std::uint64_t& bits = marks_[beyond(i) / 64].bits;
        const std::uint64_t bit = std::uint64_t{1} << beyond(i) % 64;
        twice |= bits & bit;
        bits |= bit;
    }
    if (twice != 0) {
        marks_.clear();
        return false;
    }
    std::size_t before = 0;
    for (Mark& mark : marks_) {
        mark.before = before;
        before += static_cast<std::size_t>(std::popcount(mark.bits));
    }
    std::vector<Entry> by_id(entries_.size());
    for (std::size_t i = 0; i < points_; ++i) by_id[place_of(entries_[i].id)] = entries_[i];
    by_id.back() = entries_.back();
    entries_ = std::move(by_id);
    return true;
}

std::string Directory::sort() {
    const auto end = std::prev(entries_.end());
    const auto before = [](const Entry& a, const Entry& b) { return a.id < b.id; };
    if (!std::is_sorted(entries_.begin(), end, before)) std::stable_sort(entries_.begin(), end, before);
    const auto twin =
        std::adjacent_find(entries_.begin(), end, [](const Entry& a, const Entry& b) { return a.id == b.id; });
    if (twin == end) return "";
    const Owner &a = twin->owner, &b = std::next(twin)->owner;
    return "point " + std::to_string(twin->id) + " is owned twice: by rank " + std::to_string(a.rank) + " (its point " +
           std::to_string(a.index) + ") and by rank " + std::to_string(b.rank) + " (its point " +
           std::to_string(b.index) + ")";
}

// As many shelves as entries at least, and at most twice as many and one.
void Directory::shelve() {
    while (span_ >> shift_ >= 2 * points_) ++shift_;
    shelves_.assign((span_ >> shift_) + 2, points_);
    for (std::size_t i = points_; i-- > 0;)
        shelves_[(static_cast<std::uint64_t>(entries_[i].id) - first_) >> shift_] = i;
    for (std::size_t s = shelves_.size() - 1; s-- > 0;) shelves_[s] = std::min(shelves_[s], shelves_[s + 1]);
}

std::size_t Directory::place_on_shelf(Index id) const {
    const std::size_t* const shelf = &shelves_[(static_cast<std::uint64_t>(id) - first_) >> shift_];
    const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(shelf[0]);
    const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(shelf[1]);
    const auto at =
        std::lower_bound(begin, end, id, [](const Entry& entry, Index wanted) { return entry.id < wanted; });
    return at == end || at->id != id ? points_ : static_cast<std::size_t>(at - entries_.begin());
}

}  // namespace tradewind::layout
