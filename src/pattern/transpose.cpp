#include "pattern/transpose.hpp"

#include "base/error.hpp"

namespace tradewind::pattern {

Transpose::Transpose(layout::Blocks from, layout::Blocks to) : from_(std::move(from)), to_(std::move(to)) {
    if (!(from_.grid() == to_.grid())) throw InputError("transpose: the two layouts divide different grids");
    if (from_.ranks() != to_.ranks())
        throw InputError("transpose: " + std::to_string(from_.ranks()) + " ranks before and " +
                         std::to_string(to_.ranks()) + " after; the two layouts must have the same number");
    std::array<Index, 2> maximum{1, 1};
    for (int a = 0; a < 3; ++a) {
        const layout::Division &f = from_.division(a), &t = to_.division(a);
        Direction& d = directions_[a];
        d.of_from.resize(f.parts());
        d.of_to.resize(t.parts());
        // A component ends where a part of either layout ends at the same point.
        for (Index i = 0, j = 0; i < f.parts();) {
            Component c{i, i + 1, j, j + 1};
            while (f.end(c.from_end - 1) != t.end(c.to_end - 1)) {
                if (f.end(c.from_end - 1) < t.end(c.to_end - 1))
                    ++c.from_end;
                else
                    ++c.to_end;
            }
            const Index id = static_cast<Index>(d.components.size());
            for (; i < c.from_end; ++i) d.of_from[i] = id;
            for (; j < c.to_end; ++j) d.of_to[j] = id;
            d.components.push_back(c);
        }
        Index max_from = 1, max_to = 1;
        for (const Component& c : d.components) {
            max_from = std::max(max_from, c.from_end - c.from_begin);
            max_to = std::max(max_to, c.to_end - c.to_begin);
        }
        maximum[0] *= max_from;
        maximum[1] *= max_to;
    }
    largest_group_ = std::max(maximum[0], maximum[1]);
    closed_ = compute_closed();
    complete_ = closed_;
    for (const Direction& d : directions_)
        for (const Component& c : d.components)
            if (c.from_end - c.from_begin > 1 && c.to_end - c.to_begin > 1) complete_ = false;
    if (complete_) {
        const Ranges ranges = senders(components({0, 0}, true));
        if (ranges.count() == ranges.size[0])
            line_ = 0;
        else if (ranges.count() == ranges.size[1])
            line_ = 1;
    }
    if (line_ >= 0) find_directions();
}

// A line whose coordinate divides one direction before and after is a group of one: there is nothing to look up.
void Transpose::find_directions() {
    for (int a = 0; a < 3; ++a) {
        if (from_.coordinate_of(a) == line_) before_ = a;
        if (to_.coordinate_of(a) == line_) after_ = a;
    }
    if (before_ == after_) {
        line_ = -1;
        return;
    }
    across_ = layout::X + layout::Y + layout::Z - before_ - after_;
    if (from_.coordinate_of(across_) != to_.coordinate_of(across_)) line_ = -1;
    across_divided_ = from_.coordinate_of(across_) >= 0;
    stride_ = line_ == 1 ? static_cast<Rank>(from_.split()[0]) : 1;
}

// Senders and receivers of every group agree if, for each rank coordinate, the parts that it runs over do.
bool Transpose::compute_closed() const {
    if (from_.split() != to_.split()) return false;
    for (int c = 0; c < 2; ++c) {
        int before = -1, after = -1;
        for (int a = 0; a < 3; ++a) {
            if (from_.coordinate_of(a) == c) before = a;
            if (to_.coordinate_of(a) == c) after = a;
        }
        if (from_.split()[c] == 1) continue;
        if (before == after) continue;  // the same division before and after: each part is a component of its own
        if (directions_[before].components.size() != 1 || directions_[after].components.size() != 1) return false;
    }
    return true;
}

std::string Transpose::group_text() const {
    return "groups of " + std::to_string(largest_group_) + " ranks";
}

Parameters Transpose::parameters() const {
    return {{"grid", listed(from_.grid().points)},
            {"from_split", listed(from_.split())},
            {"from_axes", from_.axes()},
            {"to_split", listed(to_.split())},
            {"to_axes", to_.axes()}};
}

std::string Transpose::describe() const {
    return "transposition from " + from_.axes() + " to " + to_.axes() + " blocks, groups of up to " +
           std::to_string(largest_group_) + " ranks";
}

layout::Box Transpose::block(Rank sender, Rank receiver) const {
    return layout::intersection(from_.box(sender), to_.box(receiver));
}

Index Transpose::largest_block() const {
    Index volume = 1;
    for (int a = 0; a < 3; ++a) volume *= std::min(from_.division(a).widest(), to_.division(a).widest());
    return volume;
}

Transpose::Components Transpose::components(const std::array<Index, 2>& coordinates, bool as_sender) const {
    Components c;
    const layout::Blocks& layout = as_sender ? from_ : to_;
    for (int a = 0; a < 3; ++a) {
        const Direction& d = directions_[a];
        const int along = layout.coordinate_of(a);
        const Index part = along < 0 ? 0 : coordinates[along];
        c[a] = &d.components[as_sender ? d.of_from[part] : d.of_to[part]];
    }
    return c;
}

Transpose::Ranges Transpose::senders(const Components& components) const {
    Ranges r{{0, 0}, {1, 1}};
    for (int a = 0; a < 3; ++a)
        if (const int c = from_.coordinate_of(a); c >= 0) {
            r.begin[c] = components[a]->from_begin;
            r.size[c] = components[a]->from_end - components[a]->from_begin;
        }
    return r;
}

Transpose::Ranges Transpose::receivers(const Components& components) const {
    Ranges r{{0, 0}, {1, 1}};
    for (int a = 0; a < 3; ++a)
        if (const int c = to_.coordinate_of(a); c >= 0) {
            r.begin[c] = components[a]->to_begin;
            r.size[c] = components[a]->to_end - components[a]->to_begin;
        }
    return r;
}

Index Transpose::block_volume(Rank sender, Rank receiver) const {
    return block(sender, receiver).volume();
}

Rank Transpose::group(Rank rank) const {
    return complete() ? sending(rank).rank_at(0) : 0;
}

Transpose::InGroup::InGroup(const Transpose& transpose, Rank rank, bool as_sender)
    : other_(as_sender ? transpose.to_ : transpose.from_) {
    const layout::Blocks& own = as_sender ? transpose.from_ : transpose.to_;
    const auto coordinates = own.coordinates(rank);
    const Components components = transpose.components(coordinates, as_sender);
    const Ranges senders = transpose.senders(components), receivers = transpose.receivers(components);
    const Ranges& among = as_sender ? senders : receivers;
    others_ = as_sender ? receivers : senders;
    own_count_ = among.count();
    position_ = (coordinates[0] - among.begin[0]) + among.size[0] * (coordinates[1] - among.begin[1]);
    points_ = own.box(rank);
}

Index Transpose::InGroup::volume_at(Index position) const {
    const auto coordinates = coordinates_at(position);
    Index volume = 1;
    for (int a = 0; a < 3; ++a) {
        const int along = other_.coordinate_of(a);
        const Index part = along < 0 ? 0 : coordinates[along];
        const layout::Division& division = other_.division(a);
        volume *= std::max<Index>(
            0, std::min(points_.end[a], division.end(part)) - std::max(points_.begin[a], division.begin(part)));
    }
    return volume;
}

}  // namespace tradewind::pattern
