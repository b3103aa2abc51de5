#include "spectral/transform.hpp"

#include <algorithm>

namespace tradewind::spectral {

namespace {

std::shared_ptr<const Truncation> shared_truncation(const std::shared_ptr<const Distribution>& distribution) {
    return {distribution, &distribution->truncation()};
}

template <class Real>
std::vector<const Real*> read_only(const std::vector<Real*>& lines) {
    return {lines.begin(), lines.end()};
}

// [field] first number of each, `points` apart.
template <class Real>
std::vector<Real*> lines_of(std::vector<Real>& array, Index fields, Index points) {
    std::vector<Real*> lines;
    for (Index field = 0; field < fields; ++field) lines.push_back(array.data() + field * points);
    return lines;
}

}  // namespace

template <class Real>
Transform<Real>::Transform(std::shared_ptr<const Distribution> distribution, Rank rank, int threads, double radius,
                           MakeExchange make)
    : distribution_(std::move(distribution)),
      truncation_(shared_truncation(distribution_)),
      rank_(rank),
      team_(threads),
      fourier_(truncation_, distribution_->rows_of(rank)),
      legendre_(truncation_, distribution_->wavenumbers_of(rank), radius),
      make_(std::move(make)) {}

// The factors of rows, between grid points and Fourier coefficients. To spectral space these get the weights of the
// quadrature; U = u cos(phi) and the like are divided by the cosine on both ways.
template <class Real>
RowFactors Transform<Real>::factors(const Operation& operation) const {
    const GaussianGrid& grid = *truncation_->grid;
    RowFactors out;
    const bool analyses = operation.to_grid == operation.adjoint;  // the direct transform, or its transpose
    for (Index row = 0; row < 2 * truncation_->half(); ++row) {
        const auto points = static_cast<double>(grid.rows()[static_cast<std::size_t>(row)]);
        const double quadrature = analyses ? grid.weight(row) / points : 1;
        out.of_row.push_back(operation.derived == Derived::none ? quadrature : quadrature / grid.cosine(row));
    }
    if (operation.adjoint) out.twice = operation.to_grid ? operation.weight / 2 : 2 / operation.weight;
    return out;
}

template <class Real>
std::vector<Real*> Transform<Real>::caller_lines(Fields fields, const GridFields<Real>& grid) const {
    std::vector<Real*> lines;
    for (Index v = 0; v < distribution_->level_sets(); ++v)
        for (std::size_t variable = 0; static_cast<Index>(variable) < fields.variables; ++variable)
            for (Index level = distribution_->first_level(v, fields.levels);
                 level < distribution_->first_level(v + 1, fields.levels); ++level)
                lines.push_back(grid.values[variable] + level * grid.stride[variable]);
    return lines;
}

template <class Real>
typename Transform<Real>::Workspace& Transform<Real>::workspace(Fields fields) {
    const auto found = workspaces_.find(fields);
    if (found != workspaces_.end()) return found->second;
    const Index own = distribution_->levels_of(rank_, fields.levels).length() * fields.variables;
    Workspace made;
    made.points.resize(static_cast<std::size_t>(distribution_->points_of(rank_).length() * fields.count()));
    made.rows.resize(static_cast<std::size_t>(fourier_.points() * own));
    made.fourier.resize(static_cast<std::size_t>(fourier_.coefficients() * own));
    made.wavenumbers.resize(static_cast<std::size_t>(legendre_.fourier_coefficients() * own));
    const Distribution& d = *distribution_;
    made.to_rows = make_(d.to_rows(fields, false), false, made.points.data(), made.rows.data());
    made.to_points = make_(d.to_rows(fields, true), false, made.rows.data(), made.points.data());
    made.to_wavenumbers = make_(d.to_wavenumbers(fields, false), true, made.fourier.data(), made.wavenumbers.data());
    made.to_fourier = make_(d.to_wavenumbers(fields, true), true, made.wavenumbers.data(), made.fourier.data());
    return workspaces_.emplace(fields, std::move(made)).first->second;
}

// One rank has all rows and all wavenumbers: the Fourier coefficients of both stages lie in one order.
template <class Real>
void Transform<Real>::run_alone(const Operation& operation, const SpectralFields<Real>& spectral,
                                const GridFields<Real>& grid) {
    const Fields fields{spectral.levels, grid_variables(operation.derived)};
    const std::vector<Real*> lines = caller_lines(fields, grid);
    between_.resize(static_cast<std::size_t>(fourier_.coefficients() * fields.count()));
    if (operation.to_grid) {
        legendre_.to_fourier(operation.derived, spectral, between_.data(), team_);
        fourier_.to_points(between_.data(), lines, factors(operation), team_);
    } else {
        fourier_.to_fourier(read_only(lines), between_.data(), factors(operation), team_);
        legendre_.to_spectral(operation.derived, between_.data(), spectral, team_);
    }
}

template <class Real>
void Transform<Real>::run(const Operation& operation, Index levels, const SpectralFields<Real>& spectral,
                          const GridFields<Real>& grid) {
    if (distribution_->ranks() == 1) return run_alone(operation, spectral, grid);
    const Fields fields{levels, grid_variables(operation.derived)};
    Workspace& own = workspace(fields);
    const Index points = distribution_->points_of(rank_).length();
    const std::vector<Real*> callers = caller_lines(fields, grid), kept = lines_of(own.points, fields.count(), points);
    const std::vector<Real*> rows = lines_of(own.rows, spectral.levels * fields.variables, fourier_.points());
    if (operation.to_grid) {
        legendre_.to_fourier(operation.derived, spectral, own.wavenumbers.data(), team_);
        own.to_fourier();
        fourier_.to_points(own.fourier.data(), rows, factors(operation), team_);
        own.to_points();
        for (std::size_t field = 0; field < kept.size(); ++field) std::copy_n(kept[field], points, callers[field]);
    } else {
        for (std::size_t field = 0; field < kept.size(); ++field) std::copy_n(callers[field], points, kept[field]);
        own.to_rows();
        fourier_.to_fourier(read_only(rows), own.fourier.data(), factors(operation), team_);
        own.to_wavenumbers();
        legendre_.to_spectral(operation.derived, own.wavenumbers.data(), spectral, team_);
    }
}

template class Transform<float>;
template class Transform<double>;

}  // namespace tradewind::spectral
