/* The loops of a CG iteration in the manner of Nekbone, one after another over whole vectors, with stored geometric
   factors; written anew, for N points in each direction. Compiled by benchmarks/nekbone.py. */
#include <stdint.h>

#ifndef N
#define N 10
#endif
enum { PLANE = N * N, VOLUME = N * N * N };

/* c = a b with a of `rows` rows, all stored by columns: the sum over N is written out by the compiler. */
static inline void product(const double* restrict a, int rows, const double* restrict b, double* restrict c,
                           int columns) {
    for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i) {
            double sum = 0;
#pragma GCC unroll 16
            for (int k = 0; k < N; ++k) sum += a[k * rows + i] * b[j * N + k];
            c[j * rows + i] = sum;
        }
}

/* d: by rows the derivative matrix, so by columns its transpose; dt: the other way round. */
void operator_of_elements(double* w, const double* u, const double* g, const double* d, const double* dt,
                          int64_t elements) {
    double ur[VOLUME], us[VOLUME], ut[VOLUME], more[VOLUME];
    for (int64_t e = 0; e < elements; ++e) {
        const double *ue = u + e * VOLUME, *ge = g + e * 6 * VOLUME;
        double* we = w + e * VOLUME;
        product(dt, N, ue, ur, PLANE);
        for (int k = 0; k < N; ++k) product(ue + k * PLANE, N, d, us + k * PLANE, N);
        product(ue, PLANE, d, ut, N);
        for (int i = 0; i < VOLUME; ++i) {
            const double wr = ge[i] * ur[i] + ge[VOLUME + i] * us[i] + ge[2 * VOLUME + i] * ut[i];
            const double ws = ge[VOLUME + i] * ur[i] + ge[3 * VOLUME + i] * us[i] + ge[4 * VOLUME + i] * ut[i];
            const double wt = ge[2 * VOLUME + i] * ur[i] + ge[4 * VOLUME + i] * us[i] + ge[5 * VOLUME + i] * ut[i];
            ur[i] = wr;
            us[i] = ws;
            ut[i] = wt;
        }
        product(d, N, ur, we, PLANE);
        for (int k = 0; k < N; ++k) product(us + k * PLANE, N, dt, more + k * PLANE, N);
        for (int i = 0; i < VOLUME; ++i) we[i] += more[i];
        product(ut, PLANE, dt, more, N);
        for (int i = 0; i < VOLUME; ++i) we[i] += more[i];
    }
}

void sum_copies(double* u, const int64_t* offsets, const int32_t* places, int64_t groups) {
    for (int64_t group = 0; group < groups; ++group) {
        double sum = 0;
        for (int64_t at = offsets[group]; at < offsets[group + 1]; ++at) sum += u[places[at]];
        for (int64_t at = offsets[group]; at < offsets[group + 1]; ++at) u[places[at]] = sum;
    }
}

void gather_copies(const double* u, double* buffer, const int64_t* offsets, const int32_t* places, int64_t groups) {
    for (int64_t group = 0; group < groups; ++group) {
        double sum = 0;
        for (int64_t at = offsets[group]; at < offsets[group + 1]; ++at) sum += u[places[at]];
        buffer[group] = sum;
    }
}

void scatter_copies(double* u, const double* one, const double* other, const int64_t* offsets, const int32_t* places,
                    int64_t groups) {
    for (int64_t group = 0; group < groups; ++group) {
        const double sum = one[group] + other[group];
        for (int64_t at = offsets[group]; at < offsets[group + 1]; ++at) u[places[at]] = sum;
    }
}

double weighted_product(const double* a, const double* b, const double* c, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i] * c[i];
    return sum;
}

void copy(double* a, const double* b, int64_t n) {
    for (int64_t i = 0; i < n; ++i) a[i] = b[i];
}

/* a = c a + b */
void scale_and_add(double* a, const double* b, double c, int64_t n) {
    for (int64_t i = 0; i < n; ++i) a[i] = c * a[i] + b[i];
}

/* a = a + c b */
void add_scaled(double* a, const double* b, double c, int64_t n) {
    for (int64_t i = 0; i < n; ++i) a[i] += c * b[i];
}

void zero(double* u, const int32_t* places, int64_t count) {
    for (int64_t i = 0; i < count; ++i) u[places[i]] = 0;
}
