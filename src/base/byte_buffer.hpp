// Bytes that one process writes for another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <type_traits>

#include "base/huge.hpp"

namespace tradewind {

// Its memory stays when it is cleared: buffers are written again and again.
class ByteBuffer {
  public:
    void clear() { size_ = 0; }
    // Room for `bytes` more bytes, to be filled in before the next call.
    std::byte* add(std::size_t bytes) {
        if (size_ + bytes > room_.size()) room_.resize(std::max(size_ + bytes, 2 * room_.size()));
        size_ += bytes;
        return room_.data() + size_ - bytes;
    }
    // Keeps no more than the first `bytes` bytes.
    void shrink(std::size_t bytes) { size_ = std::min(size_, bytes); }
    template <class T>
    void put(std::span<const T> values) {
        static_assert(std::is_trivially_copyable_v<T>);
        if (!values.empty()) std::memcpy(add(values.size_bytes()), values.data(), values.size_bytes());
    }
    template <class T>
    void put(const T& value) {
        put(std::span<const T>(&value, 1));
    }
    void align(std::size_t bytes) { std::fill_n(add((bytes - size_ % bytes) % bytes), 0, std::byte{}); }

    std::span<const std::byte> bytes() const { return {room_.data(), size_}; }

  private:
    HugeVector<std::byte> room_;
    std::size_t size_ = 0;
};

// Reads a buffer in the order in which it was written.
class ByteReader {
  public:
    explicit ByteReader(std::span<const std::byte> bytes) : all_(bytes) {}

    // Where the next `bytes` bytes stand; they have the alignment that they were written with, up to 64 bytes.
    const std::byte* skip(std::size_t bytes) {
        if (bytes > all_.size() - at_) throw std::logic_error("a buffer that is shorter than its content");
        at_ += bytes;
        return all_.data() + at_ - bytes;
    }
    template <class T>
    T take() {
        T value;
        std::memcpy(&value, skip(sizeof(T)), sizeof(T));
        return value;
    }
    void align(std::size_t bytes) { skip((bytes - at_ % bytes) % bytes); }

  private:
    std::span<const std::byte> all_;
    std::size_t at_ = 0;
};

}  // namespace tradewind
