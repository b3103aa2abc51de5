#pragma once

#include "recorder/handlers/point_to_point.hpp"

namespace tradewind::recorder {

/// A window as it was made.
struct WindowInfo {
    int number = NONE;
    const CommunicatorInfo* communicator = nullptr;
};
WindowInfo find_window(Word handle);
int add_window(Word handle, const CommunicatorInfo& communicator, const char* function);
void free_window(Word handle);
/// Takes `free_window` back.
void keep_window(Word handle, const WindowInfo& window);

/// Sets the window, and its rank that is accessed.
template <class C>
void set_target(const C& call, Event& event) {
    const WindowInfo window = find_window(handle(call.window));
    event.operation.window = window.number;
    if (window.communicator == nullptr) return;
    event.operation.communicator = window.communicator->number;
    if constexpr (requires { call.peer; }) event.operation.peer = window.communicator->world_rank(int_of(call.peer));
}

template <class C>
void set_written(const C& call, Event& event) {
    const TypeInfo& type = recorder.types[handle(call.type)];
    event.operation.type = type.number;
    event.operation.bytes = count(call, call.count) * type.size;
}

template <class C>
void set_read(const C& call, Event& event) {
    const TypeInfo& type = recorder.types[handle(call.recvtype)];
    (event.operation.type == NONE ? event.operation.type : event.operation.source_type) = type.number;
    event.operation.received = count(call, call.recvcount) * type.size;
}

struct Put : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        set_target(call, event);
        set_written(call, event);
        add_request(call, event);
    }
};

struct Get : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        set_target(call, event);
        set_read(call, event);
        add_request(call, event);
    }
};

struct GetAccumulate : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        set_target(call, event);
        if (count(call, call.count) > 0) set_written(call, event);  // MPI_NO_OP: the type means nothing
        set_read(call, event);
        add_request(call, event);
    }
};

struct FetchAndOp : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        set_target(call, event);
        const TypeInfo& type = recorder.types[handle(call.type)];
        event.operation.type = type.number;
        event.operation.bytes = event.operation.received = type.size;
    }
};

struct Epoch : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        set_target(call, event);
        if constexpr (requires { call.lock; }) event.operation.argument = int_of(call.lock) == abi().lock_exclusive;
        if constexpr (requires { call.flag; }) event.operation.argument = int_at(call.flag) != 0 ? 1 : 0;
        if constexpr (requires { call.group; }) {
            if (event.operation.window == NONE) return;
            for (const int rank : group_ranks(handle(call.group))) event.lists.blocks.push_back(rank);
        }
    }
    /// Returns the world ranks of a group.
    static std::vector<int> group_ranks(Word group);
};

struct MakeWindow : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        const CommunicatorInfo& info = set_communicator(event, call.comm);
        event.operation.created = add_window(handle_at(call.newwindow), info, function_names[call.number]);
        if constexpr (requires { call.size; }) event.operation.bytes = static_cast<std::int64_t>(call.size);
    }
};

/// Forgets the window before the library frees it, as CommunicatorFree does.
struct WindowFree : Handler {
    static constexpr bool frees = true;
    template <class C>
    static void forget(C& call) {
        const Recorder::Lock lock(recorder);
        free_window(handle_at(call.window_pointer));
    }
    template <class C>
    void before(C& call, Thread&) {
        const Recorder::Lock lock(recorder);
        handle_ = handle_at(call.window_pointer);
        window_ = find_window(handle_);
        free_window(handle_);
    }
    template <class C>
    void after(C&, Event& event, Thread&) {
        event.operation.window = window_.number;
        if (window_.communicator != nullptr) event.operation.communicator = window_.communicator->number;
    }
    template <class C>
    void failed(C&, Event&, Thread&) {
        keep_window(handle_, window_);
    }

  private:
    Word handle_ = 0;
    WindowInfo window_;
};

}  // namespace tradewind::recorder
