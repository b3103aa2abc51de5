#pragma once

#include "recorder/handlers/recorded.hpp"

namespace tradewind::recorder {

/// Adds the slots of the requests that a call was given; those that are not known have none.
inline void set_asked(Event& event, const std::vector<Word>& handles) {
    for (const Word handle : handles) {
        const int slot = handle == abi().null_request ? Requests::UNKNOWN : recorder.requests.find(handle);
        if (slot != Requests::UNKNOWN) event.lists.asked.push_back(slot);
    }
}

/// Ends the request of a handle: adds it to those that ended, and its slot is free unless it is persistent.
void end_request(Event& event, Word handle, Word status);

inline void take_handles(Thread& thread, Word length, Word requests) {
    thread.handles.clear();
    for (int n = 0; n < int_of(length); n++) thread.handles.push_back(handle_at(requests, static_cast<std::size_t>(n)));
}

inline Word status_at(Word statuses, std::size_t index) {
    return statuses + index * abi().status_size;
}

/// Whether the library has ended a request in a call that has failed: it is null now.
inline bool has_ended(const Thread& thread, Word requests, std::size_t index) {
    return thread.handles[index] != abi().null_request && handle_at(requests, index) == abi().null_request;
}

struct CompleteOne : Handler {
    template <class C>
    void before(C& call, Thread& thread) {
        thread.handles.assign(1, handle_at(call.request));
        want_statuses(call.status, 1, thread);
    }
    template <class C>
    void after(C& call, Event& event, Thread& thread) {
        event.operation.argument = 1;
        if constexpr (requires { call.flag; }) event.operation.argument = int_at(call.flag) != 0 ? 1 : 0;
        set_asked(event, thread.handles);
        if (event.operation.argument != 0) end_request(event, thread.handles[0], call.status);
    }
    template <class C>
    void failed(C& call, Event& event, Thread& thread) {
        event.operation.argument = 1;
        set_asked(event, thread.handles);
        if (has_ended(thread, call.request, 0)) end_request(event, thread.handles[0], call.status);
    }
};

struct GetStatus : Handler {
    template <class C>
    void before(C& call, Thread& thread) {
        want_statuses(call.status, 1, thread);
    }
    template <class C>
    void after(C& call, Event& event, Thread& thread) {
        thread.handles.assign(1, handle(call.request_value));
        event.operation.argument = int_at(call.flag) != 0 ? 1 : 0;
        set_asked(event, thread.handles);
    }
};

struct CompleteAll : Handler {
    template <class C>
    void before(C& call, Thread& thread) {
        take_handles(thread, call.length, call.requests);
        want_statuses(call.statuses, thread.handles.size(), thread);
    }
    template <class C>
    void after(C& call, Event& event, Thread& thread) {
        event.operation.argument = 1;
        if constexpr (requires { call.flag; }) event.operation.argument = int_at(call.flag) != 0 ? 1 : 0;
        if (event.operation.argument == 0) return set_asked(event, thread.handles);
        for (std::size_t n = 0; n < thread.handles.size(); n++) {
            end_request(event, thread.handles[n], status_at(call.statuses, n));
        }
        for (const Ended& ended : event.lists.ended) event.lists.asked.push_back(ended.request);
    }
    template <class C>
    void failed(C& call, Event& event, Thread& thread) {
        event.operation.argument = 1;
        set_asked(event, thread.handles);
        for (std::size_t n = 0; n < thread.handles.size(); n++) {
            if (has_ended(thread, call.requests, n)) end_request(event, thread.handles[n], status_at(call.statuses, n));
        }
    }
};

struct CompleteAny : Handler {
    template <class C>
    void before(C& call, Thread& thread) {
        take_handles(thread, call.length, call.requests);
        want_statuses(call.status, 1, thread);
    }
    template <class C>
    void after(C& call, Event& event, Thread& thread) {
        set_asked(event, thread.handles);
        const int index = int_at(call.index);
        event.operation.argument = index >= 0 ? 1 : 0;
        if constexpr (requires { call.flag; }) event.operation.argument = int_at(call.flag) != 0 ? 1 : 0;
        if (event.operation.argument != 0 && index >= 0) {
            end_request(event, thread.handles[static_cast<std::size_t>(index)], call.status);
        }
    }
    template <class C>
    void failed(C& call, Event& event, Thread& thread) {
        event.operation.argument = 1;
        set_asked(event, thread.handles);
        for (std::size_t n = 0; n < thread.handles.size(); n++) {
            if (has_ended(thread, call.requests, n)) end_request(event, thread.handles[n], call.status);
        }
    }
};

struct CompleteSome : Handler {
    template <class C>
    void before(C& call, Thread& thread) {
        take_handles(thread, call.length, call.requests);
        want_statuses(call.statuses, thread.handles.size(), thread);
    }
    template <class C>
    void after(C& call, Event& event, Thread& thread) {
        set_asked(event, thread.handles);
        const int ended = int_at(call.outcount);
        event.operation.argument = ended > 0 ? 1 : 0;
        for (int n = 0; n < ended; n++) {
            const auto index = static_cast<std::size_t>(int_at(call.indices, static_cast<std::size_t>(n)));
            end_request(event, thread.handles[index], status_at(call.statuses, static_cast<std::size_t>(n)));
        }
    }
    template <class C>
    void failed(C& call, Event& event, Thread& thread) {
        event.operation.argument = 1;
        set_asked(event, thread.handles);
        for (std::size_t n = 0; n < thread.handles.size() && int_of(n) < int_at(call.outcount); n++) {
            const auto index = static_cast<std::size_t>(int_at(call.indices, n));
            if (index >= thread.handles.size() || !has_ended(thread, call.requests, index)) continue;
            end_request(event, thread.handles[index], status_at(call.statuses, n));
        }
    }
};

struct Start : Handler {
    template <class C>
    void after(C& call, Event& event, Thread& thread) {
        if constexpr (requires { call.requests; }) {
            take_handles(thread, call.length, call.requests);
        } else {
            thread.handles.assign(1, handle_at(call.request));
        }
        set_asked(event, thread.handles);
        for (const int slot : event.lists.asked) recorder.requests[slot].is_active = true;
    }
};

struct Partition : Handler {
    template <class C>
    void after(C& call, Event& event, Thread& thread) {
        thread.handles.assign(1, handle(call.request_value));
        set_asked(event, thread.handles);
        if constexpr (requires { call.last; }) {
            event.operation.argument = int_of(call.partition);
            for (int n = int_of(call.partition); n <= int_of(call.last); n++) event.lists.blocks.push_back(n);
        } else if constexpr (requires { call.list; }) {
            for (int n = 0; n < int_of(call.length); n++) {
                event.lists.blocks.push_back(int_at(call.list, static_cast<std::size_t>(n)));
            }
        } else {
            event.operation.argument = int_of(call.partition);
            if constexpr (requires { call.flag; }) event.lists.blocks.push_back(int_at(call.flag) != 0 ? 1 : 0);
        }
    }
};

struct Cancel : Handler {
    template <class C>
    void after(C& call, Event& event, Thread& thread) {
        thread.handles.assign(1, handle_at(call.request));
        set_asked(event, thread.handles);
        for (const int slot : event.lists.asked) recorder.requests[slot].is_cancelled = true;
    }
};

struct RequestFree : Handler {
    template <class C>
    void before(C& call, Thread& thread) {
        thread.handles.assign(1, handle_at(call.request));
    }
    template <class C>
    void after(C&, Event& event, Thread& thread) {
        set_asked(event, thread.handles);
        for (const int slot : event.lists.asked) recorder.end_request(slot);
    }
};

}  // namespace tradewind::recorder
