// Which spherical harmonics a transform keeps, and which of its wavenumbers each row has.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "spectral/grid.hpp"

namespace tradewind::spectral {

// The triangular truncation of a Gaussian grid: degrees n up to `degree`, wavenumbers m up to n. Near the poles a row
// keeps only the wavenumbers that its points can hold, and that are not negligible there, as ecTrans has it. With L
// points at latitude phi, but never fewer than the row before it:
//
// - linear, and all full grids: (L - 1) / 2
// - quadratic: (L - 1) / (2 + cos^2 phi), from the degree at which products are not aliased down
// - cubic: (L - 1) / (2 + cos^2 phi) - 1
struct Truncation {
    // degree: -1 for that of the rule. rule: "linear", "quadratic", "cubic", or "" for what the degree asks for: cubic
    // for an octahedral grid, linear for another where the degree is not given either. Throws InputError where the grid
    // cannot hold the truncation.
    Truncation(std::shared_ptr<const GaussianGrid> grid, Index degree, const std::string& rule);

    std::string text() const;  // "T79 on O80"
    Index half() const { return grid->half(); }
    Index wavenumbers() const { return degree + 1; }
    // Degrees of a wavenumber, `more` of them beyond the truncation: winds and gradients have one.
    Index degrees(Index m, Index more = 0) const { return degree + 1 - m + more; }
    Index coefficients() const { return (degree + 1) * (degree + 2) / 2; }
    // The rows that keep m are row_begin(m)..row_end(m) - 1.
    Index row_begin(Index m) const { return begin[static_cast<std::size_t>(m)]; }
    Index row_end(Index m) const { return 2 * half() - row_begin(m); }

    std::shared_ptr<const GaussianGrid> grid;
    Index degree;
    std::string rule;
    std::vector<Index> kept;   // [row] the number of wavenumbers, those below it
    std::vector<Index> begin;  // [m]
};

}  // namespace tradewind::spectral
