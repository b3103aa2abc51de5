#include "kernel/spectral/spectral.hpp"

#include <algorithm>

#include "kernel/clones.hpp"

namespace tradewind::kernel {

namespace {

constexpr Index tile = 8;  // wavenumbers whose cache lines are used whole

template <class Real>
[[gnu::always_inline]] inline void split(const Real* rows, Index latitudes, Index width, Real* even, Real* odd) {
    for (Index latitude = 0; latitude < latitudes; ++latitude) {
        const Real* north = rows + latitude * width;
        const Real* south = rows + (2 * latitudes - 1 - latitude) * width;
        for (Index k = 0; k < width; ++k) {
            even[latitude * width + k] = north[k] + south[k];
            odd[latitude * width + k] = north[k] - south[k];
        }
    }
}

template <class Real>
[[gnu::always_inline]] inline void join(const Real* even, const Real* odd, Index latitudes, Index width, Real* rows) {
    for (Index latitude = 0; latitude < latitudes; ++latitude) {
        Real* north = rows + latitude * width;
        Real* south = rows + (2 * latitudes - 1 - latitude) * width;
        for (Index k = 0; k < width; ++k) {
            north[k] = even[latitude * width + k] + odd[latitude * width + k];
            south[k] = even[latitude * width + k] - odd[latitude * width + k];
        }
    }
}

}  // namespace

void spread_row(const Row& from, const ByWavenumber& to) {
    for (Index begin = 0; begin < to.kept; begin += tile) {
        const Index end = std::min(begin + tile, to.kept);
        for (Index m = begin; m < end; ++m) {
            const double factor = m ? to.factor : to.mean_factor;
            const double* in = reinterpret_cast<const double*>(from.values + m);
            double* out = reinterpret_cast<double*>(to.values + to.places[m] * from.fields);
            for (Index field = 0; field < from.fields; ++field) {
                out[2 * field] = factor * in[2 * field * from.stride];
                out[2 * field + 1] = factor * in[2 * field * from.stride + 1];
            }
        }
    }
}

void collect_row(const ByWavenumber& from, const Row& to) {
    for (Index begin = 0; begin < from.kept; begin += tile) {
        const Index end = std::min(begin + tile, from.kept);
        for (Index field = 0; field < to.fields; ++field) {
            double* out = reinterpret_cast<double*>(to.values + field * to.stride);
            for (Index m = begin; m < end; ++m) {
                const double* in = reinterpret_cast<const double*>(from.values + from.places[m] * to.fields + field);
                const double factor = m ? from.factor : from.mean_factor;
                out[2 * m] = factor * in[0];
                out[2 * m + 1] = factor * in[1];
            }
        }
    }
    for (Index field = 0; field < to.fields; ++field) {
        Complex* out = to.values + field * to.stride;
        if (from.kept > 0) out[0] = out[0].real();
        std::fill(out + from.kept, out + to.wavenumbers, Complex());
    }
}

TRADEWIND_CLONES void split_parities(const double* rows, Index latitudes, Index width, double* even, double* odd) {
    split(rows, latitudes, width, even, odd);
}

TRADEWIND_CLONES void split_parities(const float* rows, Index latitudes, Index width, float* even, float* odd) {
    split(rows, latitudes, width, even, odd);
}

TRADEWIND_CLONES void join_parities(const double* even, const double* odd, Index latitudes, Index width, double* rows) {
    join(even, odd, latitudes, width, rows);
}

TRADEWIND_CLONES void join_parities(const float* even, const float* odd, Index latitudes, Index width, float* rows) {
    join(even, odd, latitudes, width, rows);
}

}  // namespace tradewind::kernel
