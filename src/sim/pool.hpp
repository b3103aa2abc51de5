// Records with numbers, in blocks that never move.
#pragma once

#include <cstdint>
#include <vector>

#include "base/lazy.hpp"

namespace tradewind::sim {

// T has a member `next`, which also links the free ones.
template <class T>
class Pool {
  public:
    static constexpr std::uint32_t none = ~0u;

    std::uint32_t take() {
        if (free_ == none) grow();
        const std::uint32_t id = free_;
        free_ = (*this)[id].next;
        return id;
    }
    void give(std::uint32_t id) {
        (*this)[id].next = free_;
        free_ = id;
    }
    T& operator[](std::uint32_t id) { return blocks_[id / size][id % size]; }
    const T& operator[](std::uint32_t id) const { return blocks_[id / size][id % size]; }
    // The maximum number in use at one time.
    std::uint32_t capacity() const { return static_cast<std::uint32_t>(blocks_.size()) * size; }

  private:
    static constexpr std::uint32_t size = 32768;  // so that large records fill huge pages
    static constexpr std::uint32_t some = 256;    // that are added at a time: more would be touched for nothing

    void grow() {
        if (used_ == capacity()) blocks_.emplace_back(size, !blocks_.empty());
        for (std::uint32_t i = some; i-- > 0;) give(used_ + i);
        used_ += some;
    }

    std::vector<LazyArray<T>> blocks_;
    std::uint32_t used_ = 0;  // records that have been added
    std::uint32_t free_ = none;
};

// First in, first out, through `next` of a pool's records.
struct Queue {
    std::uint32_t first = ~0u, last = ~0u;

    bool empty() const { return first == ~0u; }
    template <class T>
    void push(Pool<T>& pool, std::uint32_t id) {
        pool[id].next = Pool<T>::none;
        if (empty())
            first = id;
        else
            pool[last].next = id;
        last = id;
    }
    template <class T>
    void push_front(Pool<T>& pool, std::uint32_t id) {
        pool[id].next = first;
        if (empty()) last = id;
        first = id;
    }
    template <class T>
    std::uint32_t pop(const Pool<T>& pool) {
        const std::uint32_t id = first;
        first = pool[id].next;
        return id;
    }
};

}  // namespace tradewind::sim
