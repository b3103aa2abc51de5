#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "recorder/library.hpp"

namespace tradewind::recorder {

struct CommunicatorInfo;

/// A request that is open. Its slot is the lowest that was free when its call began: equal steps take equal slots, and
/// no thread takes a slot with a call that had begun before that of another thread ended the slot's last request.
struct Request {
    Word handle = 0;
    const CommunicatorInfo* receives_on = nullptr;  // null: it is no receive
    int thread = 0;                                 // that made it
    bool is_persistent = false;
    bool is_active = false;
    bool is_cancelled = false;
    std::unique_ptr<int[]> counts;  // that the library reads until it ends, see narrowed.hpp
};

/// The open requests of a rank, found by handle. A library may give one handle to several requests at once (MPICH, to
/// sends that have ended already), or to a new one while the thread that ended the last is not here yet: then the
/// oldest that the calling thread made is found, else the oldest.
class Requests {
  public:
    static constexpr int UNKNOWN = -1;

    Requests();

    /// Adds a request of a call that began behind `begun` events, and returns its slot.
    int add(Request request, std::uint64_t begun);

    /// Returns the slot of a handle in a call of a thread, UNKNOWN for one that is not open.
    int find(Word handle, int thread) const;

    Request& operator[](int slot) { return slots_[static_cast<std::size_t>(slot)]; }

    /// Ends a request; calls that begin behind `events` events may take its slot.
    void remove(int slot, std::uint64_t events);

  private:
    int free_slot(std::uint64_t begun);
    std::size_t home(Word handle) const { return (handle * 0x9e3779b97f4a7c15U >> shift_) & (table_.size() - 1); }
    void insert(int slot);
    void grow();

    std::vector<Request> slots_;
    std::vector<std::uint64_t> free_;        // a bit per slot
    std::vector<std::uint64_t> free_since_;  // [slot] events behind which calls may take it
    std::vector<int> table_;                 // slots by the hash of their handles, UNKNOWN where it is empty
    int shift_;
    std::size_t open_ = 0;
};

}  // namespace tradewind::recorder
