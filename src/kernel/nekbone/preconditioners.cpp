#include "kernel/nekbone/preconditioners.hpp"

#include "kernel/nekbone/element_loops.hpp"
#include "kernel/width.hpp"

namespace tradewind::kernel {

namespace {

constexpr int sides = 6;

// f(index on the face, place in the element) for the layer of points `depth` steps inside a side.
template <class F>
[[gnu::always_inline]] inline void on_layer(int n, int side, int depth, const F& f) {
    const int strides[3] = {1, n, n * n};
    const int across = strides[side / 2], a = strides[side < 2 ? 1 : 0], b = strides[side < 4 ? 2 : 1];
    const int first = (side % 2 ? n - 1 - depth : depth) * across;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) f(j * n + i, first + j * b + i * a);
}

bool is_open(const Elements& elements, Index element, int side) {
    return elements.open(element) >> side & 1U;
}

// A thread's part of the subdomains.
template <class Real>
struct Solve {
    const Subdomains<Real>* by = nullptr;
    Index begin = 0, end = 0;
    const Real* r = nullptr;
    Real *faces = nullptr, *z = nullptr;
    Real* room = nullptr;  // [2][m^3]
};

// The place in a subdomain of a place on an element's layer: points of the element lie one further in each direction.
constexpr int place_in_subdomain(int n, int face_index, int side) {
    const int m = n + 2, strides[3] = {1, m, m * m};
    const int across = strides[side / 2], a = strides[side < 2 ? 1 : 0], b = strides[side < 4 ? 2 : 1];
    return (side % 2 ? m - 1 : 0) * across + (face_index / n + 1) * b + (face_index % n + 1) * a;
}

template <class Real>
void fill(const Solve<Real>& job, Index element, Real* to) {
    const Subdomains<Real>& by = *job.by;
    const Elements& elements = *by.elements;
    const int n = elements.points(), m = n + 2;
    const Index first = element * elements.volume();
    for (int i = 0; i < m * m * m; ++i) to[i] = 0;
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) {
                const Index at = first + (k * n + j) * n + i;
                to[((k + 1) * m + j + 1) * m + i + 1] = by.weights[at] * job.r[at];
            }
    for (int side = 0; side < sides; ++side) {
        if (!is_open(elements, element, side)) continue;
        const Real* face = job.faces + (element * sides + side) * n * n;
        on_layer(n, side, 1, [&](int on_face, int place) {
            to[place_in_subdomain(n, on_face, side)] = face[on_face] - by.weights[first + place] * job.r[first + place];
        });
    }
}

// Products with one matrix along each direction, from `u` by way of `other` to `other`.
template <int B, int N, class Real>
[[gnu::always_inline]] inline void transform(const Real* along_x, const Real* along_y, const Real* along_z, Real* u,
                                             Real* other, int m) {
    const int plane = m * m;
    combine_columns<B, N>(along_x, u, other, m);
    for (int k = 0; k < m; ++k) combine_rows<B, N, N, false>(along_y, other + k * plane, u + k * plane, m, m);
    combine_rows<B, N, N * N, false>(along_z, u, other, m, plane);
}

template <class Real>
void divide(const Subdomains<Real>& by, const std::int32_t* kinds, int m, Real* u) {
    const Real *x = by.values + kinds[0] * m, *y = by.values + kinds[1] * m, *z = by.values + kinds[2] * m;
    for (int k = 0; k < m; ++k)
        for (int j = 0; j < m; ++j) {
            const Real both = static_cast<Real>(by.shift) + (z[k] + y[j]);
            Real* row = u + (k * m + j) * m;
            for (int i = 0; i < m; ++i) row[i] /= both + x[i];
        }
}

template <class Real>
void take(const Solve<Real>& job, Index element, const Real* solution) {
    const Elements& elements = *job.by->elements;
    const int n = elements.points(), m = n + 2;
    Real* z = job.z + element * elements.volume();
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) z[(k * n + j) * n + i] = solution[((k + 1) * m + j + 1) * m + i + 1];
    for (int side = 0; side < sides; ++side) {
        Real* face = job.faces + (element * sides + side) * n * n;
        const bool open = is_open(elements, element, side);
        on_layer(n, side, 1, [&](int on_face, int place) {
            face[on_face] = open ? solution[place_in_subdomain(n, on_face, side)] : Real(0);
            z[place] -= face[on_face];
        });
    }
}

template <int B, class Real>
[[gnu::always_inline]] inline void run_solve_by(const Solve<Real>& job) {
    const int m = job.by->elements->points() + 2, square = m * m;
    Real *u = job.room, *other = u + square * m;
    with_points<B>(m, [&]<int N>() __attribute__((always_inline)) {
        for (Index element = job.begin; element < job.end; ++element) {
            const std::int32_t* kinds = job.by->kinds + 3 * element;
            const Real *to = job.by->vectors, *back = job.by->transposed;
            const Index x = kinds[0] * square, y = kinds[1] * square, z = kinds[2] * square;
            fill(job, element, u);
            transform<B, N>(to + x, to + y, to + z, u, other, m);
            divide(*job.by, kinds, m, other);
            transform<B, N>(back + x, back + y, back + z, other, u, m);
            take(job, element, u);
        }
    });
}

TRADEWIND_BY_WIDTH(void, run_solve, (const Solve<double>& job), (job))
TRADEWIND_BY_WIDTH(void, run_solve, (const Solve<float>& job), (job))

}  // namespace

template <class Real>
void scale(const Elements& elements, const Real* factors, const Real* from, const Real* r, Real* z, double* sums,
           Team& team) {
    const int n = elements.points();
    split_work(team, elements.count(), [&](int, Index begin, Index end) {
        for (Index element = begin; element < end; ++element) {
            Real lanes[Elements::maximum_points] = {}, row[Elements::maximum_points];
            Real plane[Elements::maximum_points * Elements::maximum_points];
            elements.shares(element, row, plane);
            for (int line = 0; line < n * n; ++line) {
                const Index first = element * elements.volume() + line * n;
                for (int i = 0; i < n; ++i) {
                    const Real value = factors[first + i] * from[first + i];
                    z[first + i] = value;
                    lanes[i] += (plane[line] * row[i]) * (r[first + i] * value);
                }
            }
            sums[element] = total(lanes, n);
        }
    });
}

template <class Real>
void take_layers(const Subdomains<Real>& by, const Real* r, Real* faces, Team& team) {
    const Elements& elements = *by.elements;
    const int n = elements.points();
    split_work(team, elements.count(), [&](int, Index begin, Index end) {
        for (Index element = begin; element < end; ++element)
            for (int side = 0; side < sides; ++side) {
                Real* face = faces + (element * sides + side) * n * n;
                const Index first = element * elements.volume();
                const bool open = is_open(elements, element, side);
                on_layer(n, side, 1, [&](int on_face, int place) {
                    face[on_face] = open ? by.weights[first + place] * r[first + place] : Real(0);
                });
            }
    });
}

template <class Real>
void solve_subdomains(const Subdomains<Real>& by, const Real* r, Real* faces, Real* z, Team& team) {
    const Index m = by.elements->points() + 2, room = 2 * m * m * m;
    std::vector<Real> rooms(static_cast<std::size_t>(room * team.threads()));
    split_work(team, by.elements->count(), [&](int thread, Index begin, Index end) {
        run_solve(Solve<Real>{&by, begin, end, r, faces, z, rooms.data() + room * thread});
    });
}

template <class Real>
void add_layers(const Elements& elements, const Real* faces, Real* z, Team& team) {
    const int n = elements.points();
    split_work(team, elements.count(), [&](int, Index begin, Index end) {
        for (Index element = begin; element < end; ++element)
            for (int side = 0; side < sides; ++side) {
                if (!is_open(elements, element, side)) continue;
                const Real* face = faces + (element * sides + side) * n * n;
                Real* to = z + element * elements.volume();
                on_layer(n, side, 1, [&](int on_face, int place) { to[place] += face[on_face]; });
            }
    });
}

#define TRADEWIND_NEKBONE(Real)                                                                         \
    template void scale(const Elements&, const Real*, const Real*, const Real*, Real*, double*, Team&); \
    template void take_layers(const Subdomains<Real>&, const Real*, Real*, Team&);                      \
    template void solve_subdomains(const Subdomains<Real>&, const Real*, Real*, Real*, Team&);          \
    template void add_layers(const Elements&, const Real*, Real*, Team&);
TRADEWIND_NEKBONE(float)
TRADEWIND_NEKBONE(double)
#undef TRADEWIND_NEKBONE

}  // namespace tradewind::kernel
