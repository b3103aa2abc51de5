#include "recorder/operations.hpp"

#include <cstddef>
#include <cstring>

namespace tradewind::recorder {
namespace {

constexpr std::size_t FIRST_SIZE = 4096;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// Two hashes of 64 bits: the same operation has the same, and another one has not, in all likelihood of a trace.
struct Hash {
    std::uint64_t a = 0x9e3779b97f4a7c15U, b = 0xc2b2ae3d27d4eb4fU;

    void add(const void* data, std::size_t words) {
        const auto* bytes = static_cast<const unsigned char*>(data);
        for (std::size_t n = 0; n < words; n++) {
            std::uint64_t word = 0;
            std::memcpy(&word, bytes + 8 * n, 8);
            a = mixed(a ^ word, 0xa0761d6478bd642fU);
            b = (b + word) * 0xe7037ed1a0b428dbU;
            b ^= b >> 29;
        }
    }
};

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Operations::Operations() : table_(FIRST_SIZE) {}

std::uint32_t Operations::number(Event& event) {
    Operation& operation = event.operation;
    operation.asked = static_cast<std::uint32_t>(event.lists.asked.size());
    operation.ended = static_cast<std::uint32_t>(event.lists.ended.size());
    operation.blocks = static_cast<std::uint32_t>(event.lists.blocks.size());
    Hash hash;
    hash.add(&operation, sizeof operation / 8);
    if (operation.asked != 0) {
        if (operation.asked % 2 != 0) event.lists.asked.push_back(0);  // whole words
        hash.add(event.lists.asked.data(), event.lists.asked.size() / 2);
        event.lists.asked.resize(operation.asked);
    }
    if (operation.ended != 0) hash.add(event.lists.ended.data(), event.lists.ended.size() * sizeof(Ended) / 8);
    if (operation.blocks != 0) hash.add(event.lists.blocks.data(), event.lists.blocks.size());

    const std::size_t mask = table_.size() - 1;
    std::size_t at = hash.a & mask;
    while (table_[at].number != UINT32_MAX) {
        if (table_[at].hash == hash.a && table_[at].check == hash.b) return table_[at].number;
        at = (at + 1) & mask;
    }
    const std::uint32_t number = count_++;
    table_[at] = {hash.a, hash.b, number};
    fresh_.push_back(operation);
    append(fresh_lists_.asked, event.lists.asked);
    append(fresh_lists_.ended, event.lists.ended);
    append(fresh_lists_.blocks, event.lists.blocks);
    if (count_ * std::size_t{2} > table_.size()) grow();
    return number;
}

void Operations::grow() {
    const std::vector<Entry> old = std::move(table_);
    table_ = std::vector<Entry>(old.size() * 2);
    const std::size_t mask = table_.size() - 1;
    for (const Entry& entry : old) {
        if (entry.number == UINT32_MAX) continue;
        std::size_t at = entry.hash & mask;
        while (table_[at].number != UINT32_MAX) at = (at + 1) & mask;
        table_[at] = entry;
    }
}

void Operations::written() {
    fresh_.clear();
    fresh_lists_.clear();
}

}  // namespace tradewind::recorder
