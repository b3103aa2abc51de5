// Memory of what is made and thrown away again and again: plans on demand, with their lists and buffers.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace tradewind {

// Pieces of 4 KiB to 4 MiB that are given back are kept, up to 64 MiB a process and module, and given out again: what
// comes fresh from the system has to be mapped page by page when it is touched first, which takes longer than all that
// is done with it. Aligned to cache lines, unless smaller. Any thread may take and give back. `take_recycled` throws
// bad_alloc.
void* take_recycled(std::size_t bytes);
void give_recycled(void* memory, std::size_t bytes) noexcept;

template <class T>
struct Recycling {
    using value_type = T;

    Recycling() = default;
    template <class U>
    Recycling(const Recycling<U>&) {}

    T* allocate(std::size_t n) {
        if (n > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
        return static_cast<T*>(take_recycled(n * sizeof(T)));
    }
    void deallocate(T* memory, std::size_t n) noexcept { give_recycled(memory, n * sizeof(T)); }

    // New elements are about to be written, so they are not set to zero.
    template <class U>
    void construct(U* place) {
        ::new (static_cast<void*>(place)) U;
    }
    template <class U, class First, class... Rest>
    void construct(U* place, First&& first, Rest&&... rest) {
        ::new (static_cast<void*>(place)) U(static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
    }

    template <class U>
    friend bool operator==(const Recycling&, const Recycling<U>&) {
        return true;
    }
};

// Elements that `resize` adds are not set.
template <class T>
using RecycledVector = std::vector<T, Recycling<T>>;

}  // namespace tradewind
