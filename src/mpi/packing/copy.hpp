// Copies of boxes of elements between strided memories, analysed once and carried out many times.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/units.hpp"
#include "mpi/element.hpp"

namespace tradewind::mpi {

class Copier;

// A box of elements in memory.
struct View {
    std::byte* data = nullptr;
    std::array<Index, 3> stride{};  // bytes along x, y, z
    Copier* copier = nullptr;       // of its memory; none: the host's
};

// The strides of a box that is stored without gaps, x fastest.
inline std::array<Index, 3> dense_strides(const std::array<Index, 3>& shape, Index element) {
    return {element, element * shape[0], element * shape[0] * shape[1]};
}

// Where the bytes go that a copy writes: into the cache, since they are read soon, or past it, since there are so
// many that the first would be evicted before the last are written.
enum class Stores : std::uint8_t { cached, streamed };

// Where a copy that is made at many places goes on in one of its memories: `steps` from where it begins. No list:
// the places follow each other.
struct Places {
    const Index* steps = nullptr;
    Index step = 0;  // bytes
    Index of(Index i) const { return (steps ? steps[i] : i) * step; }
};

// Runs of contiguous bytes, in three nested loops: loop 0 is the innermost. Each run is copied at all places. It is
// described first, and then compiled for the memory: see packing/copier.hpp.
struct StridedCopy {
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    Index run = 0;                                                  // bytes
    std::array<Index, 3> count{1, 1, 1};                            // runs
    std::array<Index, 3> from_stride{0, 0, 0}, to_stride{0, 0, 0};  // bytes
    void (*execute)(const StridedCopy&) = nullptr;
    Places from_places, to_places;
    Index places = 1;
    const void* kept = nullptr;  // what its copier keeps of it
    Copier* copier = nullptr;    // of the memory that both ends lie in; none: the host's
    bool adds = false;           // to what is there, element by element
    bool waits = false;          // reads what the copies before it in its row write
    Element element = Element::f8;
    Stores stores = Stores::cached;

    Index bytes() const { return run * count[0] * count[1] * count[2] * places; }
};

// Everything that can be contiguous becomes one run. Where the two memories have different fastest axes, the copy goes
// in tiles, so that each cache line is fetched once.
StridedCopy make_copy(View from, View to, const std::array<Index, 3>& shape, Index element, Stores stores);

// Makes one copy of two of short runs that walk through memory side by side, like the two edges of the same rows: each
// cache line is fetched once for both. False, and nothing changed, where they do not.
bool fuse(StridedCopy& first, const StridedCopy& second);

// Whether two copies differ in nothing but where they begin.
bool alike(const StridedCopy& a, const StridedCopy& b);

// The host's function for a copy at one place.
void choose_strided(StridedCopy& copy);

}  // namespace tradewind::mpi
