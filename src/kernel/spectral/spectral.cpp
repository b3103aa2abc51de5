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

template <class Real>
void spread_row(const Row<Real>& from, const ByWavenumber<Real>& to) {
    for (Index begin = 0; begin < to.kept; begin += tile) {
        const Index end = std::min(begin + tile, to.kept);
        for (Index m = begin; m < end; ++m) {
            const auto factor = static_cast<Real>(m ? to.factor : to.mean_factor);
            const Real* in = reinterpret_cast<const Real*>(from.values + m);
            Real* out = reinterpret_cast<Real*>(to.values + to.places[m] * from.fields);
            for (Index field = 0; field < from.fields; ++field) {
                out[2 * field] = factor * in[2 * field * from.stride];
                out[2 * field + 1] = factor * in[2 * field * from.stride + 1];
            }
        }
    }
}

template <class Real>
void collect_row(const ByWavenumber<Real>& from, const Row<Real>& to) {
    for (Index begin = 0; begin < from.kept; begin += tile) {
        const Index end = std::min(begin + tile, from.kept);
        for (Index field = 0; field < to.fields; ++field) {
            Real* out = reinterpret_cast<Real*>(to.values + field * to.stride);
            for (Index m = begin; m < end; ++m) {
                const Real* in = reinterpret_cast<const Real*>(from.values + from.places[m] * to.fields + field);
                const auto factor = static_cast<Real>(m ? from.factor : from.mean_factor);
                out[2 * m] = factor * in[0];
                out[2 * m + 1] = factor * in[1];
            }
        }
    }
    for (Index field = 0; field < to.fields; ++field) {
        std::complex<Real>* out = to.values + field * to.stride;
        if (from.kept > 0) out[0] = out[0].real();
        std::fill(out + from.kept, out + to.wavenumbers, std::complex<Real>());
    }
}

template void spread_row(const Row<float>&, const ByWavenumber<float>&);
template void spread_row(const Row<double>&, const ByWavenumber<double>&);
template void collect_row(const ByWavenumber<float>&, const Row<float>&);
template void collect_row(const ByWavenumber<double>&, const Row<double>&);

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
