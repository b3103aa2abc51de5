#pragma once

#include "kernel/nekbone/elements.hpp"

namespace tradewind::kernel {

// The loops of conjugate gradients over spectral elements, each in one pass over memory. Sums are those of each
// element, [element], and count each point once: a point that several elements have counts in each by its share. `out`
// is A p summed over elements, but for the part of an operator without mass: shift p, which is added here. On the
// boundary, the sides of elements that are not open, A p is set to 0.

// x += alpha p, r -= alpha A p; sums: r r.
template <class Real>
void update(const Operator<Real>& by, double alpha, const Real* p, Real* out, Real* x, Real* r, double* sums,
            Team& team);

// As above, without the rest: out = A p, complete.
template <class Real>
void complete(const Operator<Real>& by, const Real* p, Real* out, Team& team);

// The vectors of pipelined conjugate gradients (Ghysels & Vanroose 2014, doi:10.1016/j.parco.2013.06.001, algorithm 3):
// w is A r; s, z are A p and A s.
template <class Real>
struct Pipelined {
    Real *x, *r, *w, *p, *s, *z;
};

// With q = A w: z = q + beta z, s = w + beta s, p = r + beta p, x += alpha p, r -= alpha s, w -= alpha z; sums:
// [2][element], of r r and w r.
template <class Real>
void update_pipelined(const Operator<Real>& by, double alpha, double beta, Real* q, const Pipelined<Real>& vectors,
                      double* sums, Team& team);

// sums[element] = a b.
template <class Real>
void dot(const Elements& elements, const Real* a, const Real* b, double* sums, Team& team);

// Set the values on the boundary to 0.
template <class Real>
void set_boundary(const Elements& elements, Real* u, Team& team);

}  // namespace tradewind::kernel
