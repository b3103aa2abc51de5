// The processes that work on one thing together, each with its own part of it.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <vector>

#include "base/byte_buffer.hpp"
#include "base/error.hpp"

namespace tradewind {

// This one is a process alone; src/mpi has one of many. Collective functions are marked: every process calls them,
// in the same order, from one thread at a time.
class Peers {
  public:
    virtual ~Peers() = default;

    virtual int process() const { return 0; }
    virtual int processes() const { return 1; }
    // Collective. The minimum of the values.
    virtual std::int64_t minimum(std::int64_t value) { return value; }
    // Collective. Sends out[p] to each other process p, and writes to in[p] what that one sends here.
    virtual void swap(const std::vector<ByteBuffer>&, std::vector<ByteBuffer>&) {}
    // Collective. Process 0 is shown the buffers of the others, in their order, one at a time.
    virtual void gather(const ByteBuffer&, const std::function<void(int, std::span<const std::byte>)>&) {}

    // A collective function has thrown here, and so left the others waiting: nothing can be done together any more, and
    // the whole job has to end.
    bool severed() const { return severed_; }
    void sever() { severed_ = true; }

    // Collective. Each process does something, without the others; where that throws in one, it throws in all: there
    // PeerFailed.
    template <class Action>
    void collective(const Action& action) {
        if (processes() == 1) return action();
        std::exception_ptr failure;
        try {
            action();
        } catch (...) {
            failure = std::current_exception();
        }
        const bool well = minimum(failure ? 0 : 1) == 1;
        if (failure) std::rethrow_exception(failure);
        if (!well) throw PeerFailed();
    }

    // Collective, where the others do something together: this process cannot.
    void refuse() { minimum(0); }

  private:
    bool severed_ = false;
};

}  // namespace tradewind
