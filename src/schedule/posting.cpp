#include "schedule/posting.hpp"

#include <algorithm>
#include <tuple>

#include "base/error.hpp"

namespace tradewind {

namespace {

// The messages of one rank in one stage that are not empty.
struct Own {
    std::vector<std::int32_t> sends, receives;
    Own(const Schedule& schedule, Rank rank, int stage) {
        for (int j = 0; j < schedule.sends(rank, stage); ++j)
            if (schedule.send(rank, stage, j).count > 0) sends.push_back(j);
        for (int j = 0; j < schedule.receives(rank, stage); ++j)
            if (schedule.receive(rank, stage, j).count > 0) receives.push_back(j);
    }
};

void add(std::vector<Act>& acts, Act::Kind kind, bool sending, const std::vector<std::int32_t>& all) {
    for (const std::int32_t j : all) acts.push_back({kind, sending, j});
}

void add_blocking(std::vector<Act>& acts, bool sending, std::int32_t j) {
    acts.push_back({Act::post, sending, j});
    acts.push_back({Act::wait, sending, j});
}

// Both halves of the j-th exchange at once, then the next: MPI_Sendrecv, a half that is empty left out. Counting j over
// the empty messages too keeps exchanges together that the algorithm means to be.
std::vector<Act> sendrecv(const Schedule& schedule, Rank rank, int stage) {
    std::vector<Act> acts;
    const int sends = schedule.sends(rank, stage), receives = schedule.receives(rank, stage);
    for (int j = 0; j < std::max(sends, receives); ++j) {
        const bool in = j < receives && schedule.receive(rank, stage, j).count > 0;
        const bool out = j < sends && schedule.send(rank, stage, j).count > 0;
        for (const Act::Kind kind : {Act::post, Act::wait}) {
            if (in) acts.push_back({kind, false, j});
            if (out) acts.push_back({kind, true, j});
        }
    }
    return acts;
}

std::vector<Act> isend_recv(const Schedule& schedule, Rank rank, int stage) {
    const Own own(schedule, rank, stage);
    std::vector<Act> acts;
    add(acts, Act::post, true, own.sends);
    for (const std::int32_t j : own.receives) add_blocking(acts, false, j);
    add(acts, Act::wait, true, own.sends);
    return acts;
}

std::vector<Act> send_irecv(const Schedule& schedule, Rank rank, int stage) {
    const Own own(schedule, rank, stage);
    std::vector<Act> acts;
    add(acts, Act::post, false, own.receives);
    for (const std::int32_t j : own.sends) add_blocking(acts, true, j);
    add(acts, Act::wait, false, own.receives);
    return acts;
}

std::vector<Act> isend_irecv(const Schedule& schedule, Rank rank, int stage) {
    const Own own(schedule, rank, stage);
    std::vector<Act> acts;
    add(acts, Act::post, false, own.receives);
    add(acts, Act::post, true, own.sends);
    add(acts, Act::wait, false, own.receives);
    add(acts, Act::wait, true, own.sends);
    return acts;
}

// One blocking call after another, in an order of all messages of the stage that all ranks share: of the messages that
// are not done, the first one is always the next thing to do for both of its ends, so there is no deadlock. The turn
// comes first in the order, so that half of the ranks send while the others receive.
std::vector<Act> even_odd(const Schedule& schedule, Rank rank, int stage) {
    const Own own(schedule, rank, stage);
    std::vector<std::tuple<int, std::int32_t, Rank, Rank, bool, std::int32_t>> order;
    for (const std::int32_t j : own.sends) {
        const Message m = schedule.send(rank, stage, j);
        order.emplace_back(m.turn, m.tag, rank, m.peer, true, j);
    }
    for (const std::int32_t j : own.receives) {
        const Message m = schedule.receive(rank, stage, j);
        order.emplace_back(m.turn, m.tag, m.peer, rank, false, j);
    }
    std::sort(order.begin(), order.end());
    std::vector<Act> acts;
    for (const auto& [turn, tag, sender, receiver, sending, j] : order) add_blocking(acts, sending, j);
    return acts;
}

}  // namespace

const std::vector<PostingEntry>& posting_orders() {
    static const std::vector<PostingEntry> table{
        {"sendrecv", "one exchange after another, sending and receiving at once", sendrecv},
        {"isend-recv", "all sends started, then one blocking receive after another", isend_recv},
        {"send-irecv", "all receives started, then one blocking send after another", send_irecv},
        {"isend-irecv", "all receives and sends started, then all awaited", isend_irecv},
        {"even-odd", "blocking sends and receives, half of the ranks sending while the others receive", even_odd},
    };
    return table;
}

const PostingEntry& posting_order(const std::string& name) {
    std::string known;
    for (const PostingEntry& entry : posting_orders()) {
        if (entry.name == name) return entry;
        known += (known.empty() ? "" : ", ") + entry.name;
    }
    throw InputError("unknown transport '" + name + "' (known: " + known + ")");
}

}  // namespace tradewind
