// Events that wait for their window of time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "sim/event.hpp"

namespace tradewind::sim {

// 2 KiB of events. Chunks come from a free list a thread: a vector a window would keep the largest size it ever had.
struct Chunk {
    static constexpr std::uint32_t capacity = 63;
    Chunk* next;
    std::uint32_t count;
    Event events[capacity];
};
static_assert(sizeof(Chunk) <= 2112);

class ChunkPool {
  public:
    Chunk* take() {
        if (!free_) grow();
        Chunk* chunk = free_;
        free_ = chunk->next;
        chunk->next = nullptr;
        chunk->count = 0;
        return chunk;
    }
    void give(Chunk* chunk) {
        chunk->next = free_;
        free_ = chunk;
    }

  private:
    static constexpr std::size_t slab = 256;
    void grow() {
        slabs_.push_back(std::make_unique_for_overwrite<Chunk[]>(slab));
        for (std::size_t i = slab; i-- > 0;) give(&slabs_.back()[i]);
    }
    Chunk* free_ = nullptr;
    std::vector<std::unique_ptr<Chunk[]>> slabs_;
};

// The events that one thread has put aside for another (or for itself), by window: a wheel of the next 4096 windows,
// and lists of 1024 windows each for what lies beyond. One thread writes; the reader takes the current window's events
// while the writer only adds to later ones.
class Wheel {
  public:
    static constexpr std::int64_t windows = 4096;
    static constexpr std::int64_t stretch = 1024;  // windows that share a far list
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

    void push(const Event& event, std::int64_t window, std::int64_t current, ChunkPool& pool) {
        if (window - current < windows)
            push_near(event, window, pool);
        else
            append(far_[window / stretch], event, pool);
    }

    // The chunks of a window, newest first.
    Chunk* take(std::int64_t window) {
        Chunk*& head = heads_[slot(window)];
        Chunk* chunks = head;
        head = nullptr;
        return chunks;
    }
    // By the writer, once the reader has taken the window.
    void clear(std::int64_t window) { bits_[slot(window) / 64] &= ~(1ULL << (slot(window) % 64)); }

    // The first window after `current` that holds an event, or an earlier one that is worth a visit. By the writer: it
    // moves a far list near once no nearer event is left before it and all its windows lie on the wheel (the slot of
    // the current window, which a reader may still be taking, is not among them).
    std::int64_t next(std::int64_t current, int shift, ChunkPool& pool) {
        for (;;) {
            const std::int64_t near = next_near(current);
            if (far_.empty()) return near;
            const std::int64_t first = far_.begin()->first * stretch;
            if (first > near) return near;
            if (first + stretch - current > windows) return std::min(near, first - 1);
            Chunk* chunk = far_.begin()->second;
            far_.erase(far_.begin());
            while (chunk) {
                for (std::uint32_t i = 0; i < chunk->count; ++i)
                    push_near(chunk->events[i], chunk->events[i].time >> shift, pool);
                Chunk* done = chunk;
                chunk = chunk->next;
                pool.give(done);
            }
        }
    }

  private:
    static std::size_t slot(std::int64_t window) { return static_cast<std::size_t>(window & (windows - 1)); }

    static void append(Chunk*& head, const Event& event, ChunkPool& pool) {
        if (!head || head->count == Chunk::capacity) [[unlikely]] {
            Chunk* chunk = pool.take();
            chunk->next = head;
            head = chunk;
        }
        head->events[head->count++] = event;
    }
    void push_near(const Event& event, std::int64_t window, ChunkPool& pool) {
        Chunk*& head = heads_[slot(window)];
        if (!head) bits_[slot(window) / 64] |= 1ULL << (slot(window) % 64);
        append(head, event, pool);
    }
    std::int64_t next_near(std::int64_t current) const {
        const std::size_t start = slot(current + 1);
        std::uint64_t word = bits_[start / 64] >> (start % 64);
        if (word) return current + 1 + std::countr_zero(word);
        for (std::size_t i = 1; i <= bits_.size(); ++i) {
            const std::size_t at = (start / 64 + i) % bits_.size();
            word = bits_[at];
            if (!word) continue;
            const std::size_t found = at * 64 + static_cast<std::size_t>(std::countr_zero(word));
            return current + 1 + static_cast<std::int64_t>((found - start) & (windows - 1));
        }
        return never;
    }

    std::array<Chunk*, windows> heads_{};
    std::array<std::uint64_t, windows / 64> bits_{};
    std::map<std::int64_t, Chunk*> far_;
};

}  // namespace tradewind::sim
