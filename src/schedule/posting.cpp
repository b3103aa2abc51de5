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

void add(std::vector<Operation>& operations, Operation::Kind kind, bool sending, const std::vector<std::int32_t>& all) {
    for (const std::int32_t j : all) operations.push_back({kind, sending, j});
}

void add_blocking(std::vector<Operation>& operations, bool sending, std::int32_t j) {
    operations.push_back({Operation::post, sending, j});
    operations.push_back({Operation::wait, sending, j});
}

}  // namespace

std::vector<Operation> sendrecv_order(const Schedule& schedule, Rank rank, int stage) {
    std::vector<Operation> operations;
    const int sends = schedule.sends(rank, stage), receives = schedule.receives(rank, stage);
    for (int j = 0; j < std::max(sends, receives); ++j) {
        const bool in = j < receives && schedule.receive(rank, stage, j).count > 0;
        const bool out = j < sends && schedule.send(rank, stage, j).count > 0;
        for (const Operation::Kind kind : {Operation::post, Operation::wait}) {
            if (in) operations.push_back({kind, false, j});
            if (out) operations.push_back({kind, true, j});
        }
    }
    return operations;
}

std::vector<Operation> isend_recv_order(const Schedule& schedule, Rank rank, int stage) {
    const Own own(schedule, rank, stage);
    std::vector<Operation> operations;
    add(operations, Operation::post, true, own.sends);
    for (const std::int32_t j : own.receives) add_blocking(operations, false, j);
    add(operations, Operation::wait, true, own.sends);
    return operations;
}

std::vector<Operation> send_irecv_order(const Schedule& schedule, Rank rank, int stage) {
    const Own own(schedule, rank, stage);
    std::vector<Operation> operations;
    add(operations, Operation::post, false, own.receives);
    for (const std::int32_t j : own.sends) add_blocking(operations, true, j);
    add(operations, Operation::wait, false, own.receives);
    return operations;
}

std::vector<Operation> isend_irecv_order(const Schedule& schedule, Rank rank, int stage) {
    const Own own(schedule, rank, stage);
    std::vector<Operation> operations;
    add(operations, Operation::post, false, own.receives);
    add(operations, Operation::post, true, own.sends);
    add(operations, Operation::wait, false, own.receives);
    add(operations, Operation::wait, true, own.sends);
    return operations;
}

std::vector<Operation> even_odd_order(const Schedule& schedule, Rank rank, int stage) {
    const Own own(schedule, rank, stage);
    std::vector<std::tuple<int, std::int32_t, Rank, Rank, bool, std::int32_t>> order;
    for (const std::int32_t j : own.sends) {
        const Message m = schedule.send(rank, stage, j);
        order.emplace_back(m.parity, m.tag, rank, m.peer, true, j);
    }
    for (const std::int32_t j : own.receives) {
        const Message m = schedule.receive(rank, stage, j);
        order.emplace_back(m.parity, m.tag, m.peer, rank, false, j);
    }
    std::sort(order.begin(), order.end());
    std::vector<Operation> operations;
    for (const auto& [parity, tag, sender, receiver, sending, j] : order) add_blocking(operations, sending, j);
    return operations;
}

}  // namespace tradewind::schedule
