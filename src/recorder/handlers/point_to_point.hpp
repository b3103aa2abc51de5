#pragma once

#include "recorder/handlers/recorded.hpp"

namespace tradewind::recorder {

inline const CommunicatorInfo& set_communicator(Event& event, Word communicator) {
    const CommunicatorInfo& info = recorder.communicators[handle(communicator)];
    event.operation.communicator = info.number;
    return info;
}

template <class C>
void set_send(const C& call, Event& event, std::int64_t count, const CommunicatorInfo& info) {
    const TypeInfo& type = recorder.types[handle(call.type)];
    event.operation.peer = info.world_rank(int_of(call.peer));
    event.operation.tag = int_of(call.tag);
    event.operation.type = type.number;
    event.operation.bytes = count * type.size;
}

template <class C>
void set_receive(const C& call, Event& event, std::int64_t count, const CommunicatorInfo& info) {
    const TypeInfo& type = recorder.types[handle(call.recvtype)];
    event.operation.source = info.world_rank(int_of(call.source));
    event.operation.source_tag = tag_of(call.recvtag);
    (event.operation.bytes > 0 || event.operation.peer != NONE ? event.operation.source_type : event.operation.type) =
        type.number;
    event.operation.received = count * type.size;
}

/// Sets what a receive has received, by its status; where a wildcard was given, also from where.
inline void set_received(Event& event, Word address, const CommunicatorInfo& info) {
    const Status status = read_status(address);
    event.operation.received = status.bytes;
    if (event.operation.source == ANY || event.operation.source_tag == ANY) {
        event.lists.ended.push_back({NONE, info.world_rank(status.source), status.tag, 0, status.bytes});
    }
}

struct Send : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        set_send(call, event, count(call, call.count), set_communicator(event, call.comm));
        add_request(call, event);
    }
};

/// Prepared calls differ from started ones by their form, which the structure of the call has.
struct SendInit : Send {};

struct PartitionedInit : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        const CommunicatorInfo& info = set_communicator(event, call.comm);
        const std::int64_t count = int_of(call.partitions) * static_cast<std::int64_t>(call.each);
        event.operation.argument = int_of(call.partitions);
        if constexpr (requires { call.peer; }) {
            set_send(call, event, count, info);
            add_request(call, event);
        } else {
            set_receive(call, event, count, info);
            add_request(call, event, &info);
        }
    }
};

struct Receive : Handler {
    template <class C>
    void before(C& call, Thread& thread) {
        if constexpr (requires { call.status; }) want_statuses(call.status, 1, thread);
    }
    template <class C>
    void after(C& call, Event& event, Thread&) {
        const CommunicatorInfo& info = set_communicator(event, call.comm);
        set_receive(call, event, count(call, call.recvcount), info);
        if constexpr (requires { call.status; }) set_received(event, call.status, info);
        add_request(call, event, &info);
    }
};
struct ReceiveInit : Receive {};

struct MatchedReceive : Handler {
    template <class C>
    void before(C& call, Thread& thread) {
        message_ = handle_at(call.message);
        if constexpr (requires { call.status; }) want_statuses(call.status, 1, thread);
    }
    template <class C>
    void after(C& call, Event& event, Thread&) {
        const auto found = recorder.messages.find(message_);
        const TypeInfo& type = recorder.types[handle(call.recvtype)];
        event.operation.type = type.number;
        event.operation.received = count(call, call.recvcount) * type.size;
        const CommunicatorInfo* info = nullptr;
        if (found != recorder.messages.end()) {
            info = found->second.communicator;
            event.operation.communicator = info->number;
            event.operation.source = found->second.source;
            event.operation.source_tag = found->second.tag;
            recorder.messages.erase(found);
        }
        if constexpr (requires { call.status; }) event.operation.received = read_status(call.status).bytes;
        add_request(call, event, info);
    }

  private:
    Word message_ = 0;
};

struct SendReceive : Receive {
    template <class C>
    void after(C& call, Event& event, Thread& thread) {
        set_send(call, event, count(call, call.count), set_communicator(event, call.comm));
        Receive::after(call, event, thread);
    }
};

struct SendReceiveReplace : Receive {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        const CommunicatorInfo& info = set_communicator(event, call.comm);
        set_send(call, event, count(call, call.count), info);
        event.operation.source = info.world_rank(int_of(call.source));
        event.operation.source_tag = tag_of(call.recvtag);
        event.operation.source_type = event.operation.type;
        event.operation.received = event.operation.bytes;
        if constexpr (requires { call.status; }) set_received(event, call.status, info);
        add_request(call, event, &info);
    }
};

struct Probe : Handler {
    template <class C>
    void before(C& call, Thread& thread) {
        want_statuses(call.status, 1, thread);
    }
    template <class C>
    void after(C& call, Event& event, Thread&) {
        const CommunicatorInfo& info = set_communicator(event, call.comm);
        event.operation.source = info.world_rank(int_of(call.source));
        event.operation.source_tag = tag_of(call.recvtag);
        event.operation.argument = 1;
        if constexpr (requires { call.flag; }) event.operation.argument = int_at(call.flag) != 0 ? 1 : 0;
        if (event.operation.argument == 0) return;
        const Status status = read_status(call.status);
        const std::int32_t source = info.world_rank(status.source);
        event.lists.ended.push_back({NONE, source, status.tag, 0, status.bytes});
        if constexpr (requires { call.message; }) {
            recorder.messages[handle_at(call.message)] = {&info, source, status.tag};
        }
    }
};

}  // namespace tradewind::recorder
