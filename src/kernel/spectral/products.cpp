#include "kernel/spectral/products.hpp"

#include <algorithm>

#include "kernel/lanes.hpp"
#include "kernel/width.hpp"

namespace tradewind::kernel {

namespace {

// Blocks of k and of rows: what is read of `a` stays in the second cache while all columns of fields pass, what is read
// of `b` in the first.
constexpr Index some_k = 192, some_rows = 96;

// Rows x vectors of sums that the registers of a processor hold.
template <int bytes>
constexpr int tile_rows = bytes == 64 ? 8 : 6;
template <int bytes>
constexpr int tile_vectors = bytes == 64 ? 3 : 2;

// Adds the products of k = begin..end - 1 to a tile of sums, which begin with 0 where k does.
template <class V, int rows, int vectors, class Real>
[[gnu::always_inline]] inline void add_tile(const Product<Real>& p, Index i, Index w, Index begin, Index end) {
    constexpr Index lanes = sizeof(V) / sizeof(Real);
    V sum[rows][vectors];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) sum[r][v] = begin ? load<V>(p.c + (i + r) * p.c_row + w + v * lanes) : V{};
    const Real* a = p.a + i * p.a_row + begin * p.a_column;
    const Real* b = p.b + begin * p.b_row + w;
    for (Index k = begin; k < end; ++k, a += p.a_column, b += p.b_row) {
        V right[vectors];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) load(right[v], b + v * lanes);
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) {
            const V left = V{} + a[r * p.a_row];
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) sum[r][v] = fused<V, Real>(left, right[v], sum[r][v]);
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) store(p.c + (i + r) * p.c_row + w + v * lanes, sum[r][v]);
}

template <class V, int rows, int vectors, class Real>
[[gnu::always_inline]] inline void add_rows(const Product<Real>& p, Index first, Index last, Index w, Index begin,
                                            Index end) {
    Index i = first;
    for (; i + rows <= last; i += rows) add_tile<V, rows, vectors, Real>(p, i, w, begin, end);
    for (; i + 2 <= last; i += 2) add_tile<V, 2, vectors, Real>(p, i, w, begin, end);
    if (i < last) add_tile<V, 1, vectors, Real>(p, i, w, begin, end);
}

template <int bytes, class Real>
[[gnu::always_inline]] inline void add_block(const Product<Real>& p, Index first, Index last, Index begin, Index end) {
    using V = Lanes<Real, bytes>;
    constexpr int rows = tile_rows<bytes>, vectors = tile_vectors<bytes>;
    constexpr Index lanes = bytes / static_cast<int>(sizeof(Real));
    Index w = 0;
    for (; w + vectors * lanes <= p.width; w += vectors * lanes)
        add_rows<V, rows, vectors, Real>(p, first, last, w, begin, end);
    for (; w + lanes <= p.width; w += lanes) add_rows<V, rows, 1, Real>(p, first, last, w, begin, end);
    if constexpr (bytes > 16 && narrower(bytes) < bytes) {
        constexpr int less = narrower(bytes);
        using Half = Lanes<Real, less>;
        constexpr Index few = less / static_cast<int>(sizeof(Real));
        for (; w + few <= p.width; w += few) add_rows<Half, rows, 1, Real>(p, first, last, w, begin, end);
    }
    for (; w < p.width; ++w) add_rows<Real, rows, 1, Real>(p, first, last, w, begin, end);
}

template <int bytes, class Real>
[[gnu::always_inline]] inline void multiply_all_by(const Product<Real>& p) {
    for (Index begin = 0; begin < p.columns; begin += some_k) {
        const Index end = std::min(begin + some_k, p.columns);
        for (Index first = 0; first < p.rows; first += some_rows)
            add_block<bytes, Real>(p, first, std::min(first + some_rows, p.rows), begin, end);
    }
}

TRADEWIND_BY_WIDTH(void, multiply_all, (const Product<float>& p), (p))
TRADEWIND_BY_WIDTH(void, multiply_all, (const Product<double>& p), (p))

template <class Real>
void multiply_any(const Product<Real>& p) {
    if (p.columns > 0) {
        multiply_all(p);
        return;
    }
    for (Index i = 0; i < p.rows; ++i) std::fill_n(p.c + i * p.c_row, p.width, Real{});
}

}  // namespace

void multiply(const Product<float>& product) {
    multiply_any(product);
}

void multiply(const Product<double>& product) {
    multiply_any(product);
}

}  // namespace tradewind::kernel
