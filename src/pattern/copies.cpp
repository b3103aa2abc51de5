#include "pattern/copies.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/random.hpp"

namespace tradewind::pattern {

namespace {

constexpr Index shortest_sweep = 6;  // groups; fewer are combined as quickly one by one

// Groups in a row that are being found.
struct Row {
    std::size_t first;   // of its first group among all places
    std::size_t size;    // of each group
    std::uint64_t form;  // a hash of the distances between the places of each group
    Index count = 1, step = 0, cell, cell_step = 0;
    Index last_place, last_cell;
};

std::uint64_t form_of(std::span<const Index> group) {
    std::uint64_t form = group.size();
    for (const Index place : group) form = mix(form, static_cast<std::uint64_t>(place - group[0]));
    return form;
}

bool same_form(std::span<const Index> a, std::span<const Index> b) {
    if (a.size() != b.size()) return false;
    for (std::size_t k = 0; k < a.size(); ++k)
        if (a[k] - a[0] != b[k] - b[0]) return false;
    return true;
}

std::vector<Row> rows_of(std::span<const std::size_t> begins, std::span<const Index> places) {
    std::vector<Row> rows;
    std::unordered_map<std::uint64_t, std::size_t> open;  // the last row of each form
    for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
        const std::span<const Index> group = places.subspan(begins[i], begins[i + 1] - begins[i]);
        const std::uint64_t form = form_of(group);
        const auto cell = static_cast<Index>(i);
        const auto [at, is_new] = open.try_emplace(form, rows.size());
        if (!is_new) {
            Row& row = rows[at->second];
            const Index step = group[0] - row.last_place, cell_step = cell - row.last_cell;
            const bool follows = row.count == 1 || (step == row.step && cell_step == row.cell_step);
            if (follows && same_form(group, places.subspan(row.first, row.size))) {
                ++row.count;
                row.step = step;
                row.cell_step = cell_step;
                row.last_place = group[0];
                row.last_cell = cell;
                continue;
            }
            at->second = rows.size();
        }
        rows.push_back({.first = begins[i],
                        .size = group.size(),
                        .form = form,
                        .cell = cell,
                        .last_place = group[0],
                        .last_cell = cell});
    }
    return rows;
}

}  // namespace

Copies::Copies(std::span<const std::size_t> begins, std::span<const Index> places, bool sweeps)
    : groups_(begins.empty() ? 0 : begins.size() - 1) {
    const std::vector<Row> rows = rows_of(begins, places);
    struct Open {
        std::size_t sweep;
        Index last_place, last_cell;
    };
    std::vector<Sweep> all;  // their places are those that were given, until it is known which of them stay
    std::unordered_map<std::uint64_t, Open> open;
    for (const Row& row : rows) {
        const Index place = places[row.first];
        std::uint64_t form = mix(row.form, static_cast<std::uint64_t>(row.count));
        form = mix(mix(form, static_cast<std::uint64_t>(row.step)), static_cast<std::uint64_t>(row.cell_step));
        const auto [at, is_new] = open.try_emplace(form, Open{all.size(), place, row.cell});
        if (!is_new) {
            Open& last = at->second;
            Sweep& sweep = all[last.sweep];
            const Index step = place - last.last_place, cell_step = row.cell - last.last_cell;
            const bool alike = sweep.count[0] == row.count && sweep.step[0] == row.step &&
                               sweep.cell_step[0] == row.cell_step &&
                               same_form(places.subspan(row.first, row.size), places.subspan(sweep.first, sweep.size));
            if (alike && (sweep.count[1] == 1 || (step == sweep.step[1] && cell_step == sweep.cell_step[1]))) {
                ++sweep.count[1];
                sweep.step[1] = step;
                sweep.cell_step[1] = cell_step;
                last.last_place = place;
                last.last_cell = row.cell;
                continue;
            }
            last = {all.size(), place, row.cell};
        }
        all.push_back({row.size, row.first, {row.count, 1}, {row.step, 0}, row.cell, {row.cell_step, 0}});
    }
    std::map<std::size_t, std::vector<std::pair<Index, std::vector<Index>>>> single;  // by size: cell, places
    for (const Sweep& sweep : all) {
        const std::span<const Index> first = places.subspan(sweep.first, sweep.size);
        if (sweeps && sweep.groups() >= shortest_sweep) {
            sweeps_.push_back(sweep);
            sweeps_.back().first = places_.size();
            places_.insert(places_.end(), first.begin(), first.end());
            continue;
        }
        for (Index j = 0; j < sweep.count[1]; ++j)
            for (Index i = 0; i < sweep.count[0]; ++i) {
                std::vector<Index> group(first.begin(), first.end());
                for (Index& place : group) place += i * sweep.step[0] + j * sweep.step[1];
                single[sweep.size].emplace_back(sweep.cell + i * sweep.cell_step[0] + j * sweep.cell_step[1],
                                                std::move(group));
            }
    }
    for (auto& [size, groups] : single) {
        std::sort(groups.begin(), groups.end());
        lists_.push_back({size, groups.size(), places_.size(), cells_.size()});
        for (std::size_t k = 0; k < size; ++k)
            for (const auto& [cell, group] : groups) places_.push_back(group[k]);
        for (const auto& [cell, group] : groups) cells_.push_back(cell);
    }
}

}  // namespace tradewind::pattern
