#pragma once

#include <cstdint>
#include <string_view>

namespace tradewind {

// A number that two different texts hardly ever share (FNV-1a).
inline std::uint64_t fnv1a(std::string_view text) {
    std::uint64_t hash = 14695981039346656037ULL;
    for (const unsigned char c : text) hash = (hash ^ c) * 1099511628211ULL;
    return hash;
}

}  // namespace tradewind
