#pragma once

#include "kernel/nekbone/elements.hpp"

namespace tradewind::kernel {

// Local parts of preconditioners of conjugate gradients.

// z = scale from, and sums[element] = r z, which counts each point once: the Jacobi preconditioner with the inverse
// diagonal as scale and r as from; the end of the Schwarz one with its weights and z.
template <class Real>
void scale(const Elements& elements, const Real* factors, const Real* from, const Real* r, Real* z, double* sums,
           Team& team);

// Overlapping additive Schwarz by fast diagonalisation (Fischer, Miller & Tufo 2000; Lottes & Fischer 2005,
// doi:10.1007/s10915-004-4787-3), as of Nek5000: a subdomain is an element and the first layer of inner points of each
// element beyond its sides, m = n + 2 points in each direction. Its operator is taken as that of a brick, whose inverse
// is a product of small matrices. Layers travel as faces [element][6][n][n]: side 2 d + s along d, the points of the
// other two directions, the lower one fastest. Only what lies beyond open sides counts.
template <class Real>
struct Subdomains {
    const Elements* elements = nullptr;
    // [element][3]: the kind of the one-dimensional problem along x, y, z.
    const std::int32_t* kinds = nullptr;
    // Eigenvectors [kind][point][mode] with S^T B S = 1, their transpose, and the eigenvalues [kind][mode] of A S =
    // B S lambda: stiffness and diagonal mass on m points.
    const Real *vectors = nullptr, *transposed = nullptr, *values = nullptr;
    double shift = 0;               // of all eigenvalues: the factor of the mass
    const Real* weights = nullptr;  // [element][point], of r before and of z after
};

// faces = the layer of weighted r inside each open side, 0 at others.
template <class Real>
void take_layers(const Subdomains<Real>& by, const Real* r, Real* faces, Team& team);

// Solve in all subdomains for weighted r. `faces` has the sum of both elements' layers, and gets that of the solution
// beyond the element; these own ones are subtracted from z where `add_layers` will add the sum of both.
template <class Real>
void solve_subdomains(const Subdomains<Real>& by, const Real* r, Real* faces, Real* z, Team& team);

// Add to z the layers inside each open side.
template <class Real>
void add_layers(const Elements& elements, const Real* faces, Real* z, Team& team);

}  // namespace tradewind::kernel
