// The point where the threads of a simulation meet after each window.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/pause.hpp"

namespace tradewind::sim {

// Spins for a moment, since a window takes tens of microseconds, then sleeps: the machine may have fewer idle cores
// than threads, and one thread may be left to work alone for milliseconds.
class Barrier {
  public:
    explicit Barrier(int threads) : threads_(threads) {}

    void wait() {
        const std::uint32_t generation = generation_.load(std::memory_order_relaxed);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
            arrived_.store(0, std::memory_order_relaxed);
            generation_.store(generation + 1, std::memory_order_release);
            generation_.notify_all();
            return;
        }
        for (int spins = 0; generation_.load(std::memory_order_acquire) == generation; ++spins) {
            if (spins < 4096)
                pause();
            else
                generation_.wait(generation, std::memory_order_acquire);
        }
    }

  private:
    alignas(64) std::atomic<int> arrived_{0};
    alignas(64) std::atomic<std::uint32_t> generation_{0};
    int threads_;
};

}  // namespace tradewind::sim
