#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "recorder/clock.hpp"
#include "recorder/communicators.hpp"
#include "recorder/file.hpp"
#include "recorder/operations.hpp"
#include "recorder/requests.hpp"
#include "recorder/sites.hpp"
#include "recorder/types.hpp"

namespace tradewind::recorder {

/// Counts of a function.
struct Function {
    std::uint64_t calls = 0, ns = 0;
    std::uint64_t failures = 0;
};
extern const char* const function_names[];
extern const int function_count;
extern Function functions[];

/// A thread of the rank.
struct Thread {
    int depth = 0;  // of MPI calls within MPI calls, which are the library's and not the program's
    int number = NONE;
    bool has_lock = false;
    std::uint64_t end_ns = 0;                 // of its last call, as the file has it
    std::uint64_t begun = ~std::uint64_t{0};  // events in front of its call; all, where only one thread calls at a time
    std::vector<Word> handles;                // of the requests that a call was given, which the library overwrites
    std::vector<char> statuses;               // where the program wants none
};
Thread& this_thread();

/// A message that a probe has matched.
struct Message {
    const CommunicatorInfo* communicator = nullptr;
    std::int32_t source = NONE, tag = NONE;
};

/// Statuses of receives.
struct Status {
    int source, tag;
    std::int64_t bytes;
};
Status read_status(Word address);
inline bool wants_none(Word status) {
    return status == abi().status_ignore;
}

/// All that is known of a rank. There is one, in the process whose rank it is.
class Recorder {
  public:
    std::atomic<bool> is_recording = false;
    Clock clock;
    Communicators communicators;
    Types types;
    Requests requests;
    Sites sites;
    std::unordered_map<Word, Message> messages;
    std::string window_definitions;
    int window_count = 0;

    /// Begins to record if the environment says so, behind MPI_Init.
    void begin();

    /// Ends the file: `ending` says how.
    void end(const char* ending);

    /// Synchronizes the ranks and returns the time, so that clocks of different nodes can be compared.
    std::uint64_t synchronize() const;

    /// Returns whether something is so on all ranks.
    bool is_on_all_ranks(bool is_here) const;

    /// Notes, where several threads may call MPI at once, behind how many events the call of one begins: an event whose
    /// end the call depends on is one of them, and none is whose end depends on the call.
    void begin_call(Thread& thread) const {
        if (is_multiple_) thread.begun = events_.load(std::memory_order_acquire);
    }

    /// Ends a request in the event that is filled in.
    void end_request(int slot) { requests.remove(slot, events_.load(std::memory_order_relaxed) + 1); }

    /// Returns the event to fill in, in the next call of a thread; `frame`: of the function that the program called.
    Event& event(int call, Word frame, Thread& thread);

    /// Adds the event with its times.
    void commit(Thread& thread, Ticks begin, Ticks end);

    void count(int call, Ticks begin, Ticks end);

    /// Keeps other threads out, where several call MPI. A thread that has it may take it again: the library may call
    /// MPI while the recorder asks it something.
    class Lock {
      public:
        explicit Lock(Recorder& recorder) {
            if (!recorder.is_multiple_ || this_thread().has_lock) return;
            while (recorder.lock_.test_and_set(std::memory_order_acquire)) {
            }
            this_thread().has_lock = true;
            recorder_ = &recorder;
        }
        Lock(const Lock&) = delete;
        Lock& operator=(const Lock&) = delete;
        ~Lock() {
            if (recorder_ == nullptr) return;
            this_thread().has_lock = false;
            recorder_->lock_.clear(std::memory_order_release);
        }

      private:
        Recorder* recorder_ = nullptr;
    };

  private:
    void describe_rank();
    void gather();
    void flush();
    void end_full();
    std::string end_text(const char* ending) const;

    File file_;
    Operations operations_;
    Event event_;
    std::vector<std::uint32_t> order_;
    std::vector<std::uint16_t> gaps_, durations_;
    // Both only where several threads may call at once:
    std::vector<std::uint32_t> overtakers_;  // events that came while the call of one went on
    std::atomic<std::uint64_t> events_ = 0;
    std::uint64_t zero_ns_ = 0, flushed_ns_ = 0, end_sync_ns_ = 0;
    int threads_ = 0;
    int process_ = 0;
    const char* thread_level_ = "single";
    bool is_multiple_ = false;
    bool is_synchronized_ = false;  // also at the end, where this rank is recorded no further
    std::atomic_flag lock_ = ATOMIC_FLAG_INIT;
};
extern Recorder& recorder;

/// Returns the code of a duration: exact below 256 ns, else eight bits and a power of two, within 0.4 %.
std::uint16_t time_code(std::uint64_t ns);
std::uint64_t time_of(std::uint16_t code);

}  // namespace tradewind::recorder
