#pragma once

#include "recorder/handlers/point_to_point.hpp"

namespace tradewind::recorder {

struct MakeCommunicator : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        Word parent = 0;
        if constexpr (requires { call.comm; }) {
            parent = handle(call.comm);
            set_communicator(event, parent);
        }
        event.operation.created =
            recorder.communicators.made(handle_at(call.newcomm), parent, function_names[call.number]);
    }
};

struct DuplicateCommunicator : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        set_communicator(event, call.comm);
        event.operation.created =
            recorder.communicators.duplicated(handle_at(call.newcomm), handle(call.comm), function_names[call.number]);
        add_request(call, event);
    }
};

/// Forgets the communicator before the library frees it, which may then give its handle to another thread.
struct CommunicatorFree : Handler {
    static constexpr bool frees = true;
    template <class C>
    static void forget(C& call) {
        const Recorder::Lock lock(recorder);
        recorder.communicators.freed(handle_at(call.comm_pointer));
    }
    template <class C>
    void before(C& call, Thread&) {
        const Recorder::Lock lock(recorder);
        communicator_ = handle_at(call.comm_pointer);
        number_ = recorder.communicators[communicator_].number;
        recorder.communicators.freed(communicator_);
    }
    template <class C>
    void after(C&, Event& event, Thread&) {
        event.operation.communicator = number_;
    }
    template <class C>
    void failed(C&, Event&, Thread&) {
        recorder.communicators.kept(communicator_, number_);
    }

  private:
    Word communicator_ = 0;
    int number_ = NONE;
};

struct TypeFree : Handler {
    static constexpr bool is_counted = true;
    static constexpr bool frees = true;
    template <class C>
    static void forget(C& call) {
        const Recorder::Lock lock(recorder);
        recorder.types.freed(handle_at(call.type_pointer));
    }
    template <class C>
    void before(C& call, Thread&) {
        forget(call);
    }
};

struct Count : Handler {
    static constexpr bool is_counted = true;
};

/// Recording begins when MPI_Init has returned: its own time is not known, as the rates of clocks are not yet.
struct Init : Handler {
    static constexpr bool works_always = true;
    template <class C>
    void always(C&, int status) {
        if (status == 0) recorder.begin();
    }
    template <class C>
    void after(C&, Event&, Thread&) {}
};
struct InitThread : Init {};

/// The file ends before MPI does: the ranks are synchronized once more, those too whose disk is full.
struct Finalize : Handler {
    static constexpr bool works_always = true;
    template <class C>
    void before(C& call, Thread& thread) {
        if (recorder.is_recording)
            end(call, thread, "finalized");
        else
            recorder.end("finalized");
    }
    template <class C>
    void always(C&, int) {}
    template <class C>
    void after(C&, Event&, Thread&) {}

    template <class C>
    static void end(const C& call, Thread& thread, const char* ending) {
        {
            const Recorder::Lock lock(recorder);
            const Ticks now = recorder.clock.now();
            recorder.event(call.number, call.frame, thread);
            recorder.commit(thread, now, now);
        }
        recorder.end(ending);
    }
};

struct Abort : Handler {
    template <class C>
    void before(C& call, Thread& thread) {
        Finalize::end(call, thread, "aborted");
    }
    template <class C>
    void after(C&, Event&, Thread&) {}
};

}  // namespace tradewind::recorder
