#include "mpi/recorded_rank.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/hash.hpp"

namespace tradewind::mpi {

namespace {

void put(Words& words, const Words& numbers) {
    words.push_back(static_cast<std::int64_t>(numbers.size()));
    words.insert(words.end(), numbers.begin(), numbers.end());
}

void put(Words& words, const std::string& text) {
    words.push_back(static_cast<std::int64_t>(text.size()));
    words.insert(words.end(), text.begin(), text.end());
}

class Reader {
  public:
    explicit Reader(const Words& words) : at_(words.data()) {}
    std::int64_t number() { return *at_++; }
    Words numbers() {
        const std::int64_t count = number();
        at_ += count;
        return {at_ - count, at_};
    }
    std::string text() {
        const Words letters = numbers();
        return {letters.begin(), letters.end()};
    }

  private:
    const std::int64_t* at_;
};

Words words_of(const std::vector<Rank>& ranks) {
    Words words;
    for (const RankRow& row : rows_of(ranks)) words.insert(words.end(), {row.first, row.step, row.count});
    return words;
}

void put(Words& words, const Carried& carried) {
    for (const std::string* const text :
         {&carried.pattern, &carried.algorithm, &carried.axes, &carried.transport, &carried.packing})
        put(words, *text);
    words.insert(words.end(),
                 {static_cast<std::int64_t>(carried.element), carried.fields,
                  static_cast<std::int64_t>(carried.operation), static_cast<std::int64_t>(carried.parameters.size())});
    for (const auto& [name, value] : carried.parameters) {
        put(words, name);
        words.push_back(static_cast<std::int64_t>(value.index()));
        if (const auto* const text = std::get_if<std::string>(&value))
            put(words, *text);
        else if (const auto* const numbers = std::get_if<std::vector<Index>>(&value))
            put(words, *numbers);
        else
            words.push_back(std::holds_alternative<bool>(value) ? std::get<bool>(value) : std::get<Index>(value));
    }
}

Carried carried_in(Reader& words) {
    Carried carried;
    for (std::string* const text :
         {&carried.pattern, &carried.algorithm, &carried.axes, &carried.transport, &carried.packing})
        *text = words.text();
    carried.element = static_cast<Element>(words.number());
    carried.fields = words.number();
    carried.operation = static_cast<Operation>(words.number());
    for (std::int64_t i = 0, n = words.number(); i < n; ++i) {
        std::string name = words.text();
        pattern::Parameter value;
        switch (words.number()) {
            case 0: value = words.text(); break;
            case 1: value = Index{words.number()}; break;
            case 2: value = words.number() != 0; break;
            default: value = words.numbers();
        }
        carried.parameters.emplace_back(std::move(name), std::move(value));
    }
    return carried;
}

}  // namespace

std::vector<RankRow> rows_of(const std::vector<Rank>& ranks) {
    std::vector<RankRow> rows;
    for (const Rank rank : ranks) {
        if (!rows.empty()) {
            RankRow& row = rows.back();
            if (row.count == 1) row.step = rank - row.first;
            if (rank == row.first + row.step * row.count) {
                ++row.count;
                continue;
            }
        }
        rows.push_back({rank, 1, 1});
    }
    return rows;
}

std::vector<Rank> ranks_in(const Words& rows) {
    std::vector<Rank> ranks;
    for (std::size_t i = 0; i < rows.size(); i += 3)
        for (std::int64_t j = 0; j < rows[i + 2]; ++j) ranks.push_back(static_cast<Rank>(rows[i] + j * rows[i + 1]));
    return ranks;
}

std::string kind_text(const Carried& carried) {
    return carried.pattern + " " + carried.algorithm + " of " + std::to_string(carried.fields) + " x " +
           name_of(carried.element) + ", " + name_of(carried.operation) + ", " + carried.transport + ", " +
           carried.packing;
}

// Plans of one communicator, or of several with the same ranks, are made in one order on all of these: a plan is known
// by its ranks and its number in that order. What plans are is written by the first of their ranks.
Words words_of(const std::vector<RecordedCall>& calls, const std::vector<UsedPlan>& plans, std::int64_t computing) {
    Words words{static_cast<std::int64_t>(calls.size())};
    for (const RecordedCall& noted : calls)
        words.insert(words.end(),
                     {static_cast<std::int64_t>(noted.call), static_cast<std::int64_t>(noted.plan), noted.computing});
    words.push_back(computing);
    words.push_back(static_cast<std::int64_t>(plans.size()));
    std::map<Words, std::vector<std::uint64_t>> made;  // by ranks: numbers of plans
    for (const UsedPlan& used : plans) made[words_of(used.ranks)].push_back(used.number);
    for (auto& [ranks, numbers] : made) std::sort(numbers.begin(), numbers.end());
    std::vector<std::uint64_t> all;
    for (const UsedPlan& used : plans) all.push_back(used.number);
    std::sort(all.begin(), all.end());
    const auto place_in = [](const std::vector<std::uint64_t>& numbers, std::uint64_t number) {
        return static_cast<std::int64_t>(std::lower_bound(numbers.begin(), numbers.end(), number) - numbers.begin());
    };
    for (const UsedPlan& used : plans) {
        const Words ranks = words_of(used.ranks);
        const std::vector<std::uint64_t>& numbers = made[ranks];
        // Reductions of one kind differ in their elements.
        const bool reduces = used.carried.pattern == "allreduce";
        const Index elements = reduces ? recorded_parameter<Index>(used.carried, "count") : 0;
        words.push_back(static_cast<std::int64_t>(fnv1a(kind_text(used.carried) + " " + std::to_string(elements))));
        put(words, ranks);
        words.push_back(place_in(numbers, used.number));
        words.push_back(place_in(all, used.number));
        words.push_back(used.is_first);
        if (used.is_first) put(words, used.carried);
        words.push_back(static_cast<std::int64_t>(used.sent.size()));
        for (const Sent& sent : used.sent)
            words.insert(words.end(), {sent.stage, used.ranks[static_cast<std::size_t>(sent.peer)], sent.bytes.value,
                                       sent.tag, sent.parity});
    }
    return words;
}

RecordedRank recorded_rank(const Words& words, std::int64_t rank) {
    RecordedRank found;
    Reader from(words);
    for (std::int64_t i = 0, n = from.number(); i < n; ++i) {
        const std::int64_t call = from.number(), plan = from.number();
        found.calls.push_back({call, plan});
        found.computing.push_back(from.number());
    }
    found.computing.push_back(from.number());
    for (std::int64_t p = 0, plans = from.number(); p < plans; ++p) {
        RecordedRank::Plan plan;
        plan.kind = from.number();
        plan.ranks = from.numbers();
        plan.number = from.number();
        plan.created = from.number();
        if (from.number() != 0) plan.carried = carried_in(from);
        std::int64_t order = 0;
        for (std::int64_t i = 0, n = from.number(); i < n; ++i) {
            RecordedMessage sent{from.number(), 0, rank, from.number(), from.number(), from.number(), from.number()};
            order = plan.sent.empty() || plan.sent.back().stage != sent.stage ? 0 : order + 1;
            sent.order = order;
            plan.sent.push_back(sent);
        }
        found.plans.push_back(std::move(plan));
    }
    for (const auto& [call, plan] : found.calls)
        found.plans[static_cast<std::size_t>(plan)].times +=
            call == static_cast<std::int64_t>(Call::whole) || call == static_cast<std::int64_t>(Call::start);
    return found;
}

}  // namespace tradewind::mpi
