// Memory for large arrays that are read and written all over.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace tradewind {

// Asks for pages of 2 MiB where there is that much: with pages of 4 KiB, every random access to tens of megabytes
// costs a walk through the page table besides, a fifth of a simulation's time at 1e5 ranks.
template <class T>
struct HugeAllocator {
    using value_type = T;
    static constexpr std::size_t page = std::size_t{1} << 21;

    HugeAllocator() = default;
    template <class U>
    HugeAllocator(const HugeAllocator<U>&) {}

    static bool large(std::size_t n) { return n * sizeof(T) >= page; }
    static std::align_val_t alignment(std::size_t n) { return std::align_val_t{large(n) ? page : 64}; }

    T* allocate(std::size_t n) {
        void* memory = ::operator new(n * sizeof(T), alignment(n));
#if defined(__linux__)
        // A kernel that cannot is no worse than before.
        if (large(n)) madvise(memory, n * sizeof(T), MADV_HUGEPAGE);
#endif
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t n) { ::operator delete(memory, alignment(n)); }

    template <class U>
    friend bool operator==(const HugeAllocator&, const HugeAllocator<U>&) {
        return true;
    }
};

template <class T>
using HugeVector = std::vector<T, HugeAllocator<T>>;

}  // namespace tradewind
