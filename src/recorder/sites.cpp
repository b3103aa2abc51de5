#include "recorder/sites.hpp"

#include <bit>

#include "recorder/json.hpp"

namespace tradewind::recorder {
namespace {

constexpr std::size_t FIRST_SIZE = 256;
constexpr std::uint32_t MOST = 65535;  // what is made while a program runs, as by a Python compiler, may have no end
constexpr int MOST_WRAPPERS = 4;       // one within the other: mpi_f08 over mpif.h

int shift_of(std::size_t size) {
    return 64 - std::countr_zero(size);
}

}  // namespace

Sites::Sites() : table_(FIRST_SIZE), shift_(shift_of(FIRST_SIZE)) {}

Sites::Entry& Sites::find(Word address) {
    std::size_t at = home(address);
    while (table_[at].address != 0 && table_[at].address != address) at = (at + 1) & (table_.size() - 1);
    return table_[at];
}

/// Begins the table anew: its addresses may be another library's by now.
void Sites::forget_addresses() {
    closings_ = closings;
    table_.assign(table_.size(), {});
    entries_ = 0;
}

std::uint32_t Sites::search(Frame frame) {
    const Word called = frame.address;
    for (int wrappers = 0; wrappers <= MOST_WRAPPERS && frame.address != 0; wrappers++) {
        Entry* entry = &find(frame.address);
        if (entry->address == 0) {
            if (entries_ == MOST) break;
            if (++entries_ * std::size_t{2} > table_.size()) {
                grow();
                entry = &find(frame.address);
            }
            entry->address = frame.address;
            describe(*entry, true);
        }
        if (!entry->is_wrapper) return entry->number;
        frame = outer_frame(frame, entry->rule);
    }
    Entry& wrapper = find(called);
    if (wrapper.is_wrapper && wrapper.number == 0) describe(wrapper, false);
    return wrapper.number;
}

/// Finds out where an address lies; of a wrapper, how to come to what called it, unless that is `passed` no more.
void Sites::describe(Entry& entry, bool is_passed) {
    LoadedObject object;
    if (!find_object(entry.address - 1, object)) return;
    if (is_passed && object.is_mpi()) {
        if (const std::optional<FrameRule> rule = frame_rule(entry.address)) {
            entry.is_wrapper = true;
            entry.rule = *rule;
            return;
        }
    }
    if (numbers_.size() == MOST) return;
    const std::uint32_t number = object_number(object);
    const Word offset = entry.address - object.base;
    const auto [known, is_new] =
        numbers_.try_emplace({number, offset}, static_cast<std::uint32_t>(numbers_.size() + 1));
    entry.number = known->second;
    if (!is_new) return;
    definitions += "{\"site\":" + std::to_string(entry.number) + ",\"object\":" + std::to_string(number) +
                   ",\"offset\":" + std::to_string(offset) + "}\n";
}

std::uint32_t Sites::object_number(const LoadedObject& object) {
    const auto [known, is_new] =
        objects_.try_emplace({object.path, object.build_id}, static_cast<std::uint32_t>(objects_.size()));
    if (is_new) {
        definitions += "{\"object\":" + std::to_string(known->second) + ",\"path\":" + json(object.path) +
                       ",\"build_id\":" + json(object.build_id) + "}\n";
    }
    return known->second;
}

void Sites::grow() {
    const std::vector<Entry> old = std::move(table_);
    table_ = std::vector<Entry>(old.size() * 2);
    shift_ = shift_of(table_.size());
    for (const Entry& entry : old) {
        if (entry.address != 0) find(entry.address) = entry;
    }
}

}  // namespace tradewind::recorder
