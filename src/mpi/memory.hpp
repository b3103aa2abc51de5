#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "base/units.hpp"

namespace tradewind {

// Memory of a fixed size, touched when it is made so that no page fault falls into a timed call.
class Memory {
  public:
    explicit Memory(Index bytes = 0) {
        if (bytes <= 0) return;
        constexpr std::size_t line = 64;
        const std::size_t size = (static_cast<std::size_t>(bytes) + line - 1) / line * line;
        data_.reset(static_cast<std::byte*>(std::aligned_alloc(line, size)));
        if (!data_) throw std::bad_alloc();
        size_ = size;
        clear();
    }
    std::byte* data() const { return data_.get(); }
    void clear() const {
        if (data_) std::memset(data_.get(), 0, size_);
    }

  private:
    struct Free {
        void operator()(std::byte* p) const { std::free(p); }
    };
    std::unique_ptr<std::byte, Free> data_;
    std::size_t size_ = 0;
};

}  // namespace tradewind
