#include "mpi/recorded_program.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>
#include <vector>

#include "base/error.hpp"

namespace tradewind::mpi {

namespace {

// The grid of a program, on which its patterns lie if they do not say another, and how its ranks divide it.
struct OneGrid {
    std::vector<Index> grid, split;
};

std::string quoted(const std::string& text) {
    return '"' + text + '"';
}

// "64x48x16"
std::string extents_text(const std::vector<Index>& numbers) {
    std::string text;
    for (const Index number : numbers) text += (text.empty() ? "" : "x") + std::to_string(number);
    return quoted(text);
}

// The name of blocks in a program file that divides a grid so; "" where they have none.
std::string name_of_blocks(const std::vector<Index>& split, const std::string& axes,
                           const std::vector<Index>& of_file) {
    if (split == of_file) return axes;
    return split[1] == 1 && split[0] == of_file[0] * of_file[1] ? axes.substr(0, 1) : "";
}

// The keys of an exchange whose pattern a program file can name; "" where it can not. `one`: the grid and the split of
// the file, which the first pattern sets; with `own_split` each exchange has its own split.
std::string keys_of(const Carried& carried, OneGrid& one, bool own_split) {
    using Numbers = std::vector<Index>;
    if (carried.pattern == "allreduce") {
        std::string keys = "allreduce = " + std::to_string(recorded_parameter<Index>(carried, "count")) + "\n";
        if (carried.operation != Operation::sum) keys += "operation = " + quoted(name_of(carried.operation)) + "\n";
        return keys;
    }
    const bool halo = carried.pattern == "halo", blocks = halo || carried.pattern == "transpose";
    const auto has = [&](const std::string& name) {
        return std::any_of(carried.parameters.begin(), carried.parameters.end(),
                           [&](const auto& each) { return each.first == name; });
    };
    if (!blocks || !has(halo ? "split" : "from_split")) return "";
    const auto grid = recorded_parameter<Numbers>(carried, "grid"),
               split = recorded_parameter<Numbers>(carried, halo ? "split" : "from_split");
    OneGrid here = one;
    if (here.grid.empty()) here.grid = grid;
    if (here.split.empty() || own_split) {
        here.split = split;
        if (!halo && split[1] == 1) here.split = recorded_parameter<Numbers>(carried, "to_split");
    }
    std::string keys;
    if (halo) {
        if (split != here.split || carried.axes != "xy") return "";
        keys = "halo = " + std::to_string(recorded_parameter<Index>(carried, "width")) + "\n";
        if (const auto periodic = recorded_parameter<std::string>(carried, "periodic"); !periodic.empty())
            keys += "periodic = " + quoted(periodic) + "\n";
    } else {
        const std::string from =
            name_of_blocks(split, recorded_parameter<std::string>(carried, "from_axes"), here.split);
        const std::string to = name_of_blocks(recorded_parameter<Numbers>(carried, "to_split"),
                                              recorded_parameter<std::string>(carried, "to_axes"), here.split);
        if (from.empty() || to.empty() || from == to) return "";
        keys = "path = " + quoted(from + "-" + to) + "\n";
    }
    if (here.grid != grid) keys += "grid = " + extents_text(grid) + "\n";
    if (own_split) keys += "split = " + extents_text(here.split) + "\n";
    one.grid = here.grid;
    if (!own_split) one.split = here.split;
    return keys;
}

std::string messages_text(const std::vector<RecordedMessage>& messages, Index point_bytes,
                          const std::vector<Rank>& members) {
    const auto place = [&](std::int64_t rank) {
        return std::to_string(std::lower_bound(members.begin(), members.end(), rank) - members.begin());
    };
    std::string text = "messages = [\n";
    for (const RecordedMessage& m : messages) {
        text += "    [" + std::to_string(m.stage) + ", " + place(m.source) + ", " + place(m.destination) + ", " +
                std::to_string(m.bytes / point_bytes);
        if (m.tag != 0 || m.parity != 0) text += ", " + std::to_string(m.tag) + ", " + std::to_string(m.parity);
        text += "],\n";
    }
    return text + "]\n";
}

class Text {
  public:
    explicit Text(const RecordedExchanges& recorded) : recorded_(recorded) {}

    std::string program() {
        std::string exchanges, steps;
        for (std::size_t e = 0; e < recorded_.exchanges().size(); ++e) exchanges += text_of(e);
        const bool has_groups = groups_.size() > 1;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            if (has_groups) steps += heading(g);
            const std::string step = has_groups ? "\n[[group.step]]\n" : "\n[[step]]\n";
            const auto& calls = recorded_.of(groups_[g][0]).calls;
            for (std::size_t i = 0; i <= calls.size(); ++i) {
                steps += step + computing(groups_[g], i);
                if (i < calls.size()) steps += step + call(groups_[g][0], i);
            }
        }
        std::string head = "# Recorded from a run. Points of computations are seconds, rank by rank.\n\n";
        head += "name = \"recorded\"\n";
        if (!has_groups) head += "ranks = " + std::to_string(recorded_.ranks()) + "\n";
        head += "point_time = \"1s\"\n";
        if (!grid_.grid.empty()) head += "grid = " + extents_text(grid_.grid) + "\n";
        if (!grid_.split.empty()) head += "split = " + extents_text(grid_.split) + "\n";
        return head + exchanges + steps;
    }

  private:
    const Carried& carried_by(std::size_t exchange) const {
        return recorded_.plans()[recorded_.exchanges()[exchange].plans[0]].carried;
    }
    std::string name_of_exchange(std::size_t exchange) const {
        const Carried& carried = carried_by(exchange);
        return quoted(std::to_string(exchange + 1) + " " + carried.pattern + " " + carried.algorithm);
    }

    // "ranks 0-3, 8-11"; with the number of the group where not all of its ranks are in the name.
    std::string name_of_group(std::size_t group) const {
        constexpr std::size_t shown = 4;
        const std::vector<RankRow> rows = rows_of(groups_[group]);
        std::string text = "ranks ";
        for (std::size_t i = 0; i < std::min(shown, rows.size()); ++i) {
            const RankRow& row = rows[i];
            text += (i > 0 ? ", " : "") + std::to_string(row.first);
            if (row.count > 1) text += "-" + std::to_string(row.first + row.step * (row.count - 1));
            if (row.step > 1) text += " by " + std::to_string(row.step);
        }
        return quoted(text + (rows.size() > shown ? ", ... (group " + std::to_string(group + 1) + ")" : ""));
    }

    std::string heading(std::size_t group) const {
        std::string rows;
        for (const RankRow& row : rows_of(groups_[group])) {
            rows += (rows.empty() ? "[" : ", [") + std::to_string(row.first) + ", " +
                    std::to_string(row.first + row.step * (row.count - 1));
            rows += row.step > 1 ? ", " + std::to_string(row.step) + "]" : "]";
        }
        return "\n[[group]]\nname = " + name_of_group(group) + "\nranks = [" + rows + "]\n";
    }

    std::string groups_taking_part(const std::vector<Rank>& ranks) const {
        std::string names;
        std::vector<bool> named(groups_.size(), false);
        for (const Rank rank : ranks) {
            const std::size_t g = recorded_.group_of(rank);
            if (!named[g]) names += (names.empty() ? "" : ", ") + name_of_group(g);
            named[g] = true;
        }
        return "group = [" + names + "]\n";
    }

    std::string messages_of(const RecordedExchanges::Exchange& exchange, Index point_bytes) const {
        std::vector<RecordedMessage> all;
        for (const std::size_t p : exchange.plans)
            for (const auto& [rank, at] : recorded_.plans()[p].uses) {
                const std::vector<RecordedMessage>& sent = recorded_.of(rank).plans[at].sent;
                all.insert(all.end(), sent.begin(), sent.end());
            }
        std::sort(all.begin(), all.end(), [](const RecordedMessage& a, const RecordedMessage& b) {
            return std::tie(a.stage, a.order, a.source) < std::tie(b.stage, b.order, b.source);
        });
        return messages_text(all, point_bytes, exchange.ranks);
    }

    std::string text_of(std::size_t number) {
        const RecordedExchanges::Exchange& exchange = recorded_.exchanges()[number];
        const Carried& carried = carried_by(number);
        std::string text = "\n[[exchange]]\nname = " + name_of_exchange(number) + "\n";
        if (exchange.ranks.size() < recorded_.ranks()) text += groups_taking_part(exchange.ranks);
        const bool native = carried.algorithm == "native";
        const bool in_order =
            exchange.plans.size() == 1 && (native || recorded_.plans()[exchange.plans[0]].ranks == exchange.ranks);
        if (const std::string keys = in_order ? keys_of(carried, grid_, groups_.size() > 1) : ""; !keys.empty()) {
            text += keys;
            if (!native) text += "algorithm = " + quoted(carried.algorithm) + "\n";
        } else {
            text += messages_of(exchange, carried.fields * bytes_of(carried.element));
        }
        text += "fields = " + std::to_string(carried.fields) + "\ndtype = " + quoted(name_of(carried.element)) + "\n";
        return text + "transport = " + quoted(carried.transport) + "\npacking = " + quoted(carried.packing) + "\n";
    }

    std::string call(Rank rank, std::size_t i) const {
        const auto [call, plan] = recorded_.of(rank).calls[i];
        if (call == static_cast<std::int64_t>(Call::poke)) return "poke = true\n";
        const char* const keys[] = {"exchange", "start", "wait"};
        return std::string(keys[static_cast<std::size_t>(call)]) + " = " +
               name_of_exchange(recorded_.exchange_of(rank, plan)) + "\n";
    }

    std::string computing(const std::vector<Rank>& group, std::size_t i) const {
        std::string seconds;
        for (const Rank rank : group) {
            std::array<char, 32> number;  // of no locale
            const auto end = std::to_chars(number.data(), number.data() + number.size(),
                                           1e-9 * static_cast<double>(recorded_.of(rank).computing[i]),
                                           std::chars_format::general, 4);
            seconds += (seconds.empty() ? "" : ", ") + std::string(number.data(), end.ptr);
        }
        return "compute = \"rank\"\npoints = [" + seconds + "]\n";
    }

    const RecordedExchanges& recorded_;
    const std::vector<std::vector<Rank>>& groups_ = recorded_.groups();
    OneGrid grid_;
};

}  // namespace

std::string recorded_program(const RecordedExchanges& recorded) {
    return Text(recorded).program();
}

}  // namespace tradewind::mpi
