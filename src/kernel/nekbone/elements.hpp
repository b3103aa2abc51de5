#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "kernel/team.hpp"

namespace tradewind::kernel {

// A rank's hexahedral spectral elements: n Gauss-Lobatto-Legendre points in each direction of each of them, and eight
// vertices between which the coordinates are trilinear. Fields are [element][k][j][i], i fastest.
class Elements {
  public:
    static constexpr int minimum_points = 2, maximum_points = 32;
    static constexpr int corners = 8, directions = 3;

    // nodes, weights: [n]; derivative: [n][n], that of the polynomial with values at m at point i; vertices:
    // [element][8][3], of which bit 0 of the vertex is the side along x, bit 1 along y, bit 2 along z; open: [element],
    // bit 2 d + s set where another element lies beyond the side s along d. The other sides lie on the boundary, where
    // the solution is 0. Throws InputError for sizes that do not match, and for an element that is inside out.
    Elements(std::span<const double> nodes, std::span<const double> weights, std::span<const double> derivative,
             std::span<const double> vertices, std::span<const std::uint8_t> open);

    int points() const { return static_cast<int>(nodes_.size()); }
    Index volume() const { return static_cast<Index>(points()) * points() * points(); }  // points of an element
    Index count() const { return static_cast<Index>(open_.size()); }
    const double* nodes() const { return nodes_.data(); }
    const double* weights() const { return weights_.data(); }
    const double* derivative() const { return derivative_.data(); }
    const double* transposed() const { return transposed_.data(); }  // of the derivative: [m][i]
    // Coefficients [8][3] of the coordinates: of 1, r, s, rs, t, rt, st, rst.
    const double* coefficients(Index element) const { return coefficients_.data() + element * corners * directions; }
    std::uint8_t open(Index element) const { return open_[static_cast<std::size_t>(element)]; }

    // The shares of a point among the elements that have it: row[i] * plane[k * n + j].
    void shares(Index element, double* row, double* plane) const;

  private:
    void check_volumes() const;

    std::vector<double> nodes_, weights_, derivative_, transposed_, coefficients_;
    std::vector<std::uint8_t> open_;
};

// The part of an operator that an element computes alone: -div grad u + shift u, multiplied by test functions and
// integrated at the points. With mass, [element][point], its second part is diagonal in each element. Without, it is
// shift times the values themselves, is not multiplied by anything, and is added where values have been summed over
// elements: see `update`. factors: [element][6][point], see `geometric_factors`; none: computed anew each time, which
// takes flops in place of memory. closes_first_only: values on the boundary are set to 0 in the first element alone, as
// Nekbone does after its first call.
struct Operator {
    const Elements* elements = nullptr;
    double shift = 0;
    const double* factors = nullptr;
    const double* mass = nullptr;
    bool closes_first_only = false;
};

// Some elements by number.
using Which = std::span<const std::int32_t>;

// The symmetric matrix w J^-1 J^-T |J| of each point, rows of its upper triangle: [element][6][point].
void geometric_factors(const Elements& elements, double* factors, Team& team);
// w |J| of each point: [element][point]. The diagonal mass matrix.
void element_mass(const Elements& elements, double* mass, Team& team);

// out = A u in each of some elements, not summed over elements.
void apply(const Operator& by, Which which, const double* u, double* out, Team& team);
// p = r + beta p, out = A p as above, and for each element sums[element] = p A p, of which the total over all elements
// is that of the operator.
void apply_to_direction(const Operator& by, Which which, double beta, const double* r, double* p, double* out,
                        double* sums, Team& team);

}  // namespace tradewind::kernel
