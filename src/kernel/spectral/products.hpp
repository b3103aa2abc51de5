// The matrix products of the Legendre stage: tables of functions times columns of fields.
#pragma once

#include "base/units.hpp"

namespace tradewind::kernel {

// c[i][w] = sum over k of a(i, k) b[k][w]: a(i, k) is a[i * a_row + k * a_column], rows of b and c are `b_row` and
// `c_row` numbers apart, w = 0..width - 1 one after another. Sums go by k, each product and addition rounded once
// together, so that no value depends on the blocks, the vectors of the processor or the other columns.
template <class Real>
struct Product {
    Index rows, columns, width;
    const Real* a;
    Index a_row, a_column;
    const Real* b;
    Index b_row;
    Real* c;
    Index c_row;
};

void multiply(const Product<float>& product);
void multiply(const Product<double>& product);

}  // namespace tradewind::kernel
