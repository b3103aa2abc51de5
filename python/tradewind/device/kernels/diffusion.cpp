// A step of fourth-order diffusion, see src/kernel/diffusion. Each point computes the Laplacians around it itself: the
// nine values beside it are in the cache, and no thread needs what another one computes.
#include "threads.hpp"

namespace tradewind_device {

template <class Real>
TRADEWIND_DEVICE Real laplacian(const Real* at, Index pitch) {
    return ((at[-1] + at[1]) + (at[-pitch] + at[pitch])) - Real(4) * at[0];
}

// The points of a box of arrays [z][y][x], `pitch` values from row to row and `level` from level to level: it begins
// `first` values behind the arrays' first, and has columns x rows x levels points.
template <class Real>
TRADEWIND_DEVICE void diffuse(const Real* in, Real* out, Index first, Index pitch, Index level, Index columns,
                              Index rows, Index levels, Real alpha) {
    for (Index i = this_thread(); i < columns * rows * levels; i += all_threads()) {
        const Split line = Split::of(i, columns), plane = Split::of(line.row, rows);
        const Index place = first + plane.row * level + plane.rest * pitch + line.rest;
        const Real* const at = in + place;
        const Real left = laplacian(at - 1, pitch), right = laplacian(at + 1, pitch);
        const Real below = laplacian(at - pitch, pitch), above = laplacian(at + pitch, pitch);
        out[place] = at[0] - alpha * (((left + right) + (below + above)) - Real(4) * laplacian(at, pitch));
    }
}

}  // namespace tradewind_device

#define TRADEWIND_PARAMETERS(Real)                                                                                    \
    (const Real* in, Real* out, long long first, long long pitch, long long level, long long columns, long long rows, \
     long long levels, Real alpha)
TRADEWIND_BOTH(diffuse, TRADEWIND_PARAMETERS, (in, out, first, pitch, level, columns, rows, levels, alpha))
#undef TRADEWIND_PARAMETERS
