#pragma once

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

/// The part of a root in a collective operation, where it differs from that of the other ranks.
enum class Root { NothingElse, Gathers, Scatters };

/// Which counts of a call the library reads on this rank: of what it sends, and of what it receives.
struct CountsRead {
    bool send = true, receive = true;
};

/// Returns which those are: the root alone reads counts of the other ranks, and no rank those of what stays in place.
template <class C>
CountsRead counts_read(const C& call, Root role) {
    CountsRead read;
    if constexpr (requires { call.sendbuf; } && (requires { call.recvcount; } || requires { call.recvcounts; }))
        read.send = call.sendbuf != abi().in_place;
    if constexpr (requires { call.root; }) {
        const int root = int_of(call.root);
        if (root == abi().proc_null) return {.send = false, .receive = false};
        if (role == Root::NothingElse) return read;
        const bool at_root = is_root(handle(call.comm), root);
        const bool serves_remote = root == abi().root;  // the ranks of another group, and not itself
        if (role == Root::Gathers) return {.send = read.send && !serves_remote, .receive = at_root};
        if constexpr (requires { call.recvbuf; })
            read.receive = !(at_root && (serves_remote || call.recvbuf == abi().in_place));
        read.send = at_root;
    }
    return read;
}

/// Calls the error handler of what a call is about, and returns the error: a count that the library cannot take.
template <class C>
int refused(const C& call) {
    constexpr auto error = static_cast<Word>(Abi::invalid_count);
    if constexpr (requires { call.comm; })
        tradewind::recorder::call("PMPI_Comm_call_errhandler", handle(call.comm), error);
    else if constexpr (requires { call.window; })
        tradewind::recorder::call("PMPI_Win_call_errhandler", handle(call.window), error);
    else if constexpr (requires { call.message; })
        tradewind::recorder::call("PMPI_Comm_call_errhandler", abi().world, error);
    else if constexpr (C::is_large)  // those that are only counted are of files
        tradewind::recorder::call("PMPI_File_call_errhandler", call.argument0, error);
    return Abi::invalid_count;
}

/// The large counts of a call as those of a library that has none: where the mere presence of MPI_Alltoallv_c makes a
/// program call it. Lists become lists of int, which the library may read until its request ends.
template <class C>
class Narrowed {
  public:
    static constexpr bool HAS_LISTS =
        C::is_large && (requires(C& call) { call.counts; } || requires(C& call) { call.recvcounts; });

    Narrowed(C& call, bool is_fallback, [[maybe_unused]] Root role) {
        if constexpr (C::is_large) fits_ = !is_fallback || call.fits({}) || call.fits(counts_read(call, role));
        if constexpr (HAS_LISTS) {
            if (!is_fallback || !fits_) return;
            ListLengths lengths = list_lengths(handle(call.comm), C::of_neighbors);
            const CountsRead read = counts_read(call, role);
            if (!read.send) lengths.send = 0;
            if (!read.receive) lengths.receive = 0;
            if (lengths.send + lengths.receive == 0) return;
            values_ = std::make_unique<int[]>(2 * (lengths.send + lengths.receive));
            int* to = values_.get();
            if constexpr (requires { call.counts; }) {
                const Word counts = call.counts;
                narrow(call.counts, lengths.send, to);
                if constexpr (requires { call.displs; }) narrow(call.displs, lengths.send, to, counts);
            }
            if constexpr (requires { call.recvcounts; }) {
                const Word counts = call.recvcounts;
                narrow(call.recvcounts, lengths.receive, to);
                if constexpr (requires { call.recvdispls; }) narrow(call.recvdispls, lengths.receive, to, counts);
            }
        }
    }

    /// Whether the library can take all of them.
    bool fits() const { return fits_; }

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
        if constexpr (HAS_LISTS && C::form != FORM_BLOCKING) {
            if (fits_) (void)values_.release();  // no request says when it ends
        }
    }

  private:
    static constexpr auto FORM_BLOCKING = static_cast<decltype(C::form)>(0);

    /// `counts`: of a list of displacements, which mean nothing where these are 0.
    void narrow(Word& argument, std::size_t length, int*& to, Word counts = 0) {
        if (argument == 0 || length == 0) return;
        const auto* from = reinterpret_cast<const Word*>(argument);
        const auto* used = reinterpret_cast<const Word*>(counts);
        for (std::size_t n = 0; n < length; n++) {
            fits_ = fits_ && (is_int(from[n]) || (used != nullptr && used[n] == 0));
            to[n] = int_of(from[n]);
        }
        changed_.emplace_back(&argument, argument);
        argument = reinterpret_cast<Word>(to);
        to += length;
    }

    bool fits_ = true;
    struct Nothing {};
    [[no_unique_address]] std::conditional_t<HAS_LISTS, std::unique_ptr<int[]>, Nothing> values_;
    [[no_unique_address]] std::conditional_t<HAS_LISTS, std::vector<std::pair<Word*, Word>>, Nothing> changed_;
};

}  // namespace tradewind::recorder
