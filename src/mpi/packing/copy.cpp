#include "mpi/packing/copy.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>

#include "mpi/packing/stream.hpp"

namespace tradewind::mpi {

namespace {

template <typename Run>
void loop(const StridedCopy& c, Run copy_run) {
    for (Index k = 0; k < c.count[2]; ++k)
        for (Index j = 0; j < c.count[1]; ++j) {
            const std::byte* from = c.from + k * c.from_stride[2] + j * c.from_stride[1];
            std::byte* to = c.to + k * c.to_stride[2] + j * c.to_stride[1];
            for (Index i = 0; i < c.count[0]; ++i) {
                copy_run(to, from);
                from += c.from_stride[0];
                to += c.to_stride[0];
            }
        }
}

// A run of a size known to the compiler is a few moves; a call of memcpy would cost more than the bytes.
template <std::size_t run>
void copy_short(const StridedCopy& c) {
    loop(c, [](std::byte* to, const std::byte* from) { std::memcpy(to, from, run); });
}

void copy_long(const StridedCopy& c) {
    loop(c, [&c](std::byte* to, const std::byte* from) { std::memcpy(to, from, static_cast<std::size_t>(c.run)); });
}

void copy_streaming(const StridedCopy& c) {
    loop(c, [&c](std::byte* to, const std::byte* from) { stream(to, from, c.run); });
    end_streaming();
}

// Loop 0 is the fastest in the target, loop 1 the fastest in the source.
template <std::size_t run>
void copy_tiled(const StridedCopy& c) {
    constexpr Index tile = 16;
    for (Index k = 0; k < c.count[2]; ++k)
        for (Index j0 = 0; j0 < c.count[1]; j0 += tile)
            for (Index i0 = 0; i0 < c.count[0]; i0 += tile) {
                StridedCopy part = c;
                part.from += k * c.from_stride[2] + j0 * c.from_stride[1] + i0 * c.from_stride[0];
                part.to += k * c.to_stride[2] + j0 * c.to_stride[1] + i0 * c.to_stride[0];
                part.count = {std::min(tile, c.count[0] - i0), std::min(tile, c.count[1] - j0), 1};
                copy_short<run>(part);
            }
}

constexpr std::size_t shortest = 4, short_sizes = 32;
constexpr Index shortest_streamed = 512;  // bytes of a run

template <std::size_t... i>
auto short_copy_of(std::size_t run, std::index_sequence<i...>) {
    static constexpr void (*table[])(const StridedCopy&) = {copy_short<(i + 1) * shortest>...};
    return table[run / shortest - 1];
}

}  // namespace

void choose_strided(StridedCopy& c) {
    const auto run = static_cast<std::size_t>(c.run);
    const bool crossed = std::abs(c.from_stride[1]) < std::abs(c.from_stride[0]) && c.count[0] > 1 && c.count[1] > 1;
    if (crossed && run == 4)
        c.execute = copy_tiled<4>;
    else if (crossed && run == 8)
        c.execute = copy_tiled<8>;
    else if (crossed && run == 16)
        c.execute = copy_tiled<16>;
    else if (c.stores == Stores::streamed && c.run >= shortest_streamed && can_stream())
        c.execute = copy_streaming;
    else if (run > 0 && run % shortest == 0 && run <= shortest * short_sizes)
        c.execute = short_copy_of(run, std::make_index_sequence<short_sizes>());
    else
        c.execute = copy_long;
}

StridedCopy make_copy(View from, View to, const std::array<Index, 3>& shape, Index element, Stores stores) {
    struct Loop {
        Index count, from_stride, to_stride;
    };
    std::array<Loop, 3> loops;
    for (int a = 0; a < 3; ++a) loops[a] = {shape[a], from.stride[a], to.stride[a]};
    // Fastest in the target first; directions of one point go last, and are left out.
    std::sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) {
        return std::tuple(a.count == 1, std::abs(a.to_stride), std::abs(a.from_stride)) <
               std::tuple(b.count == 1, std::abs(b.to_stride), std::abs(b.from_stride));
    });
    const int n =
        static_cast<int>(std::count_if(loops.begin(), loops.end(), [](const Loop& loop) { return loop.count != 1; }));
    StridedCopy c;
    c.from = from.data;
    c.to = to.data;
    c.run = element;
    int first = 0;
    for (; first < n && loops[first].from_stride == c.run && loops[first].to_stride == c.run; ++first)
        c.run *= loops[first].count;
    int kept = 0;  // what is left, with loops that continue each other joined
    for (int i = first; i < n; ++i) {
        Loop* last = kept > 0 ? &loops[kept - 1] : nullptr;
        if (last && loops[i].from_stride == last->from_stride * last->count &&
            loops[i].to_stride == last->to_stride * last->count)
            last->count *= loops[i].count;
        else
            loops[kept++] = loops[i];
    }
    if (kept == 3 && std::abs(loops[2].from_stride) < std::abs(loops[1].from_stride)) std::swap(loops[1], loops[2]);
    for (int i = 0; i < kept; ++i) {
        c.count[i] = loops[i].count;
        c.from_stride[i] = loops[i].from_stride;
        c.to_stride[i] = loops[i].to_stride;
    }
    c.copier = from.copier;
    c.stores = stores;
    return c;
}

bool alike(const StridedCopy& a, const StridedCopy& b) {
    return a.run == b.run && a.count == b.count && a.from_stride == b.from_stride && a.to_stride == b.to_stride &&
           a.copier == b.copier;
}

bool fuse(StridedCopy& first, const StridedCopy& second) {
    const Index from = second.from - first.from, to = second.to - first.to;
    const bool side_by_side =
        std::abs(from) < std::abs(first.from_stride[0]) && std::abs(to) < std::abs(first.to_stride[0]);
    if (!alike(first, second) || !side_by_side || first.count[2] > 1 ||
        first.run > static_cast<Index>(shortest * short_sizes))
        return false;
    first.count = {2, first.count[0], first.count[1]};
    first.from_stride = {from, first.from_stride[0], first.from_stride[1]};
    first.to_stride = {to, first.to_stride[0], first.to_stride[1]};
    return true;
}

}  // namespace tradewind::mpi
