#pragma once

#include <cstdint>
#include <span>
#include <tuple>
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

    int points() const { return points_; }
    Index volume() const { return static_cast<Index>(points()) * points() * points(); }  // points of an element
    Index count() const { return static_cast<Index>(open_.size()); }
    // Tables in the precision of a loop, float or double.
    template <class Real>
    const Real* nodes() const {
        return table<Real>().nodes.data();
    }
    template <class Real>
    const Real* weights() const {
        return table<Real>().weights.data();
    }
    template <class Real>
    const Real* derivative() const {
        return table<Real>().derivative.data();
    }
    template <class Real>
    const Real* transposed() const {  // of the derivative: [m][i]
        return table<Real>().transposed.data();
    }
    // Coefficients [8][3] of the coordinates: of 1, r, s, rs, t, rt, st, rst.
    template <class Real>
    const Real* coefficients(Index element) const {
        return table<Real>().coefficients.data() + element * corners * directions;
    }
    std::uint8_t open(Index element) const { return open_[static_cast<std::size_t>(element)]; }

    // The shares of a point among the elements that have it: row[i] * plane[k * n + j].
    template <class Real>
    void shares(Index element, Real* row, Real* plane) const;

  private:
    template <class Real>
    struct Table {
        std::vector<Real> nodes, weights, derivative, transposed, coefficients;
    };

    template <class Real>
    const Table<Real>& table() const {
        return std::get<Table<Real>>(tables_);
    }
    void check_volumes() const;

    int points_;
    std::tuple<Table<double>, Table<float>> tables_;
    std::vector<std::uint8_t> open_;
};

// The part of an operator that an element computes alone: -div grad u + shift u, multiplied by test functions and
// integrated at the points. With mass, [element][point], its second part is diagonal in each element. Without, it is
// shift times the values themselves, is not multiplied by anything, and is added where values have been summed over
// elements: see `update`. factors: [element][6][point], see `geometric_factors`; none: computed anew each time, which
// takes flops in place of memory. closes_first_only: values on the boundary are set to 0 in the first element alone, as
// Nekbone does after its first call.
template <class Real>
struct Operator {
    const Elements* elements = nullptr;
    double shift = 0;
    const Real* factors = nullptr;
    const Real* mass = nullptr;
    bool closes_first_only = false;
};

// Some elements by number.
using Which = std::span<const std::int32_t>;

// Loops are compiled for float and double. Sums over the points of an element are in the precision of the loop; they
// are kept as double, in which all elements are summed.

// The symmetric matrix w J^-1 J^-T |J| of each point, rows of its upper triangle: [element][6][point].
template <class Real>
void geometric_factors(const Elements& elements, Real* factors, Team& team);
// w |J| of each point: [element][point]. The diagonal mass matrix.
template <class Real>
void element_mass(const Elements& elements, Real* mass, Team& team);

// out = A u in each of some elements, not summed over elements.
template <class Real>
void apply(const Operator<Real>& by, Which which, const Real* u, Real* out, Team& team);
// p = r + beta p, out = A p as above, and for each element sums[element] = p A p, of which the total over all elements
// is that of the operator.
template <class Real>
void apply_to_direction(const Operator<Real>& by, Which which, double beta, const Real* r, Real* p, Real* out,
                        double* sums, Team& team);

}  // namespace tradewind::kernel
