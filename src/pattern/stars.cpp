#include "pattern/stars.hpp"

#include <algorithm>

namespace tradewind::pattern {

namespace {

struct Overlap {
    Index before, after, points;
};

// Ascending by part before, then by part after.
std::vector<Overlap> overlaps_of(const layout::Parts& before, const layout::Parts& after) {
    const auto first = before.ordered(), second = after.ordered();
    std::vector<Overlap> all;
    for (std::size_t i = 0, j = 0; i < first.size() && j < second.size();) {
        const Index begin = std::max(first[i].run.begin, second[j].run.begin);
        const Index end = std::min(first[i].run.end, second[j].run.end);
        all.push_back({first[i].part, second[j].part, end - begin});
        const bool next = first[i].run.end == end;
        if (second[j].run.end == end) ++j;
        if (next) ++i;
    }
    const auto order = [](const Overlap& a, const Overlap& b) {
        return a.before != b.before ? a.before < b.before : a.after < b.after;
    };
    if (!std::is_sorted(all.begin(), all.end(), order)) std::stable_sort(all.begin(), all.end(), order);
    std::size_t kept = 0;
    for (const Overlap& next : all)
        if (kept > 0 && all[kept - 1].before == next.before && all[kept - 1].after == next.after)
            all[kept - 1].points += next.points;
        else
            all[kept++] = next;
    all.resize(kept);
    return all;
}

Index largest_of(const std::vector<Overlap>& all, Index parts, Index Overlap::* side) {
    std::vector<std::int32_t> counts(static_cast<std::size_t>(parts), 0);
    std::int32_t maximum = 0;
    for (const Overlap& each : all) maximum = std::max(maximum, ++counts[static_cast<std::size_t>(each.*side)]);
    return maximum;
}

// The first overlap of each leaf that is left; the others stay.
Stars take_stars(std::vector<Overlap>& left, bool gathers, Index leaves, Index centres) {
    const auto leaf_of = gathers ? &Overlap::before : &Overlap::after;
    const auto centre_of = gathers ? &Overlap::after : &Overlap::before;
    Stars stars;
    stars.gathers = gathers;
    stars.leaves.resize(static_cast<std::size_t>(leaves));
    stars.begins.assign(static_cast<std::size_t>(centres) + 1, 0);
    std::erase_if(left, [&](const Overlap& each) {
        Stars::Leaf& leaf = stars.leaves[static_cast<std::size_t>(each.*leaf_of)];
        if (leaf.centre >= 0) return false;
        std::int32_t& count = stars.begins[static_cast<std::size_t>(each.*centre_of) + 1];
        leaf = {static_cast<std::int32_t>(each.*centre_of), 0, each.points};
        ++count;
        return true;
    });
    for (const std::int32_t count : stars.begins) stars.widest = std::max<Index>(stars.widest, count);
    for (std::size_t c = 1; c < stars.begins.size(); ++c) stars.begins[c] += stars.begins[c - 1];
    stars.members.resize(static_cast<std::size_t>(stars.begins.back()));
    std::vector<std::int32_t> next = stars.begins;
    for (std::size_t i = 0; i < stars.leaves.size(); ++i)
        if (Stars::Leaf& leaf = stars.leaves[i]; leaf.centre >= 0) {
            const auto c = static_cast<std::size_t>(leaf.centre);
            leaf.place = next[c] - stars.begins[c];
            stars.members[static_cast<std::size_t>(next[c]++)] = static_cast<std::int32_t>(i);
        }
    return stars;
}

}  // namespace

std::vector<Stars> stars_of(const layout::Parts& before, const layout::Parts& after) {
    std::vector<Overlap> left = overlaps_of(before, after);
    std::vector<Stars> all;
    while (!left.empty()) {
        const Index gives = largest_of(left, before.parts(), &Overlap::before);
        const Index takes = largest_of(left, after.parts(), &Overlap::after);
        const bool gathers = gives <= 1 || (takes > 1 && takes >= gives);
        all.push_back(gathers ? take_stars(left, true, before.parts(), after.parts())
                              : take_stars(left, false, after.parts(), before.parts()));
    }
    return all;
}

}  // namespace tradewind::pattern
