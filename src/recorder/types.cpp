#include "recorder/types.hpp"

#include <algorithm>

#include "recorder/operation.hpp"

namespace tradewind::recorder {
namespace {

std::int64_t size_of(Word type) {
    std::int64_t size = 0;
    for (const char* function : {"PMPI_Type_size_c", "PMPI_Type_size_x"}) {
        if (find(function) != nullptr) {
            call(function, type, reinterpret_cast<Word>(&size));
            return size;
        }
    }
    int small = 0;
    call("PMPI_Type_size", type, reinterpret_cast<Word>(&small));
    return small;
}

bool is_derived(Word type) {
    int integers = 0, addresses = 0, types = 0, combiner = abi().combiner_named;
    call("PMPI_Type_get_envelope", type, reinterpret_cast<Word>(&integers), reinterpret_cast<Word>(&addresses),
         reinterpret_cast<Word>(&types), reinterpret_cast<Word>(&combiner));
    return combiner != abi().combiner_named;
}

}  // namespace

TypeInfo Types::found(Word handle) {
    const auto known = known_.find(handle);
    if (known != known_.end()) return known->second;
    if (handle == abi().null_type) return {.number = NONE};
    TypeInfo info;
    std::intptr_t lower_bound = 0, extent = 0;
    call("PMPI_Type_get_extent", handle, reinterpret_cast<Word>(&lower_bound), reinterpret_cast<Word>(&extent));
    info.size = size_of(handle);
    info.extent = extent;
    info.is_derived = is_derived(handle);
    const auto same = std::find_if(distinct_.begin(), distinct_.end(), [&info](const TypeInfo& other) {
        return other.size == info.size && other.extent == info.extent && other.is_derived == info.is_derived;
    });
    if (same != distinct_.end()) {
        info.number = same->number;
    } else {
        info.number = static_cast<int>(distinct_.size());
        distinct_.push_back(info);
        definitions += "{\"type\":" + std::to_string(info.number) + ",\"size\":" + std::to_string(info.size) +
                       ",\"extent\":" + std::to_string(info.extent) +
                       ",\"derived\":" + (info.is_derived ? "true" : "false") + "}\n";
    }
    known_[handle] = info;
    return info;
}

void Types::freed(Word handle) {
    known_.erase(handle);
    for (Cached& cached : cache_) {
        if (cached.handle == handle) cached = {};
    }
}

}  // namespace tradewind::recorder
