#include "verify/reduction.hpp"

#include <algorithm>
#include <tuple>

#include "base/error.hpp"
#include "base/random.hpp"
#include "schedule/text.hpp"
#include "verify/moves.hpp"

namespace tradewind::verify {

namespace {

constexpr unsigned __int128 prime = (static_cast<unsigned __int128>(1) << 127) - 1;

}  // namespace

Reduction::Word Reduction::word(Rank rank) {
    const std::uint64_t r = static_cast<std::uint64_t>(rank);
    return ((static_cast<Word>(mix(0x7472616465ULL, r)) << 64) | mix(0x77696e64ULL, r)) % prime;
}

Reduction::Word Reduction::sum(Word a, Word b) {
    return a + b >= prime ? a + b - prime : a + b;
}

Reduction::Reduction(const schedule::Schedule& schedule)
    : schedule_(schedule), count_(schedule.pattern().target_box(0).width(layout::X)), values_(schedule.ranks()) {
    for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
        values_[rank].emplace(0, word(rank));
        all_ = sum(all_, word(rank));
    }
}

void Reduction::run_stage(int stage, const std::vector<Match>& matches) {
    pending_.clear();
    for_messages(schedule_, stage, matches, [&](const Match& m, const auto& from, const auto& to) {
        Index volume = 0;
        for (const schedule::Piece& piece : from) volume += piece.box.volume();
        if (volume != m.count || from.size() != to.size())
            throw VerificationError(to_text(m, stage) + ": its pieces have " + std::to_string(volume) + " points");
        for (std::size_t i = 0; i < from.size(); ++i) transfer(m.sender, from[i], m.receiver, to[i], to_text(m, stage));
    });
    const bool combine = schedule_.combines(stage);
    if (!combine) {
        std::sort(pending_.begin(), pending_.end(),
                  [](const Write& a, const Write& b) { return std::tie(a.rank, a.begin) < std::tie(b.rank, b.begin); });
        for (std::size_t i = 1; i < pending_.size(); ++i)
            if (pending_[i - 1].rank == pending_[i].rank && pending_[i - 1].end > pending_[i].begin)
                throw VerificationError("stage " + std::to_string(stage) + ": rank " +
                                        std::to_string(pending_[i].rank) + " is given element " +
                                        std::to_string(pending_[i].begin) + " twice");
    }
    for (const Write& w : pending_) write(w, combine);
}

void Reduction::transfer(Rank from, const schedule::Piece& source, Rank to, const schedule::Piece& target,
                         const std::string& where) {
    const bool in_place = source.buffer != schedule::Buffer::scratch && target.buffer != schedule::Buffer::scratch;
    const layout::Box storage = schedule_.pattern().target_box(to);
    if (!in_place || !(source.box == target.box) || !storage.contains(source.box))
        throw VerificationError(where + ": " + schedule::to_text(source) + " of rank " + std::to_string(from) +
                                " is not the same elements as " + schedule::to_text(target) + " of rank " +
                                std::to_string(to));
    const Index begin = source.box.begin[layout::X], end = source.box.end[layout::X];
    const Values& values = values_[from];
    for (auto v = std::prev(values.upper_bound(begin)); v != values.end() && v->first < end; ++v) {
        const auto next = std::next(v);
        pending_.push_back(
            {to, std::max(begin, v->first), std::min(end, next == values.end() ? end : next->first), v->second});
    }
}

// Makes a range begin at an element, and returns it.
Reduction::Values::iterator Reduction::split(Values& values, Index at) const {
    if (at >= count_) return values.end();
    return values.emplace(at, std::prev(values.upper_bound(at))->second).first;
}

void Reduction::write(const Write& w, bool combine) {
    Values& values = values_[w.rank];
    const auto end = split(values, w.end);
    auto v = split(values, w.begin);
    if (combine) {
        for (; v != end; ++v) v->second = sum(v->second, w.value);
        return;
    }
    v->second = w.value;
    values.erase(std::next(v), end);
}

// Describe what a value lacks or has too much of, where that is the contribution of one rank.
std::string Reduction::diagnosis(Word value) const {
    for (Rank rank = 0; rank < schedule_.ranks(); ++rank) {
        if (sum(value, word(rank)) == all_) return ": the value of rank " + std::to_string(rank) + " is missing";
        if (value == sum(all_, word(rank))) return ": the value of rank " + std::to_string(rank) + " is in it twice";
    }
    return ": it is not the sum over all ranks, each once";
}

void Reduction::finish() const {
    for (Rank rank = 0; rank < schedule_.ranks(); ++rank)
        for (const layout::Box& box : schedule_.pattern().expected(rank)) {
            const Values& values = values_[rank];
            for (auto v = std::prev(values.upper_bound(box.begin[layout::X]));
                 v != values.end() && v->first < box.end[layout::X]; ++v)
                if (v->second != all_)
                    throw VerificationError("rank " + std::to_string(rank) + ", element " +
                                            std::to_string(std::max(v->first, box.begin[layout::X])) +
                                            diagnosis(v->second));
        }
}

}  // namespace tradewind::verify
