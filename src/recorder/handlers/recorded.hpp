#pragma once

#include <cstdint>

#include "recorder/handlers/narrowed.hpp"
#include "recorder/recorder.hpp"

namespace tradewind::recorder {

enum class Form { Blocking, Nonblocking, Persistent };

/// The structures of all calls have this beside their arguments, see cmake/recorder_wrappers.py.
template <bool LARGE = false, Form FORM = Form::Blocking, bool OF_NEIGHBORS = false>
struct Call {
    int number;  // the position in `functions`
    Word frame;  // of the function that the program called
    static constexpr bool is_large = LARGE;
    static constexpr Form form = FORM;
    static constexpr bool of_neighbors = OF_NEIGHBORS;
};

/// Parts that a handler may leave out.
struct Handler {
    static constexpr bool is_counted = false;    // its calls are no events
    static constexpr bool works_always = false;  // also when nothing is recorded
    static constexpr bool frees = false;         // has `forget`, for a call from within another one
    static constexpr Root root = Root::NothingElse;
    template <class C>
    void before(C&, Thread&) {}
};

class Depth {
  public:
    explicit Depth(Thread& thread) : thread_(thread) { thread_.depth++; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    ~Depth() { thread_.depth--; }

  private:
    Thread& thread_;
};

/// Calls the function of the library, and records what it did.
template <class H, class C>
int recorded(C& call, Real<typename C::Function>& real) {
    if (real.function == nullptr && !real.resolve()) return abi().unsupported;
    Narrowed<C> narrowed(call, real.is_fallback, H::root);
    const auto invoke = [&] { return narrowed.fits() ? call.invoke(real.function) : refused(call); };
    Thread& thread = this_thread();
    if (thread.depth > 0 || !(recorder.is_recording || H::works_always)) {
        if constexpr (H::frees) H::forget(call);  // as of a callback of the program, when attributes are deleted
        return invoke();
    }
    const Depth depth(thread);
    recorder.begin_call(thread);
    H handler;
    handler.before(call, thread);
    const Ticks begin = recorder.clock.now();
    const int status = invoke();
    const Ticks end = recorder.clock.now();
    if constexpr (H::works_always) handler.always(call, status);
    if (!recorder.is_recording) return status;
    const Recorder::Lock lock(recorder);
    if (!recorder.is_recording) return status;  // by now, as another thread has ended it
    if (status != 0) {
        functions[call.number].failures++;
        if constexpr (requires(Event& event) { handler.failed(call, event, thread); }) {
            Event& event = recorder.event(call.number, call.frame, thread);
            handler.failed(call, event, thread);
            if (!event.lists.ended.empty()) recorder.commit(thread, begin, end);
        }
    } else if constexpr (H::is_counted) {
        recorder.count(call.number, begin, end);
    } else {
        Event& event = recorder.event(call.number, call.frame, thread);
        narrowed.restore();
        handler.after(call, event, thread);
        narrowed.keep(event.operation.request);
        recorder.commit(thread, begin, end);
    }
    return status;
}

template <class C>
std::int64_t count(const C&, Word word) {
    return C::is_large ? static_cast<std::int64_t>(word) : int_of(word);
}

template <class C>
std::int64_t count_at(const C&, Word address, std::size_t index) {
    return C::is_large ? reinterpret_cast<const std::int64_t*>(address)[index] : int_at(address, index);
}

inline std::int32_t tag_of(Word tag) {
    return int_of(tag) == abi().any_tag ? ANY : int_of(tag);
}

/// Adds the request of a call that starts or prepares one.
template <class C>
void add_request(const C& call, Event& event, const CommunicatorInfo* receives_on = nullptr) {
    if constexpr (requires { call.request; }) {
        const Word made = handle_at(call.request);
        if (made == abi().null_request) return;
        constexpr bool persistent = C::form == Form::Persistent;
        event.operation.request = recorder.requests.add({.handle = made,
                                                         .receives_on = receives_on,
                                                         .thread = event.operation.thread,
                                                         .is_persistent = persistent,
                                                         .is_active = !persistent,
                                                         .is_cancelled = false,
                                                         .counts = nullptr},
                                                        this_thread().begun);
    }
}

/// Gives a call that wants no status one of ours.
inline void want_statuses(Word& address, std::size_t count, Thread& thread) {
    if (!wants_none(address)) return;
    if (thread.statuses.size() < count * abi().status_size) thread.statuses.resize(count * abi().status_size + 64);
    address = reinterpret_cast<Word>(thread.statuses.data());
}

}  // namespace tradewind::recorder
