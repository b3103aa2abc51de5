#include "verify/matchings.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/random.hpp"

namespace tradewind::verify {

namespace {

using program::Call;
using program::Calls;
using program::ReceiveKey;

constexpr std::uint32_t nothing = ~0u;

std::size_t of(Rank r) {
    return static_cast<std::size_t>(r);
}

// Sends, or receives, in their order.
struct Queue {
    std::vector<std::uint32_t> messages;
    std::size_t first = 0;  // those before have been matched

    // One has been matched, or is open again.
    void matched(const std::vector<std::uint32_t>& ends) {
        while (first < messages.size() && ends[messages[first]] != nothing) ++first;
    }
    void opened(std::size_t place) { first = std::min(first, place); }
};

// The messages of a rank that takes some from anywhere. Sends and receives have the numbers of the messages that they
// were of.
struct Inbox {
    std::vector<ReceiveKey> receives;                 // [message]
    std::vector<bool> open;                           // [message] whether another match is possible
    std::map<Rank, Queue> from;                       // sends, by sender
    Queue posts;                                      // receives
    std::vector<std::uint32_t> taken, taker;          // [receive], [send]: its other end; nothing
    std::vector<std::size_t> send_place, post_place;  // [message] in its queue
    // Receives alike that take messages for which no rank waits: which of them comes first makes no difference.
    bool is_free = true;
};

struct Choice {
    Rank rank;
    std::uint32_t send, receive;
};

class MatchingSearch {
  public:
    MatchingSearch(const Calls& calls, std::int64_t limit, const std::vector<bool>& tests, std::int64_t bound)
        : calls_(calls), limit_(limit), tests_(tests), bound_(bound), next_(of(calls.ranks())) {
        find_places();
        for (Rank r = 0; r < calls.ranks(); ++r) inboxes_.push_back(inbox_of(r));
    }

    Matchings run() && {
        if (found_.receives == found_.kept) return std::move(found_);
        for (Rank r = 0; r < calls_.ranks(); ++r) ready_.push_back(r);
        bool first = true;  // along the matching that happened
        for (;;) {
            go_on();
            if (found_.states >= bound_) {
                found_.complete = false;
                break;
            }
            if (visited_.insert(fingerprint()).second) {
                found_.states += !first;
                if (std::vector<Choice> choices = choices_here(); !choices.empty())
                    stack_.push_back({log_.size(), std::move(choices), 0});
                else if (!all_ended() && hangs_here())
                    break;
                else
                    first = false;
            } else {
                first = false;
            }
            while (!stack_.empty() && stack_.back().tried == stack_.back().choices.size()) stack_.pop_back();
            if (stack_.empty()) break;
            Branch& branch = stack_.back();
            go_back(branch.log);
            take(branch.choices[branch.tried++]);
        }
        return std::move(found_);
    }

  private:
    struct Branch {
        std::size_t log;
        std::vector<Choice> choices;
        std::size_t tried;
    };
    // Undone on the way back: a rank that has gone on, or a match.
    struct Step {
        Rank rank;
        std::size_t next;
        std::uint32_t send, receive;
    };

    void find_places() {
        for (Rank r = 0; r < calls_.ranks(); ++r) {
            sent_at_.emplace_back(calls_.receives(r));
            sender_.emplace_back(calls_.receives(r));
            posted_at_.emplace_back(calls_.receives(r));
        }
        for (Rank r = 0; r < calls_.ranks(); ++r)
            for (std::uint32_t i = 0; i < calls_.of(r).size(); ++i) {
                const Call& call = calls_.of(r)[i];
                if (call.kind == Call::receive) posted_at_[of(r)][call.message] = i;
                if (call.kind != Call::send) continue;
                sent_at_[call.peer][call.message] = i;
                sender_[call.peer][call.message] = r;
            }
    }

    // Receives whose rank turns to the sender of what they took, before it takes the next message from anywhere.
    std::vector<bool> answered(Rank r) const {
        const std::vector<ReceiveKey>& receives = calls_.receive_keys(r);
        std::vector<bool> found(receives.size());
        std::uint32_t last = nothing;  // the one that was taken last
        for (const Call& call : calls_.of(r)) {
            if (call.kind == Call::wait) {
                const Call& awaited = calls_.request(r, call.peer);
                if (awaited.kind == Call::receive && receives[awaited.message].is_wild()) last = awaited.message;
            } else if (call.kind != Call::compute && last != nothing && !call.in_collective &&
                       !(call.kind == Call::receive && receives[call.message].is_wild()) &&
                       static_cast<Rank>(call.peer) == sender_[of(r)][last]) {
                found[last] = true;
            }
        }
        return found;
    }
    Inbox inbox_of(Rank r) {
        Inbox inbox;
        inbox.receives = calls_.receive_keys(r);
        if (inbox.receives.empty()) return inbox;
        const std::vector<bool> kept = answered(r);
        std::set<std::uint32_t> communicators;
        for (std::uint32_t m = 0; m < inbox.receives.size(); ++m) {
            ReceiveKey& each = inbox.receives[m];
            if (!each.is_wild()) continue;
            ++found_.receives;
            found_.kept += kept[m];
            if (kept[m])
                each.any_source = each.any_tag = false;
            else
                communicators.insert(each.communicator);
        }
        bool some_tag = false, any_tag = false;
        std::map<Rank, std::map<std::uint32_t, std::uint32_t>> in_order;  // [sender][its call]
        for (std::uint32_t m = 0; m < inbox.receives.size(); ++m) {
            const ReceiveKey& each = inbox.receives[m];
            inbox.open.push_back(each.tag >= 0 && communicators.contains(each.communicator));
            inbox.taken.push_back(nothing);
            inbox.taker.push_back(nothing);
            inbox.send_place.push_back(0);
            inbox.post_place.push_back(inbox.posts.messages.size());
            if (!inbox.open[m]) continue;
            const Rank sender = sender_[of(r)][m];
            inbox.posts.messages.push_back(m);
            in_order[sender][sent_at_[of(r)][m]] = m;
            (each.any_tag ? any_tag : some_tag) = true;
            inbox.is_free = inbox.is_free && each.any_source && is_buffered(calls_.of(sender)[sent_at_[of(r)][m]]);
        }
        inbox.is_free = inbox.is_free && !(some_tag && any_tag);
        for (const auto& [sender, sends] : in_order)
            for (const auto& [call, m] : sends) {
                std::vector<std::uint32_t>& messages = inbox.from[sender].messages;
                inbox.send_place[m] = messages.size();
                messages.push_back(m);
            }
        return inbox;
    }

    bool is_buffered(const Call& send) const { return send.size() <= limit_ && !send.synchronous; }
    bool is_open(Rank receiver, std::uint32_t message) const {
        const Inbox& inbox = inboxes_[of(receiver)];
        return !inbox.open.empty() && inbox.open[message];
    }
    bool is_sent(Rank receiver, std::uint32_t m) const {
        return next_[of(sender_[of(receiver)][m])] > sent_at_[of(receiver)][m];
    }
    bool is_posted(Rank receiver, std::uint32_t m) const { return next_[of(receiver)] > posted_at_[of(receiver)][m]; }
    // Whether a send or receive of a rank has ended.
    bool has_ended(Rank r, const Call& call) const {
        const bool sends = call.kind == Call::send;
        const Rank receiver = sends ? static_cast<Rank>(call.peer) : r;
        if (sends && is_buffered(call)) return true;
        if (!is_open(receiver, call.message))
            return sends ? is_posted(receiver, call.message) : is_sent(receiver, call.message);
        const Inbox& inbox = inboxes_[of(receiver)];
        return (sends ? inbox.taker : inbox.taken)[call.message] != nothing;
    }
    bool all_ended() const {
        for (Rank r = 0; r < calls_.ranks(); ++r)
            if (next_[of(r)] < calls_.of(r).size()) return false;
        return true;
    }

    void go_on() {
        while (!ready_.empty()) {
            const Rank r = ready_.back();
            ready_.pop_back();
            advance(r);
        }
    }
    void advance(Rank r) {
        const std::vector<Call>& calls = calls_.of(r);
        const std::size_t begin = next_[of(r)];
        std::vector<Rank> touched;  // whose messages may be matched now
        for (std::size_t& next = next_[of(r)]; next < calls.size(); ++next) {
            const Call& call = calls[next];
            if (call.kind == Call::wait && !has_ended(r, calls_.request(r, call.peer))) break;
            if (call.kind != Call::send && call.kind != Call::receive) continue;
            const Rank receiver = call.kind == Call::send ? static_cast<Rank>(call.peer) : r;
            if (is_open(receiver, call.message))
                touched.push_back(receiver);
            else
                ready_.push_back(call.kind == Call::send ? receiver : static_cast<Rank>(call.peer));
        }
        if (next_[of(r)] == begin) return;
        log_.push_back({r, begin, nothing, nothing});
        std::sort(touched.begin(), touched.end());
        touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
        for (const Rank each : touched) match(each);
    }

    // The receives that are posted and have taken nothing.
    template <class Use>
    void for_posted(Rank r, Use use) const {
        const Inbox& inbox = inboxes_[of(r)];
        for (std::size_t i = inbox.posts.first; i < inbox.posts.messages.size(); ++i) {
            const std::uint32_t m = inbox.posts.messages[i];
            if (!is_posted(r, m)) return;
            if (inbox.taken[m] == nothing && !use(m)) return;
        }
    }
    bool accepts(Rank r, std::uint32_t receive, std::uint32_t send) const {
        const Inbox& inbox = inboxes_[of(r)];
        const ReceiveKey &wanted = inbox.receives[receive], &given = inbox.receives[send];
        return wanted.communicator == given.communicator && (wanted.any_tag || wanted.tag == given.tag) &&
               (wanted.any_source || sender_[of(r)][receive] == sender_[of(r)][send]);
    }
    // The first message of a sender that a receive takes, if no receive that was posted before has to take it.
    std::uint32_t first_for(Rank r, std::uint32_t receive, const Queue& sends) const {
        for (std::size_t i = sends.first; i < sends.messages.size(); ++i) {
            const std::uint32_t send = sends.messages[i];
            if (!is_sent(r, send)) return nothing;
            if (inboxes_[of(r)].taker[send] != nothing || !accepts(r, receive, send)) continue;
            bool before = false;
            for_posted(r, [&](std::uint32_t other) {
                if (other == receive) return false;
                before = accepts(r, other, send);
                return !before;
            });
            return before ? nothing : send;
        }
        return nothing;
    }
    // The matches of a rank that leave no choice.
    void match(Rank r) {
        for (bool again = true; again;) {
            again = false;
            Choice found{r, nothing, nothing};
            for_posted(r, [&](std::uint32_t receive) {
                if (inboxes_[of(r)].receives[receive].any_source) return true;
                found = {r, first_for(r, receive, inboxes_[of(r)].from.at(sender_[of(r)][receive])), receive};
                return found.send == nothing;
            });
            if (found.send == nothing) continue;
            take(found);
            again = true;
        }
    }
    void take(const Choice& match) {
        Inbox& inbox = inboxes_[of(match.rank)];
        inbox.taken[match.receive] = match.send;
        inbox.taker[match.send] = match.receive;
        inbox.posts.matched(inbox.taken);
        inbox.from.at(sender_[of(match.rank)][match.send]).matched(inbox.taker);
        log_.push_back({match.rank, 0, match.send, match.receive});
        ready_.push_back(match.rank);
        ready_.push_back(sender_[of(match.rank)][match.send]);
    }
    void go_back(std::size_t log) {
        for (; log_.size() > log; log_.pop_back()) {
            const Step& step = log_.back();
            if (step.send == nothing) {
                next_[of(step.rank)] = step.next;
            } else {
                Inbox& inbox = inboxes_[of(step.rank)];
                inbox.taken[step.receive] = inbox.taker[step.send] = nothing;
                inbox.posts.opened(inbox.post_place[step.receive]);
                inbox.from.at(sender_[of(step.rank)][step.send]).opened(inbox.send_place[step.send]);
            }
        }
    }

    bool may_send(Rank r, std::uint32_t receive, const Queue& sends) const {
        const auto begin = sends.messages.begin() + static_cast<std::ptrdiff_t>(sends.first);
        return std::any_of(begin, sends.messages.end(), [&](std::uint32_t send) {
            return inboxes_[of(r)].taker[send] == nothing && accepts(r, receive, send);
        });
    }

    // Matches that can be tried where nothing goes on without a choice; first the one that happened.
    std::vector<Choice> choices_here() const {
        std::vector<Choice> all;
        for (Rank r = 0; r < calls_.ranks(); ++r) {
            const Inbox& inbox = inboxes_[of(r)];
            std::vector<Choice> enough;
            for_posted(r, [&](std::uint32_t receive) {
                if (!inbox.receives[receive].any_source) return true;
                std::vector<Choice> here;
                bool all_there = true;  // no other rank can send what it takes
                for (const auto& [sender, sends] : inbox.from) {
                    if (const std::uint32_t send = first_for(r, receive, sends); send != nothing)
                        here.push_back({r, send, receive});
                    else
                        all_there = all_there && !may_send(r, receive, sends);
                }
                std::stable_partition(here.begin(), here.end(), [](const Choice& m) { return m.send == m.receive; });
                if (!here.empty() && inbox.is_free)
                    enough = {here.front()};
                else if (!here.empty() && all_there)
                    enough = here;
                all.insert(all.end(), here.begin(), here.end());
                return enough.empty();
            });
            if (!enough.empty()) return enough;
        }
        std::stable_partition(all.begin(), all.end(), [](const Choice& m) { return m.send == m.receive; });
        return all;
    }
    std::uint64_t fingerprint() const {
        std::uint64_t hash = 0;
        for (const std::size_t next : next_) hash = mix(hash ^ next);
        for (Rank r = 0; r < calls_.ranks(); ++r) {
            const Inbox& inbox = inboxes_[of(r)];
            for_posted(r, [&](std::uint32_t receive) {
                hash = mix(hash ^ (std::uint64_t{1} << 40 | receive));
                return true;
            });
            for (const auto& [sender, sends] : inbox.from)
                for (std::size_t i = sends.first; i < sends.messages.size() && is_sent(r, sends.messages[i]); ++i)
                    if (inbox.taker[sends.messages[i]] == nothing)
                        hash = mix(hash ^ (std::uint64_t{2} << 40 | sends.messages[i]));
            hash = mix(hash ^ static_cast<std::uint64_t>(r));
        }
        return hash;
    }

    // Notes the ranks that wait; false where one tests for what comes first.
    bool hangs_here() {
        for (Rank r = 0; r < calls_.ranks(); ++r)
            if (next_[of(r)] < calls_.of(r).size() && tests_[calls_.of(r)[next_[of(r)]].label]) {
                ++found_.unclear;
                return false;
            }
        found_.hangs = true;
        Rank r = 0;
        while (next_[of(r)] == calls_.of(r).size()) ++r;
        std::set<Rank> seen;
        while (r >= 0 && next_[of(r)] < calls_.of(r).size() && seen.insert(r).second) {
            const Call& wait = calls_.of(r)[next_[of(r)]];
            const Call& call = calls_.request(r, wait.peer);
            const bool anyone = call.kind == Call::receive && is_open(r, call.message) &&
                                inboxes_[of(r)].receives[call.message].any_source;
            const Rank peer = anyone ? -1 : static_cast<Rank>(call.peer);
            found_.waiting.push_back({r, peer, call.kind == Call::send, call.amount, wait.label, wait.row});
            r = peer;
        }
        for (Rank rank = 0; rank < calls_.ranks(); ++rank) {
            const Inbox& inbox = inboxes_[of(rank)];
            for (const std::uint32_t m : inbox.posts.messages)
                if (inbox.taken[m] != nothing && inbox.taken[m] != m)
                    found_.taken.push_back({rank, sender_[of(rank)][m], sender_[of(rank)][inbox.taken[m]],
                                            calls_.of(rank)[posted_at_[of(rank)][m]].row});
        }
        return true;
    }

    const Calls& calls_;
    std::int64_t limit_;
    const std::vector<bool>& tests_;
    std::int64_t bound_;
    std::vector<std::size_t> next_;                                // [rank] call
    std::vector<std::vector<std::uint32_t>> sent_at_, posted_at_;  // [receiver][message] call
    std::vector<std::vector<Rank>> sender_;                        // [receiver][message]
    std::vector<Inbox> inboxes_;                                   // [rank]
    std::vector<Rank> ready_;
    std::vector<Step> log_;
    std::vector<Branch> stack_;
    std::unordered_set<std::uint64_t> visited_;
    Matchings found_;
};

}  // namespace

Matchings matchings_of(const Calls& calls, std::int64_t limit, const std::vector<bool>& tests, std::int64_t bound) {
    return MatchingSearch(calls, limit, tests, bound).run();
}

}  // namespace tradewind::verify
