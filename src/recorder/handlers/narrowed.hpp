#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "recorder/recorder.hpp"

namespace tradewind::recorder {

/// Lengths of the lists of counts of a collective operation: of what it sends, and of what it receives.
struct ListLengths {
    std::size_t send = 0, receive = 0;
};
ListLengths list_lengths(Word communicator, bool of_neighbors);
bool is_root(Word communicator, int root);

/// The lists of large counts of a call as lists of int, for a library that has no large counts: where the mere presence
/// of MPI_Alltoallv_c makes a program call it. The library may read them until its request ends.
template <class C>
class Narrowed {
  public:
    static constexpr bool HAS_LISTS =
        C::is_large && (requires(C& call) { call.counts; } || requires(C& call) { call.recvcounts; });

    Narrowed(C& call, bool is_fallback) {
        if constexpr (HAS_LISTS) {
            if (!is_fallback) return;
            if constexpr (requires { call.root; }) {
                if (!is_root(handle(call.comm), int_of(call.root))) return;  // only the root's lists mean something
            }
            const ListLengths lengths = list_lengths(handle(call.comm), C::of_neighbors);
            values_ = std::make_unique<int[]>(2 * (lengths.send + lengths.receive));
            int* to = values_.get();
            if constexpr (requires { call.counts; }) narrow(call.counts, lengths.send, to);
            if constexpr (requires { call.displs; }) narrow(call.displs, lengths.send, to);
            if constexpr (requires { call.recvcounts; }) narrow(call.recvcounts, lengths.receive, to);
            if constexpr (requires { call.recvdispls; }) narrow(call.recvdispls, lengths.receive, to);
        }
    }

    /// Puts the program's lists back.
    void restore() {
        if constexpr (HAS_LISTS) {
            for (const auto& [argument, value] : changed_) *argument = value;
        }
    }

    /// Keeps the lists as long as the request.
    void keep(int slot) {
        if constexpr (HAS_LISTS && C::form != FORM_BLOCKING) {
            if (slot >= 0) recorder.requests[slot].counts = std::move(values_);
        }
    }

    ~Narrowed() {
        if constexpr (HAS_LISTS && C::form != FORM_BLOCKING) (void)values_.release();  // no request says when it ends
    }

  private:
    static constexpr auto FORM_BLOCKING = static_cast<decltype(C::form)>(0);

    void narrow(Word& argument, std::size_t length, int*& to) {
        if (argument == 0 || length == 0) return;
        const auto* from = reinterpret_cast<const std::int64_t*>(argument);
        changed_.emplace_back(&argument, argument);
        std::transform(from, from + length, to, [](std::int64_t value) { return static_cast<int>(value); });
        argument = reinterpret_cast<Word>(to);
        to += length;
    }

    struct Nothing {};
    [[no_unique_address]] std::conditional_t<HAS_LISTS, std::unique_ptr<int[]>, Nothing> values_;
    [[no_unique_address]] std::conditional_t<HAS_LISTS, std::vector<std::pair<Word*, Word>>, Nothing> changed_;
};

}  // namespace tradewind::recorder
