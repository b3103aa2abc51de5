// Records in runs of a power of two, for lists that grow and go again and again.
#pragma once

#include <array>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/huge.hpp"

namespace tradewind::sim {

// Runs of 2^k records, k <= maximum, that never move; those given back are kept for others of their length.
template <class T>
class RunPool {
  public:
    static constexpr int maximum = 6;

    T* take(int k) {
        if (Free* const run = free_[k]) {
            free_[k] = run->next;
            return make(run, k);
        }
        const std::size_t records = std::size_t{1} << k;
        if (left_ < records) {
            slabs_.emplace_back().reserve(slab);
            next_ = slabs_.back().data();
            left_ = slab;
        }
        left_ -= records;
        return make(std::exchange(next_, next_ + records), k);
    }
    void give(T* run, int k) { free_[k] = new (run) Free{free_[k]}; }

  private:
    struct Free {
        Free* next;
    };
    static_assert(sizeof(Free) <= sizeof(T) && alignof(Free) <= alignof(T) && std::is_trivially_destructible_v<T>);
    static constexpr std::size_t slab = HugeAllocator<T>::page / sizeof(T);

    static T* make(void* memory, int k) { return new (memory) T[std::size_t{1} << k]; }

    std::array<Free*, maximum + 1> free_{};
    T* next_ = nullptr;
    std::size_t left_ = 0;  // in the last slab
    std::vector<HugeVector<T>> slabs_;
};

}  // namespace tradewind::sim
