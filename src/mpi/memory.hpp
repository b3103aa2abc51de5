#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/recycled.hpp"
#include "base/units.hpp"

namespace tradewind::mpi {

// Memory of a fixed size, touched when it is made so that no page fault falls into a timed call.
class Memory {
  public:
    enum class Contents : std::uint8_t { zeros, anything };

    explicit Memory(Index bytes = 0, Contents contents = Contents::zeros)
        : bytes_(bytes > 0 ? static_cast<std::size_t>(bytes) : 0) {
        if (contents == Contents::zeros) {
            clear();
            return;
        }
        constexpr std::size_t page = 4096;
        volatile std::byte* const touched = data();
        for (std::size_t i = 0; i < bytes_.size(); i += page) touched[i] = std::byte{0};
    }
    std::byte* data() const { return const_cast<std::byte*>(bytes_.data()); }
    void clear() const {
        if (!bytes_.empty()) std::memset(data(), 0, bytes_.size());
    }

  private:
    RecycledVector<std::byte> bytes_;
};

}  // namespace tradewind::mpi
