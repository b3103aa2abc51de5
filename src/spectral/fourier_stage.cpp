#include "spectral/fourier_stage.hpp"

#include <algorithm>

namespace tradewind::spectral {

template <class Real>
FourierStage<Real>::FourierStage(std::shared_ptr<const Truncation> truncation, layout::Run rows)
    : truncation_(std::move(truncation)), rows_(rows) {
    const Truncation& t = *truncation_;
    const auto& first = t.grid->first();
    points_ = first[static_cast<std::size_t>(rows.end)] - first[static_cast<std::size_t>(rows.begin)];
    for (Index m = 0; m < t.wavenumbers(); ++m) {
        const Index begin = std::clamp(t.row_begin(m), rows.begin, rows.end);
        const Index end = std::clamp(t.row_end(m), rows.begin, rows.end);
        places_.push_back(coefficients_ - begin);
        coefficients_ += end - begin;
    }
    for (Index row = rows.begin; row < rows.end; ++row) {
        const Index points = t.grid->rows()[static_cast<std::size_t>(row)];
        scratch_ = std::max(scratch_, transforms_.try_emplace(points, points).first->second.scratch());
    }
}

template <class Real>
std::size_t FourierStage<Real>::first_of(Index row) const {
    const auto& first = truncation_->grid->first();
    return static_cast<std::size_t>(first[static_cast<std::size_t>(row)] -
                                    first[static_cast<std::size_t>(rows_.begin)]);
}

// Work on each row with the lines of all fields there, and memory of the thread.
template <class Real>
template <class Pointer, class Work>
void FourierStage<Real>::each_row(const std::vector<Pointer>& lines, kernel::Team& team, Work work) const {
    const auto threads = static_cast<std::size_t>(team.threads());
    std::vector<Real> scratch(threads * static_cast<std::size_t>(scratch_));  // threads must not throw
    std::vector<std::vector<Pointer>> lines_of(threads, lines);
    team.run([&](int thread) {
        auto& own = lines_of[static_cast<std::size_t>(thread)];
        for (Index row = rows_.begin + thread; row < rows_.end; row += team.threads()) {
            for (std::size_t field = 0; field < own.size(); ++field) own[field] = lines[field] + first_of(row);
            work(row, transforms_.at(truncation_->grid->rows()[static_cast<std::size_t>(row)]), own,
                 scratch.data() + thread * scratch_);
        }
    });
}

template <class Real>
kernel::RowCoefficients<Real> FourierStage<Real>::coefficients_of(Index row, std::complex<Real>* fourier,
                                                                  std::size_t fields, const RowFactors& factors) const {
    const auto count = static_cast<Index>(fields);
    const double factor = factors.of_row[static_cast<std::size_t>(row)];
    return {fourier + row * count,
            places_.data(),
            count,
            truncation_->kept[static_cast<std::size_t>(row)],
            static_cast<Real>(factor),
            static_cast<Real>(factors.twice * factor)};
}

template <class Real>
void FourierStage<Real>::to_fourier(const std::vector<const Real*>& lines, std::complex<Real>* out,
                                    const RowFactors& factors, kernel::Team& team) const {
    each_row(lines, team, [&](Index row, const auto& transform, const auto& own, Real* scratch) {
        transform.to_fourier(own.data(), coefficients_of(row, out, own.size(), factors), scratch);
    });
}

template <class Real>
void FourierStage<Real>::to_points(const std::complex<Real>* fourier, const std::vector<Real*>& lines,
                                   const RowFactors& factors, kernel::Team& team) const {
    auto* values = const_cast<std::complex<Real>*>(fourier);  // which are read alone
    each_row(lines, team, [&](Index row, const auto& transform, const auto& own, Real* scratch) {
        transform.to_points(coefficients_of(row, values, own.size(), factors), own.data(), scratch);
    });
}

template class FourierStage<float>;
template class FourierStage<double>;

}  // namespace tradewind::spectral
