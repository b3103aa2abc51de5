#include "verify/match.hpp"

#include <algorithm>
#include <tuple>

#include "base/error.hpp"

namespace tradewind::verify {

namespace {

struct End {
    Rank sender, receiver;
    std::int32_t tag, j;
    Index count;
    std::int8_t parity;
    auto key() const { return std::tuple(sender, receiver, tag); }
};

std::string detail(const End& e) {
    return " (tag " + std::to_string(e.tag) + ", " + std::to_string(e.count) + (e.count == 1 ? " point)" : " points)");
}

std::string sentence(const End& e, int stage) {
    return "stage " + std::to_string(stage) + ", message of rank " + std::to_string(e.sender) + " to rank " +
           std::to_string(e.receiver) + detail(e);
}

[[noreturn]] void refuse_lone(const End& e, int stage, bool sending) {
    const std::string where = "stage " + std::to_string(stage) + ": rank ";
    if (sending)
        throw VerificationError(where + std::to_string(e.sender) + " sends rank " + std::to_string(e.receiver) +
                                " a message" + detail(e) + " that no rank receives");
    throw VerificationError(where + std::to_string(e.receiver) + " waits for a message from rank " +
                            std::to_string(e.sender) + detail(e) + " that no rank sends");
}

// The ends of one side, ordered by what must be the same on the other.
std::vector<End> collect(const schedule::Schedule& schedule, int stage, bool sending) {
    std::vector<End> ends;
    const Rank ranks = schedule.ranks();
    for (Rank rank = 0; rank < ranks; ++rank) {
        const int asked = sending ? schedule.sends(rank, stage) : schedule.receives(rank, stage);
        for (int j = 0; j < asked; ++j) {
            const schedule::Message m = sending ? schedule.send(rank, stage, j) : schedule.receive(rank, stage, j);
            if (m.count == 0) continue;
            const End e{sending ? rank : m.peer, sending ? m.peer : rank, m.tag, j, m.count, m.parity};
            if (m.peer < 0 || m.peer >= ranks || m.peer == rank || m.count < 0 || m.tag < 0)
                throw VerificationError(sentence(e, stage) + ": another rank of 0.." + std::to_string(ranks - 1) +
                                        ", a tag and a count that are not negative are allowed");
            ends.push_back(e);
        }
    }
    const auto before = [](const End& a, const End& b) { return a.key() < b.key(); };
    std::sort(ends.begin(), ends.end(), before);
    const auto twin =
        std::adjacent_find(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.key() == b.key(); });
    if (twin != ends.end())
        throw VerificationError(sentence(*twin, stage) + ": it is " + (sending ? "sent" : "received") +
                                " twice, or there are two that no tag distinguishes");
    return ends;
}

}  // namespace

std::vector<Match> match_stage(const schedule::Schedule& schedule, int stage) {
    const std::vector<End> sends = collect(schedule, stage, true), receives = collect(schedule, stage, false);
    std::vector<Match> matches;
    matches.reserve(sends.size());
    auto r = receives.begin();
    for (const End& s : sends) {
        if (r != receives.end() && r->key() < s.key()) refuse_lone(*r, stage, false);
        if (r == receives.end() || s.key() < r->key()) refuse_lone(s, stage, true);
        if (s.count != r->count)
            throw VerificationError(sentence(s, stage) + ": the receiver expects " + std::to_string(r->count) +
                                    " points");
        if (s.parity != r->parity)
            throw VerificationError(sentence(s, stage) + ": the receiver expects the other parity");
        matches.push_back({s.sender, s.receiver, s.j, r->j, s.tag, s.count});
        ++r;
    }
    if (r != receives.end()) refuse_lone(*r, stage, false);
    return matches;
}

std::string to_text(const Match& m, int stage) {
    return sentence({m.sender, m.receiver, m.tag, 0, m.count, 0}, stage);
}

}  // namespace tradewind::verify
