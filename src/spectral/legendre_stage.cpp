#include "spectral/legendre_stage.hpp"

#include <algorithm>

#include "kernel/spectral/legendre.hpp"
#include "kernel/spectral/products.hpp"
#include "kernel/spectral/spectral.hpp"

namespace tradewind::spectral {

// A wavenumber of the stage, and its functions.
template <class Real>
struct LegendreStage<Real>::Wavenumber {
    Index place, m, latitudes, negligible;
    const Real *even, *odd;  // functions, [n][latitude]
};

// Memory of a thread.
template <class Real>
struct LegendreStage<Real>::Room {
    std::vector<Real> parities;               // even and odd, [latitude][width]
    std::vector<std::complex<Real>> derived;  // [n][field]
    Index width;
    Real* even() { return parities.data(); }
    Real* odd() { return parities.data() + parities.size() / 2; }
};

template <class Real>
LegendreStage<Real>::LegendreStage(std::shared_ptr<const Truncation> truncation, std::vector<Index> wavenumbers,
                                   double radius)
    : truncation_(std::move(truncation)), wavenumbers_(std::move(wavenumbers)) {
    const Truncation& t = *truncation_;
    for (const Index m : wavenumbers_) {
        const Index none = kernel::negligible_latitudes(t.grid->gaussian(), m, t.degree + 1);
        first_.push_back(std::clamp(none, t.row_begin(m), t.half()));
        spectral_start_.push_back(spectral_start_.back() + t.degrees(m));
        fourier_start_.push_back(fourier_start_.back() + t.row_end(m) - t.row_begin(m));
        table_start_.push_back(table_start_.back() + t.degrees(m, 1) * (t.half() - first_.back()));
        operators_.emplace_back(m, t.degree, radius);
    }
    fill_tables();
}

template <class Real>
void LegendreStage<Real>::fill_tables() {
    const Truncation& t = *truncation_;
    table_.resize(static_cast<std::size_t>(table_start_.back()));
    std::vector<double> values;
    for (std::size_t k = 0; k < wavenumbers_.size(); ++k) {
        const Index size = table_start_[k + 1] - table_start_[k];
        values.resize(static_cast<std::size_t>(size));
        kernel::legendre(t.grid->gaussian(), first_[k], t.half(), wavenumbers_[k], t.degree + 1, values.data(), size);
        std::transform(values.begin(), values.end(), table_.begin() + table_start_[k],
                       [](double value) { return static_cast<Real>(value); });
    }
}

template <class Real>
template <class Work>
void LegendreStage<Real>::each(kernel::Team& team, Index width, Work work) const {
    const Truncation& t = *truncation_;
    std::vector<Room> rooms(static_cast<std::size_t>(team.threads()));  // threads must not throw
    for (Room& room : rooms) {
        room.width = width;
        room.parities.resize(static_cast<std::size_t>(2 * t.half() * width));
        room.derived.resize(static_cast<std::size_t>((t.degree + 2) * width / 2));
    }
    team.run([&](int thread) {
        Room& room = rooms[static_cast<std::size_t>(thread)];
        const auto count = static_cast<Index>(wavenumbers_.size());
        for (Index k = thread; k < count; k += team.threads()) {
            const auto at = static_cast<std::size_t>(k);
            const Index m = wavenumbers_[at], latitudes = t.half() - first_[at];
            const Real* even = table_.data() + table_start_[at];
            work(Wavenumber{k, m, latitudes, first_[at] - t.row_begin(m), even,
                            even + (t.degrees(m, 1) + 1) / 2 * latitudes},
                 room);
        }
    });
}

// Both products: from degrees to parities (forth), or back. `values`: of n = m, `row` numbers from a degree to the
// next.
template <class Real>
void LegendreStage<Real>::multiply(const Wavenumber& m, Index degrees, Real* values, Index row, Room& room,
                                   bool forth) const {
    const std::array<const Real*, 2> functions{m.even, m.odd};
    const std::array<Real*, 2> sums{room.even(), room.odd()};
    for (std::size_t parity = 0; parity < 2; ++parity) {
        const Index count = (degrees + 1 - static_cast<Index>(parity)) / 2;
        Real* own = values + static_cast<Index>(parity) * row;
        if (forth)
            kernel::multiply(kernel::Product<Real>{m.latitudes, count, room.width, functions[parity], 1, m.latitudes,
                                                   own, 2 * row, sums[parity], room.width});
        else
            kernel::multiply(kernel::Product<Real>{count, m.latitudes, room.width, functions[parity], m.latitudes, 1,
                                                   sums[parity], room.width, own, 2 * row});
    }
}

template <class Real>
void LegendreStage<Real>::to_fourier(Derived derived, const SpectralFields<Real>& spectral, std::complex<Real>* fourier,
                                     kernel::Team& team) const {
    const Index fields = spectral.levels * grid_variables(derived), width = 2 * fields;
    each(team, width, [&](const Wavenumber& m, Room& room) {
        const auto at = static_cast<std::size_t>(m.place);
        std::array<Degrees<Real>, 2> own;
        for (std::size_t v = 0; v < 2; ++v)
            own[v] = {spectral.values[v] + spectral_start_[at] * spectral.stride[v], spectral.stride[v]};
        std::complex<Real>* values = own[0].values;
        Index stride = own[0].stride;
        if (derived != Derived::none) {
            operators_[at].widen(derived, own, spectral.levels, room.derived.data());
            values = room.derived.data();
            stride = fields;
        }
        const Index degrees = truncation_->degrees(m.m, derived == Derived::none ? 0 : 1);
        multiply(m, degrees, reinterpret_cast<Real*>(values), 2 * stride, room, true);
        Real* rows = reinterpret_cast<Real*>(fourier + fourier_start_[at] * fields);
        Real* end = reinterpret_cast<Real*>(fourier + fourier_start_[at + 1] * fields);
        std::fill_n(rows, m.negligible * width, Real{});
        std::fill_n(end - m.negligible * width, m.negligible * width, Real{});
        kernel::join_parities(room.even(), room.odd(), m.latitudes, width, rows + m.negligible * width);
    });
}

template <class Real>
void LegendreStage<Real>::to_spectral(Derived derived, const std::complex<Real>* fourier,
                                      const SpectralFields<Real>& spectral, kernel::Team& team) const {
    const Index fields = spectral.levels * grid_variables(derived), width = 2 * fields;
    each(team, width, [&](const Wavenumber& m, Room& room) {
        const auto at = static_cast<std::size_t>(m.place);
        std::array<Degrees<Real>, 2> own;
        for (std::size_t v = 0; v < 2; ++v)
            own[v] = {spectral.values[v] + spectral_start_[at] * spectral.stride[v], spectral.stride[v]};
        const Real* rows = reinterpret_cast<const Real*>(fourier + fourier_start_[at] * fields);
        kernel::split_parities(rows + m.negligible * width, m.latitudes, width, room.even(), room.odd());
        if (derived == Derived::none) {
            multiply(m, truncation_->degrees(m.m), reinterpret_cast<Real*>(own[0].values), 2 * own[0].stride, room,
                     false);
            return;
        }
        multiply(m, truncation_->degrees(m.m, 1), reinterpret_cast<Real*>(room.derived.data()), width, room, false);
        operators_[at].narrow(derived, room.derived.data(), spectral.levels, own);
    });
}

template class LegendreStage<float>;
template class LegendreStage<double>;

}  // namespace tradewind::spectral
