// Parts of the loops over spectral elements. All of them are inlined, so that it is compiled for the processor of
// the function that it stands in, with vectors of B bytes; N is the number of points in a direction, 0 where it is
// known only at run time. All do the same operations in the same order.
#pragma once

#include "kernel/lanes.hpp"
#include "kernel/nekbone/elements.hpp"

namespace tradewind::kernel {

template <class Real, int W>
using Vector = Lanes<Real, static_cast<int>(sizeof(Real)) * W>;

// Values of the next narrower vectors than those of W.
template <class Real>
constexpr int fewer(int W) {
    constexpr int bytes = sizeof(Real);
    return W > 1 ? narrower(bytes * W) / bytes : 1;
}

// Values of the widest vectors of at most B bytes that hold no more than `count` values; 1 where there are none.
template <class Real, int B>
constexpr int fitting(int count) {
    int W = B / static_cast<int>(sizeof(Real));
    while (W > count && W > 1) W = fewer<Real>(W);
    return W;
}

// f<W>(first) for runs of W, then of fewer values, ... 1 of C.
template <class Real, int W, int C, int First = 0, class F>
[[gnu::always_inline]] inline void in_vectors(const F& f) {
    constexpr int last = First + (C - First) / W * W;
    for (int first = First; first < last; first += W) f.template operator()<W>(first);
    if constexpr (W > 1) in_vectors<Real, fewer<Real>(W), C, last>(f);
}

// f<W>(first) for all of n values: vectors where their number is known.
template <class Real, int B, int N, class F>
[[gnu::always_inline]] inline void along(int n, const F& f) {
    if constexpr (N > 0)
        in_vectors<Real, B / sizeof(Real), N>(f);
    else
        for (int i = 0; i < n; ++i) f.template operator()<1>(i);
}

// out[a][c] = sum over m of by[m][a] in[m][c]; add: to what stands there. C values in a row, 0: `columns`.
template <int B, int N, int C, bool Add, class Real>
[[gnu::always_inline]] inline void combine_rows(const Real* by, const Real* __restrict in, Real* __restrict out, int n,
                                                int columns) {
    if constexpr (N > 0) {
        in_vectors<Real, B / sizeof(Real), C>([&]<int W>(int c) __attribute__((always_inline)) {
            using V = Vector<Real, W>;
            V sum[N];
#pragma GCC unroll 16
            for (int a = 0; a < N; ++a) sum[a] = Add ? load<V>(out + a * C + c) : V{};
#pragma GCC unroll 1
            for (int m = 0; m < N; ++m) {
                const V value = load<V>(in + m * C + c);
#pragma GCC unroll 16
                for (int a = 0; a < N; ++a) sum[a] += by[m * N + a] * value;
            }
#pragma GCC unroll 16
            for (int a = 0; a < N; ++a) store(out + a * C + c, sum[a]);
        });
    } else {
        for (int a = 0; a < n; ++a) {
            Real* to = out + a * columns;
            if (!Add)
                for (int c = 0; c < columns; ++c) to[c] = 0;
            for (int m = 0; m < n; ++m)
                for (int c = 0; c < columns; ++c) to[c] += by[m * n + a] * in[m * columns + c];
        }
    }
}

// out[row][a] = sum over m of in[row][m] by[m][a]. Some rows together, all of them in registers.
template <int B, int N, class Real>
[[gnu::always_inline]] inline void combine_columns(const Real* by, const Real* __restrict in, Real* __restrict out,
                                                   int n) {
    const int rows = n * n;
    if constexpr (N > 0) {
        constexpr int R = N % 2 == 0 ? 4 : 3, W = fitting<Real, B>(N), vectors = N / W;
        constexpr int half = fitting<Real, W* static_cast<int>(sizeof(Real))>(N - vectors * W);
        constexpr int halves = (N - vectors * W) / half, singles = N - vectors * W - halves * half;
        constexpr int at_halves = vectors * W, at_singles = at_halves + halves * half;
        using V = Vector<Real, W>;
        using Half = Vector<Real, half>;
        static_assert(N * N % R == 0);
#pragma GCC unroll 1
        for (int row = 0; row < rows; row += R) {
            // Else parts of the matrix are loaded before the loop, more than registers hold, and put on the stack.
            const Real* from = by;
            asm("" : "+r"(from));
            V sum[R][vectors] = {};
            Half sum_half[R][halves > 0 ? halves : 1] = {};
            Real sum_single[R][singles > 0 ? singles : 1] = {};
#pragma GCC unroll 2  // in one go, g++ for ARM would load so much ahead that it comes to lie on the stack
            for (int m = 0; m < N; ++m) {
                Real value[R];
#pragma GCC unroll 4
                for (int r = 0; r < R; ++r) value[r] = in[(row + r) * N + m];
#pragma GCC unroll 8
                for (int v = 0; v < vectors; ++v)
#pragma GCC unroll 4
                    for (int r = 0; r < R; ++r) sum[r][v] += value[r] * load<V>(from + m * N + v * W);
#pragma GCC unroll 4
                for (int v = 0; v < halves; ++v)
#pragma GCC unroll 4
                    for (int r = 0; r < R; ++r)
                        sum_half[r][v] += value[r] * load<Half>(from + m * N + at_halves + v * half);
#pragma GCC unroll 4
                for (int v = 0; v < singles; ++v)
#pragma GCC unroll 4
                    for (int r = 0; r < R; ++r) sum_single[r][v] += value[r] * from[m * N + at_singles + v];
            }
#pragma GCC unroll 4
            for (int r = 0; r < R; ++r) {
                Real* const to = out + (row + r) * N;
#pragma GCC unroll 8
                for (int v = 0; v < vectors; ++v) store(to + v * W, sum[r][v]);
#pragma GCC unroll 4
                for (int v = 0; v < halves; ++v) store(to + at_halves + v * half, sum_half[r][v]);
#pragma GCC unroll 4
                for (int v = 0; v < singles; ++v) to[at_singles + v] = sum_single[r][v];
            }
        }
    } else {
        for (int row = 0; row < rows; ++row) {
            Real* to = out + row * n;
            for (int a = 0; a < n; ++a) to[a] = 0;
            for (int m = 0; m < n; ++m)
                for (int a = 0; a < n; ++a) to[a] += in[row * n + m] * by[m * n + a];
        }
    }
}

// Derivatives along i, j and k of the values of an element.
template <int B, int N, class Real>
[[gnu::always_inline]] inline void differentiate(const Elements& elements, const Real* u, Real* along_i, Real* along_j,
                                                 Real* along_k) {
    const int n = N > 0 ? N : elements.points(), plane = n * n;
    const Real* by = elements.transposed<Real>();
    combine_columns<B, N>(by, u, along_i, n);
    for (int k = 0; k < n; ++k) combine_rows<B, N, N, false>(by, u + k * plane, along_j + k * plane, n, n);
    combine_rows<B, N, N * N, false>(by, u, along_k, n, plane);
}

// The transpose of `differentiate`, summed over the three.
template <int B, int N, class Real>
[[gnu::always_inline]] inline void integrate(const Elements& elements, const Real* along_i, const Real* along_j,
                                             const Real* along_k, Real* out) {
    const int n = N > 0 ? N : elements.points(), plane = n * n;
    const Real* by = elements.derivative<Real>();
    combine_columns<B, N>(by, along_i, out, n);
    for (int k = 0; k < n; ++k) combine_rows<B, N, N, true>(by, along_j + k * plane, out + k * plane, n, n);
    combine_rows<B, N, N * N, true>(by, along_k, out, n, plane);
}

// The derivatives of the three coordinates at a run of points, and what follows from them: the rows of the matrix of
// cofactors, c[a] = |J| grad of the a-th reference coordinate, and the determinant |J|.
template <class Real, int W>
struct Metric {
    Vector<Real, W> c[3][3], determinant;
};

// f<W>(place, weight, metric) for runs of points of an element: a place in [k][j][i], a quadrature weight.
template <class Real, int B, int N, class F>
[[gnu::always_inline]] inline void with_metric(const Elements& elements, Index element, const F& f) {
    const int n = N > 0 ? N : elements.points();
    constexpr int room = N > 0 ? N : Elements::maximum_points;
    const Real *z = elements.nodes<Real>(), *weights = elements.weights<Real>();
    // Coefficients of 1, r, s, rs, t, rt, st, rst; a derivative along one of them is linear in the other two.
    const auto* x = reinterpret_cast<const Real(*)[3]>(elements.coefficients<Real>(element));
    Real along_s[3][room], along_t[3][room * room];
    for (int d = 0; d < 3; ++d)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i)
                along_t[d][j * n + i] = (x[4][d] + z[j] * x[6][d]) + z[i] * (x[5][d] + z[j] * x[7][d]);
    for (int k = 0; k < n; ++k) {
        for (int d = 0; d < 3; ++d)
            for (int i = 0; i < n; ++i) along_s[d][i] = (x[2][d] + z[k] * x[6][d]) + z[i] * (x[3][d] + z[k] * x[7][d]);
        for (int j = 0; j < n; ++j) {
            Real r[3];
            for (int d = 0; d < 3; ++d) r[d] = (x[1][d] + z[k] * x[5][d]) + z[j] * (x[3][d] + z[k] * x[7][d]);
            const Real weight = weights[j] * weights[k];
            along<Real, B, N>(n, [&]<int W>(int i) __attribute__((always_inline)) {
                using V = Vector<Real, W>;
                const V s0 = load<V>(along_s[0] + i), s1 = load<V>(along_s[1] + i), s2 = load<V>(along_s[2] + i);
                const int row = j * n + i;
                const V t0 = load<V>(along_t[0] + row), t1 = load<V>(along_t[1] + row), t2 = load<V>(along_t[2] + row);
                Metric<Real, W> metric;
                metric.c[0][0] = s1 * t2 - s2 * t1;
                metric.c[0][1] = s2 * t0 - s0 * t2;
                metric.c[0][2] = s0 * t1 - s1 * t0;
                metric.c[1][0] = t1 * r[2] - t2 * r[1];
                metric.c[1][1] = t2 * r[0] - t0 * r[2];
                metric.c[1][2] = t0 * r[1] - t1 * r[0];
                metric.c[2][0] = r[1] * s2 - r[2] * s1;
                metric.c[2][1] = r[2] * s0 - r[0] * s2;
                metric.c[2][2] = r[0] * s1 - r[1] * s0;
                metric.determinant = (r[0] * metric.c[0][0] + r[1] * metric.c[0][1]) + r[2] * metric.c[0][2];
                f.template operator()<W>(k * n * n + row, weight * load<V>(weights + i), metric);
            });
        }
    }
}

// The sum of a row of partial sums, as double.
template <class Real>
[[gnu::always_inline]] inline double total(const Real* lanes, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += lanes[i];
    return sum;
}

// f<N>() with the number of points that is compiled, or 0. In vectors of two values and 16 registers it is always 0:
// loops of a known length gain nothing there.
template <int B, class F>
[[gnu::always_inline]] inline void with_points(int n, const F& f) {
#ifdef __x86_64__
    constexpr bool pays = B > 16;
#else
    constexpr bool pays = true;
#endif
    if constexpr (pays) {
        switch (n) {
            case 4: return f.template operator()<4>();
            case 6: return f.template operator()<6>();
            case 8: return f.template operator()<8>();
            case 9: return f.template operator()<9>();
            case 10: return f.template operator()<10>();
            case 12: return f.template operator()<12>();
        }
    }
    f.template operator()<0>();
}

// Each thread's share of some numbers, in order.
template <class F>
void split_work(Team& team, Index count, const F& f) {
    team.run([&](int thread) { f(thread, count * thread / team.threads(), count * (thread + 1) / team.threads()); });
}

}  // namespace tradewind::kernel
