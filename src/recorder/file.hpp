#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tradewind::recorder {

/// Kinds of blocks of a trace, see docs/reference/trace.md.
enum class Block : std::uint8_t {
    RUN = 1,
    RANK,
    DEFINITIONS,
    OPERATIONS,
    ORDER,
    GAPS,
    DURATIONS,
    END,
    SITES,
    OVERTAKERS
};

/// The file of a rank while it runs: blocks, gathered in memory and written some at a time, whole.
class File {
  public:
    /// Creates the file of a rank in a folder; false, with errno, where that cannot be, or it is there already.
    bool open(const char* folder, int rank);

    void add(Block kind, const void* data, std::size_t bytes);

    /// Writes what was added since; false where the disk is full or fails. What was written before stays whole.
    bool flush();

    /// Takes the last flush back and writes what was added since in its room: on a full disk, why there is no more.
    bool replace_last();

    void close();

    /// Closes and removes the file, which `open` has created in the folder.
    void remove(const char* folder);
    bool is_open() const { return descriptor_ >= 0; }

  private:
    int descriptor_ = -1;
    std::uint32_t rank_ = 0;
    std::vector<char> buffer_;
    std::uint64_t written_ = 0, last_ = 0;  // bytes, and those before the last flush
};

}  // namespace tradewind::recorder
