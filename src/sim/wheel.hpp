// Events that wait for their window of time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/lazy.hpp"
#include "base/prefetch.hpp"
#include "sim/clock.hpp"
#include "sim/event.hpp"

namespace tradewind::sim {

// Some events, and the next such chunk of a list. Chunks come from a free list a thread: a vector a window would keep
// the largest size it ever had.
struct Chunk {
    Chunk* next;
    Event* events() { return reinterpret_cast<Event*>(this) + 1; }
    const Event* events() const { return reinterpret_cast<const Event*>(this) + 1; }
};

// A list of chunks, newest first. All but the first are full: how many events the first one holds stands here, so that
// adding an event touches two cache lines, not three.
struct Chunks {
    Chunk* first = nullptr;
    std::uint32_t count = 0;
};

class ChunkPool {
  public:
    // Events a chunk: many where windows are full, so that lists are read in long runs; few where most windows hold one
    // event or two, so that thousands of chunks stay in the cache.
    explicit ChunkPool(std::uint32_t capacity) : capacity_(capacity) {}

    std::uint32_t capacity() const { return capacity_; }
    // Memory that the chunks have taken, which is kept.
    std::size_t bytes() const { return slabs_.size() * slab_bytes; }
    // An empty chunk to stand before others of a list.
    Chunk* take_before(Chunk* next) {
        if (!free_) grow();
        Chunk* chunk = free_;
        free_ = chunk->next;
        prefetch_line(free_);  // for the next call
        chunk->next = next;
        return chunk;
    }
    // Calls `use` with each event of a list and takes its chunks back.
    template <class Use>
    void drain(Chunks list, Use use) {
        while (list.first) {
            // The next chunk comes while this one is read.
            if (const Event* next = reinterpret_cast<const Event*>(list.first->next))
                for (std::uint32_t i = 0; i <= capacity_; i += 2) prefetch_line(next + i);
            for (std::uint32_t i = 0; i < list.count; ++i) use(list.first->events()[i]);
            Chunk* done = list.first;
            list = {done->next, capacity_};
            give(done);
        }
    }

    template <class Use>
    void for_each(Chunks list, Use use) const {
        for (; list.first; list = {list.first->next, capacity_})
            for (std::uint32_t i = 0; i < list.count; ++i) use(list.first->events()[i]);
    }

  private:
    static constexpr std::size_t slab_bytes = HugeAllocator<Event>::page;
    static constexpr std::size_t some = 64;  // chunks that are added at a time: more would be touched for nothing

    void give(Chunk* chunk) {
        chunk->next = free_;
        free_ = chunk;
    }
    void grow() {
        const std::size_t chunks = slab_bytes / (sizeof(Event) * (capacity_ + 1));
        if (used_ == chunks * slabs_.size()) slabs_.emplace_back(slab_bytes / sizeof(Event), !slabs_.empty());
        const std::size_t first = used_ % chunks, end = std::min(first + some, chunks);
        for (std::size_t i = end; i-- > first;) give(reinterpret_cast<Chunk*>(&slabs_.back()[i * (capacity_ + 1)]));
        used_ += end - first;
    }

    std::uint32_t capacity_;
    Chunk* free_ = nullptr;
    std::vector<LazyArray<Event>> slabs_;
    std::size_t used_ = 0;  // chunks that have been added
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
        *place(window, current, pool) = event;
    }
    // Credits for one more event of a window, to be filled before the window begins.
    [[gnu::always_inline]] Event* place(std::int64_t window, std::int64_t current, ChunkPool& pool) {
        if (static_cast<std::uint64_t>(window - current - 1) < windows - 1) [[likely]]
            return place_near(window, pool);
        return place_far(window, current, pool);
    }
    // The window that must be visited for the sake of an event: its own, or the one before which its far list moves
    // near.
    static std::int64_t visit(std::int64_t window, std::int64_t current) {
        return window - current < windows ? window : window / stretch * stretch - 1;
    }

    // The events of a window.
    Chunks take(std::int64_t window) { return std::exchange(slots_[slot(window)], {}); }
    // By the writer, once the reader has taken the window.
    void clear(std::int64_t window) {
        const std::size_t at = slot(window);
        bits_[at / 64] &= ~(1ULL << (at % 64));
        if (bits_[at / 64] == 0) words_ &= ~(1ULL << (at / 64));
    }

    // The first window after `current` that holds an event, or an earlier one that is worth a visit. By the writer: it
    // moves a far list near once no nearer event is left before it and all its windows lie on the wheel (the slot of
    // the current window, which a reader may still be taking, is not among them). Throws InputError where an event is
    // later than the clock goes: only far ones can be.
    std::int64_t next(std::int64_t current, std::int64_t origin, int shift, ChunkPool& pool) {
        for (;;) {
            const std::int64_t near = next_near(current);
            if (far_.empty()) return near;
            const std::int64_t last = far_.rbegin()->first * stretch;
            if (last > latest.value >> shift) [[unlikely]]
                refuse_time("the simulation reaches", static_cast<double>(last << shift) * 1e-12);
            const std::int64_t first = far_.begin()->first * stretch;
            if (first > near) return near;
            if (first + stretch - current > windows) return std::min(near, first - 1);
            const Chunks chunks = far_.begin()->second;
            far_.erase(far_.begin());
            pool.drain(chunks, [&](const Event& event) { *place_near((event.time - origin) >> shift, pool) = event; });
        }
    }

    // Calls `use` with each event.
    template <class Use>
    void for_each(const ChunkPool& pool, Use use) const {
        for_used([&](std::size_t at) { pool.for_each(slots_[at], use); });
        for (const auto& [stretch, chunks] : far_) pool.for_each(chunks, use);
    }
    // The same, and takes them all out.
    template <class Use>
    void take_all(ChunkPool& pool, Use use) {
        for_used([&](std::size_t at) { pool.drain(std::exchange(slots_[at], {}), use); });
        for (const auto& [stretch, chunks] : std::exchange(far_, {})) pool.drain(chunks, use);
        bits_ = {};
        words_ = 0;
    }

  private:
    static std::size_t slot(std::int64_t window) { return static_cast<std::size_t>(window & (windows - 1)); }

    template <class Use>
    void for_used(Use use) const {
        for (std::size_t word = 0; word < bits_.size(); ++word)
            for (std::uint64_t bits = bits_[word]; bits != 0; bits &= bits - 1)
                use(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
    }
    // No more than this is compiled wherever an event is pushed.
    [[gnu::always_inline]] Event* place_near(std::int64_t window, ChunkPool& pool) {
        Chunks& list = slots_[slot(window)];
        if (!list.first || list.count == pool.capacity()) [[unlikely]]
            begin_chunk(list, slot(window), pool);
        return &list.first->events()[list.count++];
    }
    [[gnu::noinline]] void begin_chunk(Chunks& list, std::size_t at, ChunkPool& pool) {
        bits_[at / 64] |= 1ULL << (at % 64);
        words_ |= 1ULL << (at / 64);
        list = {pool.take_before(list.first), 0};
    }
    [[gnu::noinline]] Event* place_far(std::int64_t window, std::int64_t current, ChunkPool& pool) {
        if (window <= current) throw std::logic_error("an event for a window that has begun");
        Chunks& list = far_[window / stretch];
        if (!list.first || list.count == pool.capacity()) list = {pool.take_before(list.first), 0};
        return &list.first->events()[list.count++];
    }
    std::int64_t next_near(std::int64_t current) const {
        const std::size_t start = slot(current + 1);
        std::uint64_t word = bits_[start / 64] >> (start % 64);
        if (word) return current + 1 + std::countr_zero(word);
        // The other words in the order in which they come, beginning after this one and ending with it.
        const std::size_t after = start / 64 + 1;
        const std::uint64_t words = after == 64 ? words_ : words_ >> after | words_ << (64 - after);
        if (words) {
            const std::size_t at = (after + static_cast<std::size_t>(std::countr_zero(words))) % 64;
            const std::size_t found = at * 64 + static_cast<std::size_t>(std::countr_zero(bits_[at]));
            return current + 1 + static_cast<std::int64_t>((found - start) & (windows - 1));
        }
        return never;
    }

    std::array<Chunks, windows> slots_{};
    std::array<std::uint64_t, windows / 64> bits_{};  // which slots hold events
    std::uint64_t words_ = 0;                         // which words of bits_ are not 0
    static_assert(windows == 64 * 64);
    std::map<std::int64_t, Chunks> far_;  // [window / stretch]
};

}  // namespace tradewind::sim
