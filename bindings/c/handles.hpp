// Objects behind the handles of the C interface.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace tradewind::c {

// A handle that stands for nothing.
class HandleError : public std::invalid_argument {
  public:
    using std::invalid_argument::invalid_argument;
};

// The objects of one kind, by number. A number is never used again, so that a freed handle differs from
// all live ones: its lowest bits are the slot of the object, the others count the earlier objects of this slot. Looking
// one up takes no lock; slots stay where they are.
template <class Object>
class Handles {
  public:
    explicit Handles(std::string kind) : kind_(std::move(kind)) {}
    Handles(const Handles&) = delete;
    Handles& operator=(const Handles&) = delete;

    std::uint64_t add(std::shared_ptr<Object> object) {
        const std::lock_guard<std::mutex> lock(changing_);
        if (free_.empty()) add_chunk();
        const std::size_t place = free_.back();
        free_.pop_back();
        Slot& slot = slot_at(place);
        slot.object = std::move(object);
        const std::uint64_t id = (++slot.generation << place_bits) | place;
        slot.id.store(id, std::memory_order_release);
        return id;
    }

    // Throws HandleError.
    const std::shared_ptr<Object>& at(std::uint64_t id) const {
        const Slot* slot = find(id);
        if (!slot) refuse(id);
        return slot->object;
    }

    // Throws HandleError. The object, which its last user destroys.
    std::shared_ptr<Object> remove(std::uint64_t id) {
        const std::lock_guard<std::mutex> lock(changing_);
        if (!find(id)) refuse(id);
        const std::size_t place = id & place_mask;
        Slot& slot = slot_at(place);
        slot.id.store(0, std::memory_order_release);
        free_.push_back(place);
        return std::move(slot.object);
    }

  private:
    static constexpr int place_bits = 20, chunk_bits = 8;
    static constexpr std::uint64_t place_mask = (1U << place_bits) - 1;
    static constexpr std::size_t chunk_size = 1U << chunk_bits;
    struct Slot {
        std::atomic<std::uint64_t> id{0};
        std::uint64_t generation = 0;
        std::shared_ptr<Object> object;
    };

    Slot& slot_at(std::size_t place) const {
        return chunks_[place >> chunk_bits].load(std::memory_order_acquire)[place % chunk_size];
    }
    const Slot* find(std::uint64_t id) const {
        const std::size_t place = id & place_mask;
        const Slot* chunk = chunks_[place >> chunk_bits].load(std::memory_order_acquire);
        if (id == 0 || !chunk || chunk[place % chunk_size].id.load(std::memory_order_acquire) != id) return nullptr;
        return &chunk[place % chunk_size];
    }
    void add_chunk() {
        if (owned_.size() == chunks_.size())
            throw std::length_error("more than " + std::to_string(place_mask) + " " + kind_ + "s at a time");
        owned_.push_back(std::make_unique<Slot[]>(chunk_size));
        const std::size_t first = (owned_.size() - 1) << chunk_bits;
        chunks_[owned_.size() - 1].store(owned_.back().get(), std::memory_order_release);
        for (std::size_t place = first + chunk_size; place-- > first;) free_.push_back(place);
    }
    [[noreturn]] void refuse(std::uint64_t id) const {
        if (id == 0) throw HandleError("the " + kind_ + " is TW_NULL: it was never made, or making it failed");
        throw HandleError("no " + kind_ + " has the handle " + std::to_string(id) + ": it has been freed");
    }

    const std::string kind_;
    std::array<std::atomic<Slot*>, (place_mask + 1) / chunk_size> chunks_{};
    std::vector<std::unique_ptr<Slot[]>> owned_;
    std::vector<std::size_t> free_;  // places, the next one last
    std::mutex changing_;
};

}  // namespace tradewind::c
