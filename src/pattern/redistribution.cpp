#include "pattern/redistribution.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "pattern/transpose.hpp"

namespace tradewind::pattern {

namespace {

constexpr std::array<int, 3> axes{layout::X, layout::Y, layout::Z};

std::vector<layout::Run> common(const std::vector<layout::Run>& a, const std::vector<layout::Run>& b) {
    std::vector<layout::Run> runs;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const layout::Run both{std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
        if (both.length() > 0) runs.push_back(both);
        if (a[i].end < b[j].end)
            ++i;
        else
            ++j;
    }
    return runs;
}

}  // namespace

Redistribution::Redistribution(std::shared_ptr<const layout::Product> from, std::shared_ptr<const layout::Product> to)
    : from_(std::move(from)), to_(std::move(to)) {
    if (!(from_->grid() == to_->grid())) throw InputError("transpose: the two layouts divide different grids");
    if (from_->ranks() != to_->ranks())
        throw InputError("transpose: " + std::to_string(from_->ranks()) + " ranks before and " +
                         std::to_string(to_->ranks()) + " after; the two layouts must have the same number");
    const layout::Lines *before = from_->lines(), *after = to_->lines();
    if ((before == nullptr) != (after == nullptr) || (before && !(*before == *after)))
        throw InputError("transpose: the points of the two layouts lie in other lines");
    for (const int a : axes) stars_[static_cast<std::size_t>(a)] = stars_of(from_->parts(a), to_->parts(a));
    make_places();
    closed_ = compute_closed();
}

void Redistribution::make_places() {
    for (const Stars& x : stars_[layout::X])
        for (const Stars& y : stars_[layout::Y])
            for (const Stars& z : stars_[layout::Z]) {
                MeetingPlace at;
                at.stars = {&x, &y, &z};
                // Directions in the order of the coordinates that divide them; those that stay whole come last.
                const auto take = [&](bool gathers, const layout::Product& side, std::array<int, 3>& list,
                                      Index& size) {
                    std::size_t next = 0;
                    for (const int c : {0, 1, -1})
                        for (const int a : axes)
                            if (side.coordinate_of(a) == c &&
                                at.stars[static_cast<std::size_t>(a)]->gathers == gathers) {
                                list[next++] = a;
                                size *= at.stars[static_cast<std::size_t>(a)]->widest;
                            }
                };
                take(true, *from_, at.gathering, at.senders);
                take(false, *to_, at.dealing, at.receivers);
                places_.push_back(at);
            }
}

// Each coordinate divides one direction before, all of which comes together after, and another one after; or nothing
// changes along it.
bool Redistribution::compute_closed() const {
    if (places_.size() != 1 || from_->split() != to_->split() || from_->first() != to_->first()) return false;
    const auto& split = from_->split();
    if (split[0] * split[1] != from_->ranks()) return false;
    const MeetingPlace& at = places_[0];
    if (at.senders != at.receivers) return false;
    for (const int c : {0, 1}) {
        if (split[static_cast<std::size_t>(c)] == 1) continue;
        int before = -1, after = -1;
        for (const int a : axes) {
            if (from_->coordinate_of(a) == c) before = a;
            if (to_->coordinate_of(a) == c) after = a;
        }
        const auto star = [&](int a, bool gathers) {
            const Stars& stars = *at.stars[static_cast<std::size_t>(a)];
            return stars.gathers == gathers && stars.widest == split[static_cast<std::size_t>(c)];
        };
        const auto alike = [&](int a) {
            const Stars& stars = *at.stars[static_cast<std::size_t>(a)];
            if (stars.widest != 1) return false;
            for (std::size_t i = 0; i < stars.leaves.size(); ++i)
                if (stars.leaves[i].centre != static_cast<std::int32_t>(i)) return false;
            return true;
        };
        if (before == after ? !alike(before) : !star(before, true) || !star(after, false)) return false;
        const auto divided = [&](const layout::Product& layout, int a) {
            const int by = layout.coordinate_of(a);
            return by >= 0 && split[static_cast<std::size_t>(by)] > 1;
        };
        if (before != after && (divided(*to_, before) || divided(*from_, after))) return false;
    }
    return true;
}

std::string Redistribution::describe() const {
    return "transposition from " + from_->name() + " to " + to_->name() + ", up to " + std::to_string(largest_place()) +
           " ranks meet";
}

Index Redistribution::rounds() const {
    Index rounds = 0;
    for (const MeetingPlace& at : places_) rounds += closed_ ? at.size() - 1 : at.size();
    return std::max<Index>(1, rounds);
}

Parameters Redistribution::parameters() const {
    return {{"grid", listed(from_->grid().points)}, {"from", from_->describe()}, {"to", to_->describe()}};
}

Index Redistribution::largest_place() const {
    Index maximum = 1;
    for (const MeetingPlace& at : places_) maximum = std::max(maximum, at.size());
    return maximum;
}

// As many points along each direction as the array, from its first one on.
layout::Box Redistribution::storage_box(const layout::Product& layout, Rank rank) {
    const layout::Patch patch = layout.patch(rank);
    layout::Box box;
    for (const int a : axes) {
        const auto d = static_cast<std::size_t>(a);
        box.begin[d] = patch.first(a);
        box.end[d] = box.begin[d] + patch.width(a);
    }
    return box;
}

std::optional<Index> Redistribution::place_of(const MeetingPlace& at, const std::array<Index, 3>& part,
                                              bool sends) const {
    Index place = 0, factor = 1;
    for (const int a : sends ? at.gathering : at.dealing)
        if (a >= 0) {
            const auto d = static_cast<std::size_t>(a);
            const Stars::Leaf& leaf = at.stars[d]->leaves[static_cast<std::size_t>(part[d])];
            if (leaf.centre < 0) return {};
            place += leaf.place * factor;
            factor *= at.stars[d]->widest;
        }
    for (const int a : sends ? at.dealing : at.gathering)
        if (a >= 0 && at.stars[static_cast<std::size_t>(a)]->size(part[static_cast<std::size_t>(a)]) == 0) return {};
    return place;
}

std::optional<Index> Redistribution::sending(const MeetingPlace& at, Rank rank) const {
    const auto part = from_->part_of(rank);
    return part ? place_of(at, *part, true) : std::nullopt;
}

std::optional<Index> Redistribution::receiving(const MeetingPlace& at, Rank rank) const {
    const auto part = to_->part_of(rank);
    return part ? place_of(at, *part, false) : std::nullopt;
}

std::optional<Redistribution::Partner> Redistribution::partner(const MeetingPlace& at, const std::array<Index, 3>& part,
                                                               Index place, bool sends) const {
    std::array<Index, 3> other{};
    Index points = 1;
    for (const int a : sends ? at.dealing : at.gathering)
        if (a >= 0) {
            const auto d = static_cast<std::size_t>(a);
            const Stars& stars = *at.stars[d];
            const Index digit = place % stars.widest;
            place /= stars.widest;
            if (digit >= stars.size(part[d])) return {};
            other[d] = stars.member(part[d], digit);
            points *= stars.leaves[static_cast<std::size_t>(other[d])].points;
        }
    if (place > 0) return {};
    for (const int a : sends ? at.gathering : at.dealing)
        if (a >= 0) {
            const auto d = static_cast<std::size_t>(a);
            const Stars::Leaf& leaf = at.stars[d]->leaves[static_cast<std::size_t>(part[d])];
            other[d] = leaf.centre;
            points *= leaf.points;
        }
    if (from_->lines()) points = sends ? block_points(part, other) : block_points(other, part);
    return Partner{(sends ? to_ : from_)->rank_of(other), points};
}

std::optional<Redistribution::Partner> Redistribution::receiver_at(const MeetingPlace& at, Rank sender,
                                                                   Index place) const {
    return partner(at, *from_->part_of(sender), place, true);
}

std::optional<Redistribution::Partner> Redistribution::sender_at(const MeetingPlace& at, Rank receiver,
                                                                 Index place) const {
    return partner(at, *to_->part_of(receiver), place, false);
}

std::array<std::vector<layout::Run>, 3> Redistribution::block_runs(const std::array<Index, 3>& before,
                                                                   const std::array<Index, 3>& after) const {
    std::array<std::vector<layout::Run>, 3> runs;
    for (const int a : axes) {
        const auto d = static_cast<std::size_t>(a);
        runs[d] = common(from_->parts(a).runs(before[d]), to_->parts(a).runs(after[d]));
    }
    return runs;
}

Index Redistribution::block_points(const std::array<Index, 3>& before, const std::array<Index, 3>& after) const {
    return from_->count(block_runs(before, after));
}

void Redistribution::append_blocks(Rank sender, Rank receiver, std::vector<layout::Box>& boxes) const {
    const auto before = from_->part_of(sender), after = to_->part_of(receiver);
    if (!before || !after) return;
    const std::vector<layout::Box> blocks = from_->patch_of(block_runs(*before, *after)).boxes();
    boxes.insert(boxes.end(), blocks.begin(), blocks.end());
}

std::optional<Redistribution::Line> Redistribution::line() const {
    if (!closed_) return {};
    Line line;
    for (const int c : {0, 1})
        for (const int a : axes)
            if (from_->coordinate_of(a) == c && to_->coordinate_of(a) != c && split(c) > 1) {
                line = {c, split(c), c == 0 ? 1 : split(0)};
            }
    return line;
}

Rank Redistribution::group(Rank rank) const {
    const auto along = line();
    if (!along) return 0;
    return rank - static_cast<Rank>(rank / along->stride % along->positions * along->stride);
}

std::shared_ptr<const Pattern> transposition(const layout::Layout& from, const layout::Layout& to) {
    const auto *first = dynamic_cast<const layout::Blocks*>(&from), *second = dynamic_cast<const layout::Blocks*>(&to);
    if (first && second) return std::make_shared<Transpose>(*first, *second);
    const auto product = [](const layout::Layout& layout) {
        if (const auto* blocks = dynamic_cast<const layout::Blocks*>(&layout)) return layout::Product(*blocks);
        if (const auto* other = dynamic_cast<const layout::Product*>(&layout)) return *other;
        throw InputError("transpose: the " + layout.describe() + " have no closed form: a fetch moves listed points");
    };
    layout::Product before = product(from), after = product(to);
    if (!(before.grid() == after.grid()) && before.grid().volume() == after.grid().volume()) {
        if (before.grid().points[layout::Y] != 1) before = before.in_one_row();
        if (after.grid().points[layout::Y] != 1) after = after.in_one_row();
    }
    return std::make_shared<Redistribution>(std::make_shared<layout::Product>(std::move(before)),
                                            std::make_shared<layout::Product>(std::move(after)));
}

}  // namespace tradewind::pattern
