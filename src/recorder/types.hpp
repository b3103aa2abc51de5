#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "recorder/library.hpp"

namespace tradewind::recorder {

struct TypeInfo {
    int number = 0;
    std::int64_t size = 0, extent = 0;
    bool is_derived = false;
};

/// The datatypes of a rank by handle. Those of one size and extent have one number, so that a program that makes its
/// types anew in each step has the same operations in each.
class Types {
  public:
    const TypeInfo& operator[](Word handle) {
        Cached& cached = cache_[(handle ^ handle >> 5 ^ handle >> 12) & (CACHED - 1)];
        if (cached.handle != handle) cached = {handle, found(handle)};
        return cached.info;
    }

    void freed(Word handle);

    std::string definitions;

  private:
    struct Cached {
        Word handle = 0;
        TypeInfo info;
    };
    static constexpr std::size_t CACHED = 64;

    TypeInfo found(Word handle);

    Cached cache_[CACHED];
    std::unordered_map<Word, TypeInfo> known_;
    std::vector<TypeInfo> distinct_;
};

}  // namespace tradewind::recorder
