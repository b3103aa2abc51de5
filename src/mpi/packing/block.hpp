// Where the bytes of a message lie in a rank's memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi/packing/copy.hpp"

namespace tradewind::mpi {

// Runs of contiguous bytes in three nested loops, the first one fastest: the order of the message.
struct Block {
    std::byte* data = nullptr;
    Index run = 0;                         // bytes
    std::array<Index, 3> shape{1, 1, 1};   // runs
    std::array<Index, 3> stride{0, 0, 0};  // bytes from run to run
    Copier* copier = nullptr;              // of its memory; none: the host's

    Index bytes() const { return run * shape[0] * shape[1] * shape[2]; }
    bool contiguous() const { return shape[0] * shape[1] * shape[2] == 1; }
};

inline Block buffer_block(std::byte* data, Index bytes, Copier* copier = nullptr) {
    return {data, bytes, {1, 1, 1}, {0, 0, 0}, copier};
}

// Whether the bytes of a message lie in one run of memory.
bool one_run(const std::vector<Block>& blocks);

// The same bytes in the same order with the longest runs and the fewest loops.
Block joined(const Block& block);

// The lowest address of a block, and the one behind its highest byte.
struct Extent {
    std::byte *begin, *end;
};
Extent extent_of(const Block& block);

// The bytes of a message from `begin` to before `end`.
std::vector<Block> slice(const std::vector<Block>& blocks, Index begin, Index end);

// A number that depends on every byte of a message in the host's memory and its place. Bytes in multiples of 4.
std::uint64_t checksum(const std::vector<Block>& blocks);

// A run at both ends of a message.
struct RunPair {
    std::byte *here, *there;
    Index bytes;
    Copier *copier_here = nullptr, *copier_there = nullptr;
};

// So many runs of one message are sent one by one.
inline constexpr std::size_t max_direct_runs = std::size_t{1} << 16;

// The longest runs that are contiguous at both ends. Throws InputError where there are more than `maximum`.
std::vector<RunPair> common_runs(const std::vector<Block>& here, const std::vector<Block>& there, std::size_t maximum);

// Appends copies that bring the bytes of a message from one memory to another: as few as can be.
void append_copies(const std::vector<Block>& from, const std::vector<Block>& to, Stores stores,
                   std::vector<StridedCopy>& copies);

}  // namespace tradewind::mpi
