#include "schedule/posting.hpp"

#include <algorithm>
#include <tuple>

namespace tradewind::schedule {

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

}  // namespace

std::vector<Act> sendrecv_order(const Schedule& schedule, Rank rank, int stage) {
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

std::vector<Act> isend_recv_order(const Schedule& schedule, Rank rank, int stage) {
    const Own own(schedule, rank, stage);
    std::vector<Act> acts;
    add(acts, Act::post, true, own.sends);
    for (const std::int32_t j : own.receives) add_blocking(acts, false, j);
    add(acts, Act::wait, true, own.sends);
    return acts;
}

std::vector<Act> send_irecv_order(const Schedule& schedule, Rank rank, int stage) {
    const Own own(schedule, rank, stage);
    std::vector<Act> acts;
    add(acts, Act::post, false, own.receives);
    for (const std::int32_t j : own.sends) add_blocking(acts, true, j);
    add(acts, Act::wait, false, own.receives);
    return acts;
}

std::vector<Act> isend_irecv_order(const Schedule& schedule, Rank rank, int stage) {
    const Own own(schedule, rank, stage);
    std::vector<Act> acts;
    add(acts, Act::post, false, own.receives);
    add(acts, Act::post, true, own.sends);
    add(acts, Act::wait, false, own.receives);
    add(acts, Act::wait, true, own.sends);
    return acts;
}

std::vector<Act> even_odd_order(const Schedule& schedule, Rank rank, int stage) {
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

}  // namespace tradewind::schedule
