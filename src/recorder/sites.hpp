#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "recorder/frames.hpp"
#include "recorder/objects.hpp"

namespace tradewind::recorder {

/// The places in the program, or in libraries that it uses, where MPI is called: numbered in the order of their first
/// calls. Where a part of the MPI library itself calls, as wrappers of Fortran do, it is the place that called that.
class Sites {
  public:
    Sites();

    /// Returns the number of the place that called a function with this frame; 0 where it has none.
    std::uint32_t number(Word frame_address) {
        if (closings.load(std::memory_order_relaxed) != closings_) forget_addresses();
        const Frame frame = frame_of(frame_address);
        const Entry& entry = table_[home(frame.address)];
        if (entry.address == frame.address && !entry.is_wrapper) return entry.number;
        return search(frame);
    }

    std::string definitions;  // that were not written yet

  private:
    struct Entry {
        Word address = 0;
        std::uint32_t number = 0;
        bool is_wrapper = false;
        FrameRule rule;
    };

    std::size_t home(Word address) const { return address * 0x9e3779b97f4a7c15U >> shift_; }
    Entry& find(Word address);
    void forget_addresses();
    std::uint32_t search(Frame frame);
    void describe(Entry& entry, bool is_passed);
    std::uint32_t object_number(const LoadedObject& object);
    void grow();

    std::vector<Entry> table_;  // open addressing, a power of two
    int shift_;
    std::uint32_t entries_ = 0;
    unsigned closings_ = 0;                                                 // when the table was begun
    std::map<std::pair<std::string, std::string>, std::uint32_t> objects_;  // by path and build id
    std::map<std::pair<std::uint32_t, Word>, std::uint32_t> numbers_;       // by object, and address in it
};

}  // namespace tradewind::recorder
