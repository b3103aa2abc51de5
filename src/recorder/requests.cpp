#include "recorder/requests.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tradewind::recorder {
namespace {

constexpr int FIRST_BITS = 8;

}  // namespace

Requests::Requests() : table_(std::size_t{1} << FIRST_BITS, UNKNOWN), shift_(64 - FIRST_BITS) {}

int Requests::free_slot(std::uint64_t begun) {
    for (std::size_t word = 0;; word++) {
        if (word == free_.size()) {
            free_.push_back(~std::uint64_t{0});
            slots_.resize(64 * free_.size());
            free_since_.resize(slots_.size());
        }
        for (std::uint64_t bits = free_[word]; bits != 0; bits &= bits - 1) {
            const int slot = static_cast<int>(64 * word) + std::countr_zero(bits);
            if (free_since_[static_cast<std::size_t>(slot)] <= begun) return slot;
        }
    }
}

int Requests::add(Request request, std::uint64_t begun) {
    const int slot = free_slot(begun);
    free_[static_cast<std::size_t>(slot) / 64] &= ~(std::uint64_t{1} << (slot % 64));
    (*this)[slot] = std::move(request);
    if (2 * ++open_ > table_.size()) grow();
    insert(slot);
    return slot;
}

int Requests::find(Word handle, int thread) const {
    const std::size_t mask = table_.size() - 1;
    int of_another = UNKNOWN;
    for (std::size_t at = home(handle); table_[at] != UNKNOWN; at = (at + 1) & mask) {
        const Request& request = slots_[static_cast<std::size_t>(table_[at])];
        if (request.handle == handle && request.thread == thread) return table_[at];
        if (request.handle == handle && of_another == UNKNOWN) of_another = table_[at];
    }
    return of_another;
}

void Requests::remove(int slot, std::uint64_t events) {
    const std::size_t mask = table_.size() - 1;
    std::size_t hole = home((*this)[slot].handle);
    while (table_[hole] != slot) hole = (hole + 1) & mask;
    // Entries behind that could have been here move up, so that no search ends too early.
    for (std::size_t next = (hole + 1) & mask; table_[next] != UNKNOWN; next = (next + 1) & mask) {
        const std::size_t distance = (next - home((*this)[table_[next]].handle)) & mask;
        if (distance >= ((next - hole) & mask)) {
            table_[hole] = table_[next];
            hole = next;
        }
    }
    table_[hole] = UNKNOWN;
    open_--;
    (*this)[slot] = {};
    free_since_[static_cast<std::size_t>(slot)] = events;
    free_[static_cast<std::size_t>(slot) / 64] |= std::uint64_t{1} << (slot % 64);
}

void Requests::insert(int slot) {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = home((*this)[slot].handle);
    while (table_[at] != UNKNOWN) at = (at + 1) & mask;
    table_[at] = slot;
}

void Requests::grow() {
    std::vector<int> old = std::exchange(table_, std::vector<int>(2 * table_.size(), UNKNOWN));
    shift_--;
    std::ranges::rotate(old, std::ranges::find(old, UNKNOWN));  // so that those of one handle keep their order
    for (const int slot : old) {
        if (slot != UNKNOWN) insert(slot);
    }
}

}  // namespace tradewind::recorder
