#include "testing/executed.hpp"

#include <algorithm>
#include <functional>

#include "pattern/allreduce.hpp"
#include "pattern/fetch_adjoint.hpp"

namespace testing {

using namespace tradewind;

namespace {

using Values = std::vector<std::int64_t>;
using Combine = std::function<std::int64_t(std::int64_t, std::int64_t)>;

// One rank's arrays; of a pattern in place the target array is the source array.
struct Memory {
    Values source, target, scratch;
};

std::size_t place_in(const layout::Patch& patch, const Point& p) {
    const auto row = patch.place(1, p[1]) + patch.width(1) * patch.place(2, p[2]);
    return static_cast<std::size_t>(patch.place(0, p[0]) + patch.width(0) * row);
}

std::size_t size_of(const layout::Patch& patch) {
    return static_cast<std::size_t>(patch.width(0) * patch.width(1) * patch.width(2));
}

// Runs all stages: in each, all that is sent or copied is read before anything is written.
void execute(const schedule::Schedule& schedule, const pattern::Pattern& arrays, std::vector<Memory>& memory,
             const Combine& combine) {
    struct Write {
        std::int64_t *to, value;
    };
    const auto values = [&](Rank rank, const std::vector<schedule::Piece>& pieces) {
        auto& mine = memory[static_cast<std::size_t>(rank)];
        std::vector<std::int64_t*> found;
        for (const auto& piece : pieces) {
            if (piece.buffer == schedule::Buffer::scratch) {
                for (Index i = 0; i < piece.box.volume(); ++i) {
                    found.push_back(&mine.scratch.at(static_cast<std::size_t>(piece.offset + i)));
                }
                continue;
            }
            const bool source = arrays.in_place() || piece.buffer == schedule::Buffer::source;
            const auto patch = source ? arrays.source_patch(rank) : arrays.target_patch(rank);
            for_points(piece.box, [&](const Point& p) {
                found.push_back(&(source ? mine.source : mine.target).at(place_in(patch, p)));
            });
        }
        return found;
    };
    for (int stage = 0; stage < schedule.stages(); ++stage) {
        std::vector<Write> writes;
        const auto transfer = [&](const std::vector<std::int64_t*>& from, const std::vector<std::int64_t*>& to) {
            check(from.size() == to.size(), "both ends have as many points: that");
            for (std::size_t i = 0; i < from.size(); ++i) writes.push_back({to[i], *from[i]});
        };
        for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
            for (int j = 0; j < schedule.receives(rank, stage); ++j) {
                const auto message = schedule.receive(rank, stage, j);
                if (message.count == 0) continue;
                std::vector<schedule::Piece> from, to;
                schedule.receive_pieces(rank, stage, j, to);
                for (int k = 0; k < schedule.sends(message.peer, stage); ++k) {
                    const auto other = schedule.send(message.peer, stage, k);
                    if (other.count == 0 || other.peer != rank || other.tag != message.tag) continue;
                    schedule.send_pieces(message.peer, stage, k, from);
                }
                transfer(values(message.peer, from), values(rank, to));
            }
            std::vector<schedule::Copy> copies;
            schedule.copies(rank, stage, copies);
            for (const auto& copy : copies) transfer(values(rank, {copy.from}), values(rank, {copy.to}));
        }
        const bool combines = schedule.adds() || schedule.combines(stage);
        for (const auto& [to, value] : writes) *to = combines ? combine(*to, value) : value;
    }
}

std::vector<Memory> memory_of(const schedule::Schedule& schedule, const pattern::Pattern& arrays) {
    std::vector<Memory> memory;
    for (Rank rank = 0; rank < arrays.ranks(); ++rank) {
        memory.push_back({Values(size_of(arrays.source_patch(rank)), -1),
                          Values(size_of(arrays.target_patch(rank)), -1),
                          Values(static_cast<std::size_t>(schedule.scratch(rank)), schedule.adds() ? 0 : -1)});
    }
    return memory;
}

// A number for each point of the periodic grid.
std::int64_t number_of(const pattern::Pattern& pattern, const Point& p) {
    std::int64_t number = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto n = pattern.period()[axis];
        number = number * 1'000'000 + (n == 0 ? p[axis] : (p[axis] % n + n) % n);
    }
    return number;
}

void check_points(const schedule::Schedule& schedule) {
    const auto& pattern = schedule.pattern();
    auto memory = memory_of(schedule, pattern);
    for (Rank rank = 0; rank < pattern.ranks(); ++rank) {
        auto& source = memory[static_cast<std::size_t>(rank)].source;
        for (const auto& box : pattern.owned_boxes(rank)) {
            for_points(box, [&](const Point& p) {
                source.at(place_in(pattern.source_patch(rank), p)) = number_of(pattern, p);
            });
        }
    }
    auto wanted = memory;
    execute(schedule, pattern, memory, {});
    for (Rank rank = 0; rank < pattern.ranks(); ++rank) {
        auto& right = wanted[static_cast<std::size_t>(rank)];
        auto& written = pattern.in_place() ? right.source : right.target;
        for (const auto& box : pattern.expected(rank)) {
            for_points(box, [&](const Point& p) {
                written.at(place_in(pattern.target_patch(rank), p)) = number_of(pattern, p);
            });
        }
        check_equal(memory[static_cast<std::size_t>(rank)].source, right.source, "the source array");
        check_equal(memory[static_cast<std::size_t>(rank)].target, right.target, "the target array");
    }
}

void check_fetch(Draw& draw, const schedule::Schedule& schedule, const Lists& lists) {
    const auto& pattern = schedule.pattern();
    const auto adjoint = pattern.forward() != nullptr;
    auto memory = memory_of(schedule, pattern);
    for (auto& [source, target, scratch] : memory) {
        for (auto& value : source) value = draw.integer(0, 1'000'000'000);
        if (!adjoint) continue;
        for (auto& value : target) value = draw.integer(0, 1'000'000'000);
    }
    auto wanted = memory;
    execute(schedule, pattern, memory, std::plus<>());
    for (std::size_t rank = 0; rank < memory.size(); ++rank) {
        const auto& list = lists.wanted[rank];
        for (std::size_t i = 0; i < list.owner.size(); ++i) {
            const auto owner = static_cast<std::size_t>(list.owner[i]);
            const auto width = [&](Rank of, bool source) {  // points of the arrays of the fetch, one level
                return static_cast<std::size_t>(source != adjoint ? pattern.source_box(of).width(0)
                                                                  : pattern.target_box(of).width(0));
            };
            const auto levels =
                static_cast<std::size_t>(pattern.source_box(0).width(1) * pattern.source_box(0).width(2));
            for (std::size_t level = 0; level < levels; ++level) {
                const auto from = static_cast<std::size_t>(list.index[i]) + width(list.owner[i], true) * level;
                const auto to = static_cast<std::size_t>(list.place[i]) + width(static_cast<Rank>(rank), false) * level;
                if (adjoint) {
                    wanted[owner].target.at(from) += memory[rank].source.at(to);
                } else {
                    wanted[rank].target.at(to) = memory[owner].source.at(from);
                }
            }
        }
    }
    for (std::size_t rank = 0; rank < memory.size(); ++rank) {
        check_equal(memory[rank].source, wanted[rank].source, "the source array");
        check_equal(memory[rank].target, wanted[rank].target, "the target array");
    }
}

void check_sum(Draw& draw, const schedule::Schedule& schedule) {
    auto memory = memory_of(schedule, schedule.pattern());
    Values sum(memory.front().source.size(), 0);
    for (auto& each : memory) {
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += each.source[i] = draw.integer(0, 1'000'000'000);
    }
    execute(schedule, schedule.pattern(), memory, std::plus<>());
    for (const auto& each : memory) check_equal(each.source, sum, "the array");
}

void check_gather_scatter(Draw& draw, const schedule::Schedule& schedule, const Lists& lists) {
    const auto whole = std::dynamic_pointer_cast<const pattern::GatherScatter>(schedule.shared_pattern());
    const pattern::SharedCells arrays(whole, schedule.numbered());
    const auto& loops = pattern::copy_loops("i8", whole->operation());
    const bool adds = whole->operation() == "add";
    const Combine combine = [&](auto a, auto b) { return adds ? a + b : std::min(a, b); };
    auto memory = memory_of(schedule, arrays);
    const auto bytes = [](std::int64_t* value) { return reinterpret_cast<std::byte*>(value); };
    std::vector<std::vector<Values>> values;  // [rank][level]
    const auto each = [&](auto use) {
        for (std::size_t rank = 0; rank < lists.ids.size(); ++rank) {
            for (std::size_t level = 0; level < static_cast<std::size_t>(whole->depth()); ++level) use(rank, level);
        }
    };
    using Totals = std::map<Index, std::int64_t>;
    std::vector<Totals> right(static_cast<std::size_t>(whole->depth()));
    values.resize(lists.ids.size(), std::vector<Values>(right.size()));
    std::vector<std::vector<Values>> cells = values;
    each([&](std::size_t rank, std::size_t level) {
        for (const auto id : lists.ids[rank]) {
            const auto value = draw.integer(-1'000'000'000, 1'000'000'000);
            values[rank][level].push_back(value);
            const auto [at, is_new] = right[level].try_emplace(id, value);
            if (!is_new) at->second = combine(at->second, value);
        }
    });
    const auto before = values;
    const auto line = [&](std::size_t rank, std::size_t level) {
        return pattern::Line{bytes(values[rank][level].data()), sizeof(std::int64_t)};
    };
    // Where the cells of a level begin in a rank's array, and where one of them lies from there.
    const auto begin = [&](std::size_t rank, std::size_t level) {
        return static_cast<std::size_t>(arrays.source_box(static_cast<Rank>(rank)).width(0)) * level;
    };
    const auto place = [&](std::size_t rank, std::size_t cell) {
        if (!schedule.numbered()) return cell;
        return static_cast<std::size_t>(whole->number(static_cast<Rank>(rank), static_cast<Index>(cell)));
    };
    each([&](std::size_t rank, std::size_t level) {
        const auto copies = whole->copies(static_cast<Rank>(rank));
        auto& mine = cells[rank][level];
        mine.resize(static_cast<std::size_t>(whole->cells(static_cast<Rank>(rank))));
        loops.combine(copies.inner, line(rank, level));
        loops.gather(copies.shared, line(rank, level), bytes(mine.data()));
        auto& source = memory[rank].source;
        if (level == 0 && schedule.numbered()) loops.clear(bytes(source.data()), static_cast<Index>(source.size()));
        for (std::size_t i = 0; i < mine.size(); ++i) source.at(begin(rank, level) + place(rank, i)) = mine[i];
    });
    execute(schedule, arrays, memory, combine);
    bool combined = false;
    for (int stage = 0; stage < schedule.stages(); ++stage) combined = combined || schedule.combines(stage);
    each([&](std::size_t rank, std::size_t level) {
        auto& mine = cells[rank][level];
        for (std::size_t i = 0; i < mine.size(); ++i) {
            mine[i] = memory[rank].source.at(begin(rank, level) + place(rank, i));
        }
        const auto came = static_cast<std::size_t>(arrays.target_box(static_cast<Rank>(rank)).width(0)) * level;
        if (!combined) {
            loops.fold(whole->folds(static_cast<Rank>(rank)), bytes(mine.data()),
                       bytes(memory[rank].target.data() + came));
        }
        loops.scatter(whole->copies(static_cast<Rank>(rank)).shared, line(rank, level), bytes(mine.data()));
        for (std::size_t i = 0; i < lists.ids[rank].size(); ++i) {
            const auto id = lists.ids[rank][i];
            const auto wanted = id < 1 ? before[rank][level][i] : right[level][id];
            check_equal(std::array{id, values[rank][level][i]}, std::array{id, wanted}, "an id and its value");
        }
    });
}

}  // namespace

void check_on_arrays(Draw& draw, const schedule::Schedule& schedule, const Lists& lists) {
    if (schedule.pattern().storage() > 20'000) return;  // point by point, larger arrays take too long
    if (!lists.ids.empty()) return check_gather_scatter(draw, schedule, lists);
    if (!lists.wanted.empty()) return check_fetch(draw, schedule, lists);
    if (schedule.pattern().reduces()) return check_sum(draw, schedule);
    check_points(schedule);
}

}  // namespace testing
