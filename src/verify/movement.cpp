#include "verify/movement.hpp"

#include "base/error.hpp"
#include "schedule/text.hpp"
#include "verify/cover.hpp"
#include "verify/moves.hpp"

namespace tradewind::verify {

namespace {

std::string of_rank(Rank rank) {
    return " of rank " + std::to_string(rank);
}

Index volume(const std::vector<schedule::Piece>& pieces) {
    Index sum = 0;
    for (const schedule::Piece& piece : pieces) sum += piece.box.volume();
    return sum;
}

}  // namespace

Movement::Movement(const schedule::Schedule& schedule)
    : schedule_(schedule), pattern_(schedule.pattern()), memory_(schedule.ranks()) {}

void Movement::run_stage(int stage, const std::vector<Match>& matches) {
    pending_.clear();
    for_messages(schedule_, stage, matches, [&](const Match& m, const auto& from, const auto& to) {
        const auto where = [&] { return to_text(m, stage); };
        if (volume(from) != m.count || volume(to) != m.count || from.size() != to.size())
            throw VerificationError(where() + ": its pieces are " + std::to_string(from.size()) + " of " +
                                    std::to_string(volume(from)) + " points at the sender and " +
                                    std::to_string(to.size()) + " of " + std::to_string(volume(to)) +
                                    " at the receiver");
        const std::string at = where();
        for (std::size_t i = 0; i < from.size(); ++i) transfer(m.sender, from[i], m.receiver, to[i], at);
    });
    for_copies(schedule_, stage, copied_, [&](Rank rank, const schedule::Copy& copy, const std::string& where) {
        transfer(rank, copy.from, rank, copy.to, where);
    });
    for (const Write& w : pending_) write(w, stage);
}

void Movement::transfer(Rank from, const schedule::Piece& source, Rank to, const schedule::Piece& target,
                        const std::string& where) {
    const bool same = target.buffer == schedule::Buffer::target && source.buffer != schedule::Buffer::target
                          ? pattern_.same_points(to, target.box, source.box)
                          : pattern_.shifted_by_period(target.box, source.box);
    if (!same)
        throw VerificationError(where + ": " + schedule::to_text(source) + of_rank(from) +
                                " is not the same points as " + schedule::to_text(target) + of_rank(to));
    if (source.buffer == schedule::Buffer::scratch)
        check_scratch(from, source, where);
    else
        check_held(from, source, where);
    if (target.buffer == schedule::Buffer::source && !pattern_.in_place())
        throw VerificationError(where + ": it writes into the source array" + of_rank(to));
    pending_.push_back({to, target});
}

// Boxes that are held are disjoint, or else `finish` finds points that were written twice: so volumes decide.
void Movement::check_held(Rank rank, const schedule::Piece& piece, const std::string& where) {
    Index held = 0;
    if (pattern_.in_place() || piece.buffer == schedule::Buffer::source) {
        const std::vector<layout::Box>& owned = owned_by(rank);
        for (std::size_t i = 0; i < owned.size(); ++i) {
            const std::size_t at = (last_owned_ + i) % owned.size();
            if (owned[at].contains(piece.box)) {
                last_owned_ = at;
                return;
            }
            held += layout::intersection(owned[at], piece.box).volume();
        }
    }
    if (pattern_.in_place() || piece.buffer == schedule::Buffer::target)
        for (const layout::Box& box : memory_[rank].written) held += layout::intersection(box, piece.box).volume();
    if (held < piece.box.volume())
        throw VerificationError(where + ": " + schedule::to_text(piece) + of_rank(rank) + " has only " +
                                std::to_string(held) + " of its " + std::to_string(piece.box.volume()) +
                                " points by then");
}

const std::vector<layout::Box>& Movement::owned_by(Rank rank) {
    if (rank != owner_) {
        owned_ = pattern_.owned_boxes(rank);
        owner_ = rank;
        last_owned_ = 0;
    }
    return owned_;
}

void Movement::check_scratch(Rank rank, const schedule::Piece& piece, const std::string& where) const {
    const auto slot = memory_[rank].scratch.find(piece.offset);
    if (slot == memory_[rank].scratch.end())
        throw VerificationError(where + ": " + schedule::to_text(piece) + of_rank(rank) + " holds nothing by then");
    if (!(slot->second.box == piece.box))
        throw VerificationError(where + ": " + schedule::to_text(piece) + of_rank(rank) + " holds " +
                                schedule::to_text(slot->second.box) + " by then");
}

void Movement::write(const Write& w, int stage) {
    if (w.piece.box.empty()) return;
    if (w.piece.buffer == schedule::Buffer::scratch)
        write_scratch(w, stage);
    else
        memory_[w.rank].written.push_back(w.piece.box);
}

void Movement::write_scratch(const Write& w, int stage) {
    auto& scratch = memory_[w.rank].scratch;
    const Index begin = w.piece.offset, end = begin + w.piece.box.volume();
    const std::string where = "stage " + std::to_string(stage) + ": " + schedule::to_text(w.piece) + of_rank(w.rank);
    if (begin < 0 || end > schedule_.scratch(w.rank))
        throw VerificationError(where + " lies beyond the " + std::to_string(schedule_.scratch(w.rank)) +
                                " elements of its scratch memory");
    auto slot = scratch.lower_bound(begin);
    if (slot != scratch.begin() && std::prev(slot)->first + std::prev(slot)->second.box.volume() > begin) --slot;
    while (slot != scratch.end() && slot->first < end) {
        if (slot->second.stage == stage) throw VerificationError(where + " is written twice");
        slot = scratch.erase(slot);
    }
    scratch.emplace(begin, Slot{w.piece.box, stage});
}

void Movement::finish() const {
    for (Rank rank = 0; rank < schedule_.ranks(); ++rank) {
        const auto wrong = find_miscount(memory_[rank].written, pattern_.expected(rank));
        if (!wrong) continue;
        const std::string times = wrong->covered == 1 ? "once" : std::to_string(wrong->covered) + " times";
        throw VerificationError(
            "rank " + std::to_string(rank) + ": point x " + std::to_string(wrong->point[layout::X]) + ", y " +
            std::to_string(wrong->point[layout::Y]) + ", z " + std::to_string(wrong->point[layout::Z]) +
            " of its target array is " + (wrong->covered == 0 ? "never written" : "written " + times) +
            (wrong->wanted == 1 ? "; exactly once is right" : "; it must not be touched"));
    }
}

}  // namespace tradewind::verify
