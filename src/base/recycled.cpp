#include "base/recycled.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <mutex>

namespace tradewind {

namespace {

constexpr std::size_t line = 64;
// Bytes; smaller ones are the allocator's own business, and so are larger ones: it keeps these as they are, not rounded
// up to a power of two.
constexpr std::size_t minimum = 4096, largest = std::size_t{1} << 22;
constexpr std::size_t max_kept = std::size_t{1} << 26;  // bytes of all that is kept

// Memories by the power of two that they hold, as lists that lie in themselves.
class Pool {
  public:
    void* take(unsigned power) {
        const std::lock_guard lock(mutex_);
        Free*& first = free_[power];
        if (!first) return nullptr;
        Free* const taken = first;
        first = taken->next;
        kept_ -= std::size_t{1} << power;
        return taken;
    }
    // False: there is enough already.
    bool keep(void* memory, unsigned power) {
        const std::lock_guard lock(mutex_);
        if (kept_ + (std::size_t{1} << power) > max_kept) return false;
        free_[power] = ::new (memory) Free{free_[power]};
        kept_ += std::size_t{1} << power;
        return true;
    }

  private:
    struct Free {
        Free* next;
    };
    std::mutex mutex_;
    std::array<Free*, 64> free_{};
    std::size_t kept_ = 0;
};

// Never destroyed: plans may be given up after everything else.
Pool& pool() {
    static Pool* const kept = new Pool;
    return *kept;
}

unsigned power_of(std::size_t bytes) {
    return static_cast<unsigned>(std::bit_width(bytes - 1));
}

bool is_kept(std::size_t bytes) {
    return bytes >= minimum && bytes <= largest;
}

}  // namespace

// There may be millions of pieces smaller than a cache line, with the places of a message's run in each: aligned they
// would take four times as much.
void* take_recycled(std::size_t bytes) {
    if (bytes < line) return ::operator new(bytes);
    if (!is_kept(bytes)) return ::operator new(bytes, std::align_val_t{line});
    const unsigned power = power_of(bytes);
    if (void* memory = pool().take(power)) return memory;
    return ::operator new(std::size_t{1} << power, std::align_val_t{line});
}

void give_recycled(void* memory, std::size_t bytes) noexcept {
    if (bytes < line) return ::operator delete(memory);
    if (is_kept(bytes) && pool().keep(memory, power_of(bytes))) return;
    ::operator delete(memory, std::align_val_t{line});
}

}  // namespace tradewind
