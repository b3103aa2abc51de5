#include "fieldserver/model_part.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace tradewind::fieldserver {

namespace {

std::string text_of(const std::array<Index, 3>& shape) {
    return std::to_string(shape[0]) + " x " + std::to_string(shape[1]) + " x " + std::to_string(shape[2]);
}

bool holds_nothing(const std::array<Index, 3>& shape) {
    return shape[0] == 0 || shape[1] == 0 || shape[2] == 0;
}

// Directions of one point need not be there: an array of (points, levels) is one of (points, 1, levels).
bool fit(const std::array<Index, 3>& wanted, const ModelArray& given, std::array<Index, 3>& strides) {
    std::size_t next = 0;
    for (std::size_t a = 0; a < 3; ++a) {
        if (wanted[a] == 1) continue;
        while (next < 3 && given.points[next] == 1) ++next;
        if (next == 3 || given.points[next] != wanted[a]) return false;
        strides[a] = given.strides[next++];
    }
    return std::all_of(given.points.begin() + static_cast<std::ptrdiff_t>(next), given.points.end(),
                       [](Index points) { return points == 1; });
}

// Calls `copy(near, far, bytes)` for each run of bytes: offsets in a part without gaps, and in another one.
template <typename Copy>
void each_run(const ModelPart& dense, const ModelPart& part, Copy copy) {
    auto [nx, ny, nz] = part.shape;
    auto [to_x, to_y, to_z] = part.strides;
    if (dense.strides[0] != part.unit) {  // y is the fastest direction
        std::swap(nx, ny);
        std::swap(to_x, to_y);
    }
    const Index row = nx * part.unit, plane = row * ny;
    const bool dense_rows = to_x == part.unit || nx == 1;
    const bool dense_planes = dense_rows && (to_y == row || ny == 1);
    if (dense_planes && (to_z == plane || nz == 1)) return copy(0, 0, plane * nz);
    for (Index z = 0; z < nz; ++z) {
        if (dense_planes) {
            copy(z * plane, z * to_z, plane);
            continue;
        }
        for (Index y = 0; y < ny; ++y) {
            const Index near = z * plane + y * row, far = z * to_z + y * to_y;
            if (dense_rows) {
                copy(near, far, row);
                continue;
            }
            for (Index x = 0; x < nx; ++x) copy(near + x * part.unit, far + x * to_x, part.unit);
        }
    }
}

}  // namespace

ModelPart part_of(const std::string& name, const FieldForm& form, int rank, const ModelArray& values) {
    ModelPart part{values.data, form.shape(rank), {}, mpi::bytes_of(form.element), values.memory};
    const std::array<Index, 3>& given = values.points;
    if (holds_nothing(part.shape)) {
        if (holds_nothing(given)) return part;
        throw InputError("field " + name + ": an array of " + text_of(given) + " points, and this rank owns none");
    }
    if (values.element != form.element)
        throw InputError("field " + name + ": an array of " + mpi::name_of(values.element) + ": " +
                         mpi::name_of(form.element) + " is allowed");
    bool fits = false;
    if (form.layout || form.axis == 0) {
        fits = fit(part.shape, values, part.strides);
    } else {  // [point][level]
        std::array<Index, 3> turned{part.shape[1], part.shape[0], 1}, strides{};
        fits = fit(turned, values, strides);
        part.strides = {strides[1], strides[0], 0};
    }
    if (!fits)
        throw InputError("field " + name + ": an array of " + text_of(given) + " points: " + text_of(part.shape) +
                         (form.layout ? " is this rank's part" : " points and levels are this rank's part"));
    if (!values.data) throw InputError("data is a null pointer");
    return part;
}

void require_whole_strides(const std::string& name, const ModelPart& part) {
    if (holds_nothing(part.shape)) return;
    for (std::size_t a = 0; a < 3; ++a)
        if (part.shape[a] > 1 && (part.strides[a] == 0 || part.strides[a] % part.unit != 0))
            throw InputError("field " + name + ": a stride of " + std::to_string(part.strides[a]) +
                             " bytes: whole elements of " + std::to_string(part.unit) +
                             " bytes, and not 0, are allowed, or write, which copies the array");
}

void copy_out(const ModelPart& from, const ModelPart& to) {
    each_run(to, from, [&](Index near, Index far, Index bytes) {
        std::memcpy(to.data + near, from.data + far, static_cast<std::size_t>(bytes));
    });
}

void copy_in(const ModelPart& from, const ModelPart& to) {
    each_run(from, to, [&](Index near, Index far, Index bytes) {
        std::memcpy(to.data + far, from.data + near, static_cast<std::size_t>(bytes));
    });
}

}  // namespace tradewind::fieldserver
