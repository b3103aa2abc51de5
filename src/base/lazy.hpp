// Arrays of which a process touches only a part.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "base/huge.hpp"

namespace tradewind {

// Whether arrays of `bytes` bytes, for a machine on which `ranks` ranks are simulated, are mostly touched, so that they
// take pages of 2 MiB: a rank touches a few of its ports and of those on its way, each on a small page of its own.
inline bool is_dense(std::size_t bytes, std::int64_t ranks) {
    return bytes >> 16 <= static_cast<std::size_t>(ranks);
}

// All elements have an address, and are zero bits until they are written; memory is taken a page at a time as they are.
// So processes that share out the elements of one array keep the same indices, and each has the memory of its own.
template <class T>
class LazyArray {
    static_assert(std::is_trivially_copyable_v<T>, "elements begin as zero bits and are never destroyed");

  public:
    LazyArray() = default;
    // `huge`: ask for pages of 2 MiB, where elements that one process touches are neighbours.
    explicit LazyArray(std::size_t size, bool huge = true) : size_(size) {
        if (size == 0) return;
        constexpr std::size_t page = HugeAllocator<T>::page;
        const std::size_t bytes = size * sizeof(T);
        const std::size_t spare = bytes >= page ? page : 0;
        mapped_ = bytes + spare;
        map_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (map_ == MAP_FAILED) throw std::bad_alloc();
        auto address = reinterpret_cast<std::uintptr_t>(map_);
        if (spare > 0) address = (address + page - 1) / page * page;
        elements_ = reinterpret_cast<T*>(address);
#if defined(__linux__)
        // A kernel that cannot is no worse than before.
        if (spare > 0) madvise(elements_, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
    }
    ~LazyArray() {
        if (mapped_ > 0) munmap(map_, mapped_);
    }
    LazyArray(LazyArray&& other) noexcept { swap(other); }
    LazyArray& operator=(LazyArray&& other) noexcept {
        swap(other);
        return *this;
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T& operator[](std::size_t i) { return elements_[i]; }
    const T& operator[](std::size_t i) const { return elements_[i]; }

  private:
    void swap(LazyArray& other) noexcept {
        std::swap(map_, other.map_);
        std::swap(mapped_, other.mapped_);
        std::swap(elements_, other.elements_);
        std::swap(size_, other.size_);
    }

    void* map_ = nullptr;
    std::size_t mapped_ = 0;  // bytes
    T* elements_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace tradewind
