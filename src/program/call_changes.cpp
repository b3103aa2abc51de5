#include "program/call_changes.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tradewind::program {

namespace {

constexpr std::uint32_t none = ~0u;

std::size_t at(Rank r) {
    return static_cast<std::size_t>(r);
}

// The calls of all ranks in a new order. Messages and requests have the numbers that they had before, until it is done.
class ChangedCalls {
  public:
    explicit ChangedCalls(const Calls& calls) : before_(calls), lists_(at(calls.ranks())), requests_(lists_.size()) {}

    // `request`: of a send or receive, the number that it had.
    void add(Rank r, const Call& call, std::uint32_t request = none) {
        lists_[at(r)].push_back(call);
        if (call.kind == Call::send || call.kind == Call::receive) requests_[at(r)].push_back(request);
    }
    Calls finish() && {
        std::vector<std::vector<std::uint32_t>> messages;  // [receiver][number before]
        for (Rank r = 0; r < before_.ranks(); ++r) {
            std::uint32_t number = 0;
            std::vector<std::uint32_t>& renumbered = messages.emplace_back(before_.receives(r), none);
            for (Call& call : lists_[at(r)])
                if (call.kind == Call::receive) call.message = renumbered[call.message] = number++;
        }
        for (Rank r = 0; r < before_.ranks(); ++r) {
            std::vector<std::uint32_t> renumbered(before_.requests(r), none);
            for (std::uint32_t i = 0; i < requests_[at(r)].size(); ++i) renumbered[requests_[at(r)][i]] = i;
            for (Call& call : lists_[at(r)]) {
                if (call.kind == Call::send) call.message = messages[call.peer][call.message];
                if (call.kind == Call::wait) call.peer = renumbered[call.peer];
            }
        }
        return Calls(std::move(lists_), before_.labels(), before_.unmatched());
    }

  private:
    const Calls& before_;
    std::vector<std::vector<Call>> lists_;              // [rank]
    std::vector<std::vector<std::uint32_t>> requests_;  // [rank][send or receive]: the number before
};

// Calls `use` with each call of a rank, and with the number of the request that it begins, or none.
template <class Use>
void for_calls(const Calls& calls, Rank r, Use use) {
    std::uint32_t request = 0;
    for (const Call& call : calls.of(r))
        use(call, call.kind == Call::send || call.kind == Call::receive ? request++ : none);
}

// Which messages become one.
class Groups {
  public:
    Groups(const Calls& calls, std::int64_t limit) : calls_(calls), limit_(limit) {
        for (Rank r = 0; r < calls.ranks(); ++r) of_message_.emplace_back(calls.receives(r), none);
        for (Rank r = 0; r < calls.ranks(); ++r) find(r);
    }

    struct Group {
        std::uint32_t first, last;  // numbers: of the first receive, and of the last send
        std::int64_t bytes;
        std::uint32_t messages = 1;
        std::uint32_t request = none;  // of the receive
        bool awaited = false;
    };
    // The group of a message; null: it stays as it is.
    Group* of(Rank receiver, std::uint32_t message) {
        const std::uint32_t group = of_message_[at(receiver)][message];
        return group == none || groups_[group].messages == 1 ? nullptr : &groups_[group];
    }

  private:
    bool is_short(const Call& send) const { return !send.in_collective && !send.synchronous && send.amount <= limit_; }
    void find(Rank r) {
        std::map<std::uint32_t, std::uint32_t> open;  // by receiver
        for (const Call& call : calls_.of(r)) {
            if (call.kind == Call::wait) {
                const Call& awaited = calls_.request(r, call.peer);
                if (awaited.kind == Call::receive || !is_short(awaited)) open.clear();
            }
            if (call.kind != Call::send || !is_short(call)) continue;
            const auto found = open.find(call.peer);
            std::uint32_t& group = of_message_[call.peer][call.message];
            if (found != open.end() && groups_[found->second].bytes + call.amount <= limit_) {
                group = found->second;
                Group& joined = groups_[group];
                joined.first = std::min(joined.first, call.message);
                joined.last = call.message;
                joined.bytes += call.amount;
                ++joined.messages;
            } else {
                group = open[call.peer] = static_cast<std::uint32_t>(groups_.size());
                groups_.push_back({call.message, call.message, call.amount});
            }
        }
    }

    const Calls& calls_;
    std::int64_t limit_;
    std::vector<Group> groups_;
    std::vector<std::vector<std::uint32_t>> of_message_;  // [receiver][message]
};

}  // namespace

Calls merged(const Calls& calls, std::int64_t limit) {
    Groups groups(calls, limit);
    ChangedCalls changed(calls);
    for (Rank r = 0; r < calls.ranks(); ++r)
        for_calls(calls, r, [&](Call call, std::uint32_t request) {
            const Call& begins = call.kind == Call::wait ? calls.request(r, call.peer) : call;
            const bool sends = begins.kind == Call::send;
            Groups::Group* const group = begins.kind == Call::compute
                                             ? nullptr
                                             : groups.of(sends ? static_cast<Rank>(begins.peer) : r, begins.message);
            if (group == nullptr) return changed.add(r, call, request);
            if (begins.message != (sends ? group->last : group->first) && (sends || call.kind != Call::wait)) return;
            if (call.kind == Call::wait && !sends) {
                if (std::exchange(group->awaited, true)) return;
                call.peer = group->request;
            } else if (call.kind != Call::wait) {
                call.message = group->first;
                call.amount = group->bytes;
                if (!sends) group->request = request;
            }
            changed.add(r, call, request);
        });
    return std::move(changed).finish();
}

Calls with_early_receives(const Calls& calls) {
    ChangedCalls changed(calls);
    for (Rank r = 0; r < calls.ranks(); ++r) {
        std::vector<std::pair<Call, std::uint32_t>> held;  // computations and sends, which receives may pass
        const auto let_go = [&] {
            for (const auto& [call, request] : held) changed.add(r, call, request);
            held.clear();
        };
        for_calls(calls, r, [&](const Call& call, std::uint32_t request) {
            if (call.kind == Call::wait || call.in_collective) {
                let_go();
                changed.add(r, call, request);
            } else if (call.kind == Call::receive) {
                changed.add(r, call, request);
            } else {
                held.emplace_back(call, request);
            }
        });
        let_go();
    }
    return std::move(changed).finish();
}

Calls with_late_waits(const Calls& calls) {
    ChangedCalls changed(calls);
    for (Rank r = 0; r < calls.ranks(); ++r) {
        std::vector<Call> held;  // waits, which a computation may pass
        const auto let_go = [&] {
            for (const Call& call : held) changed.add(r, call);
            held.clear();
        };
        for_calls(calls, r, [&](const Call& call, std::uint32_t request) {
            if (call.kind == Call::wait && !calls.request(r, call.peer).in_collective) {
                held.push_back(call);
                return;
            }
            if (call.kind != Call::compute) let_go();
            changed.add(r, call, request);
            let_go();
        });
        let_go();
    }
    return std::move(changed).finish();
}

}  // namespace tradewind::program
