#include "spectral/operators.hpp"

#include <algorithm>
#include <cmath>

namespace tradewind::spectral {

namespace {

// to += factor * from, and to += i factor * from.
template <class Real>
void add(double factor, const std::complex<Real>* from, Index levels, std::complex<Real>* to) {
    const auto by = static_cast<Real>(factor);
    for (Index level = 0; level < levels; ++level) to[level] += by * from[level];
}

template <class Real>
void add_turned(double factor, const std::complex<Real>* from, Index levels, std::complex<Real>* to) {
    const auto by = static_cast<Real>(factor);
    for (Index level = 0; level < levels; ++level)
        to[level] += std::complex<Real>(-by * from[level].imag(), by * from[level].real());
}

}  // namespace

Index spectral_variables(Derived derived) {
    return derived == Derived::wind || derived == Derived::curl ? 2 : 1;
}

Index grid_variables(Derived derived) {
    return derived == Derived::none ? 1 : 2;
}

Operators::Operators(Index m, Index top, double radius)
    : degrees_(top + 1 - m), east_(static_cast<double>(m) / radius) {
    const auto epsilon = [m](Index n) {
        return std::sqrt(static_cast<double>(n * n - m * m) / static_cast<double>(4 * n * n - 1));
    };
    for (Index n = m; n <= top + 1; ++n) {
        const auto degree = static_cast<double>(n);
        above_.push_back(n <= top ? (degree + 2) * epsilon(n + 1) / radius : 0);
        below_.push_back(-(degree - 1) * epsilon(n) / radius);
        inverse_.push_back(n ? -radius * radius / (degree * (degree + 1)) : 0);
    }
}

template <class Real>
void Operators::widen(Derived derived, const std::array<Degrees<Real>, 2>& spectral, Index levels,
                      std::complex<Real>* wide) const {
    const bool gradient = derived == Derived::gradient;
    const double sign = derived == Derived::curl ? -1 : 1;
    const auto factor = [&](Index j) { return derived == Derived::wind ? inverse_[static_cast<std::size_t>(j)] : 1; };
    std::fill_n(wide, 2 * levels * (degrees_ + 1), std::complex<Real>());
    const auto add_north = [&](double by, const Degrees<Real>& field, Index j, std::complex<Real>* to) {
        const auto at = static_cast<std::size_t>(j);
        if (j + 1 < degrees_) add(by * above_[at] * factor(j + 1), field.values + (j + 1) * field.stride, levels, to);
        if (j > 0) add(by * below_[at] * factor(j - 1), field.values + (j - 1) * field.stride, levels, to);
    };
    const auto add_east = [&](double by, const Degrees<Real>& field, Index j, std::complex<Real>* to) {
        if (j < degrees_) add_turned(by * east_ * factor(j), field.values + j * field.stride, levels, to);
    };
    for (Index j = 0; j <= degrees_; ++j) {
        std::complex<Real>*east = wide + 2 * levels * j, *north = east + levels;
        if (gradient) {
            add_east(1, spectral[0], j, east);
            add_north(1, spectral[0], j, north);
        } else {
            add_east(sign, spectral[1], j, east);
            add_north(-sign, spectral[0], j, east);
            add_east(sign, spectral[0], j, north);
            add_north(sign, spectral[1], j, north);
        }
    }
}

template <class Real>
void Operators::narrow(Derived derived, const std::complex<Real>* wide, Index levels,
                       const std::array<Degrees<Real>, 2>& spectral) const {
    const auto row = [&](Index j, Index variable) { return wide + levels * (2 * j + variable); };
    // The transpose of H.
    const auto add_north = [&](double by, Index variable, Index j, std::complex<Real>* to) {
        if (j > 0) add(by * above_[static_cast<std::size_t>(j - 1)], row(j - 1, variable), levels, to);
        add(by * below_[static_cast<std::size_t>(j + 1)], row(j + 1, variable), levels, to);
    };
    for (Index j = 0; j < degrees_; ++j) {
        std::complex<Real>* first = spectral[0].values + j * spectral[0].stride;
        std::fill_n(first, levels, std::complex<Real>());
        if (derived == Derived::gradient) {
            add_turned(-east_, row(j, 0), levels, first);
            add_north(1, 1, j, first);
            continue;
        }
        std::complex<Real>* second = spectral[1].values + j * spectral[1].stride;
        std::fill_n(second, levels, std::complex<Real>());
        const double by = derived == Derived::wind ? -inverse_[static_cast<std::size_t>(j)] : 1;
        add_turned(by * east_, row(j, 1), levels, first);
        add_north(by, 0, j, first);
        add_turned(by * east_, row(j, 0), levels, second);
        add_north(-by, 1, j, second);
    }
}

template void Operators::widen(Derived, const std::array<Degrees<float>, 2>&, Index, std::complex<float>*) const;
template void Operators::widen(Derived, const std::array<Degrees<double>, 2>&, Index, std::complex<double>*) const;
template void Operators::narrow(Derived, const std::complex<float>*, Index, const std::array<Degrees<float>, 2>&) const;
template void Operators::narrow(Derived, const std::complex<double>*, Index,
                                const std::array<Degrees<double>, 2>&) const;

}  // namespace tradewind::spectral
