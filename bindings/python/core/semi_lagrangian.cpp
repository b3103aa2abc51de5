#include "semi_lagrangian.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <string>
#include <tuple>

#include "bind.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

namespace {

using kernel::Block;
using kernel::Team;
using kernel::Window;

using Places = Dense<const std::int32_t, 2>;

void check_chunks(const kernel::Chunks& chunks, const Block& block) {
    check(chunks.all.size() == kernel::Chunks(block).all.size(), "chunks: those of this block are allowed");
}

Window window_of(std::array<Index, 2> first, const Places& place, Index places) {
    check_places(place, places);
    return {first, {extent(place, 1), extent(place, 0)}, place.data()};
}

template <class Real>
Cells trace(const Block& block, const Dense<const Real, 4>& wind, double half_step, double scale,
            const Dense<double, 4>& departures, Team& team, std::optional<Dense<const Real, 3>> extrapolated,
            std::array<Index, 2> first, std::optional<Places> place, std::array<Index, 2> grid,
            std::optional<Line> cos_x, std::optional<Line> sin_x, std::optional<Line> cos_y, std::optional<Line> sin_y,
            bool guess, int iterations, kernel::Chunks* chunks, int done) {
    kernel::Trajectories<Real> what;
    what.lifted = departures.shape(0) == 3;
    check_block("departures", departures, what.lifted ? 3 : 2, block);
    if (cos_x) {
        what.geometry = kernel::Geometry::sphere;
        check(sin_x && cos_y && sin_y && extent(*cos_x, 0) == block.points[0] && extent(*sin_x, 0) == block.points[0] &&
                  extent(*cos_y, 0) == block.points[1] && extent(*sin_y, 0) == block.points[1],
              "cosines and sines: one of each column and row of the block are allowed");
        what.cos_x = cos_x->data();
        what.sin_x = sin_x->data();
        what.cos_y = cos_y->data();
        what.sin_y = sin_y->data();
    }
    check_block("wind", wind, what.components(), block);
    check(!what.lifted || block.levels >= 2, "levels: 2 or more are allowed where the wind lifts");
    what.half_step = half_step;
    what.scale = scale;
    what.grid = grid;
    what.block = block;
    what.wind = wind.data();
    what.departures = departures.data();
    what.guess = guess || !extrapolated;
    if (extrapolated) {
        check(iterations >= 1, "iterations: 1 or more are allowed");
        what.iterations = iterations;
        check(extent(*extrapolated, 0) == what.components() * block.levels && place.has_value(),
              "extrapolated: levels of each component, and the places of columns, are allowed");
        what.extrapolated = {extrapolated->data(), stride_of(*extrapolated)};
        what.window = window_of(first, *place, what.extrapolated.stride);
        if (chunks != nullptr) {
            check_chunks(*chunks, block);
            check(done >= 0 && done < iterations, "done: iterations from 0 to the last but one are allowed");
            what.chunks = chunks;
            what.done = done;
        }
    }
    const nb::gil_scoped_release release;
    Index not_finite = -1;
    const kernel::CellRange range = kernel::trace(what, not_finite, team);
    return {range.low, range.high, not_finite};
}

std::tuple<std::array<Index, 2>, std::array<Index, 2>> cells(const Block& block,
                                                             const Dense<const double, 4>& departures) {
    check(departures.shape(0) >= 2 && departures.shape(0) <= 3, "departures: 2 or 3 coordinates are allowed");
    check_block("departures", departures, extent(departures, 0), block);
    const kernel::CellRange range = kernel::cells_of(departures.data(), block);
    return {range.low, range.high};
}

void mark(const Block& block, const Dense<const double, 4>& departures, std::array<Index, 2> first,
          const Dense<std::uint8_t, 2>& marks, const std::string& reach, const kernel::Chunks* chunks, int done) {
    check(departures.shape(0) >= 2 && departures.shape(0) <= 3, "departures: 2 or 3 coordinates are allowed");
    check_block("departures", departures, extent(departures, 0), block);
    check(marks.size() < (std::size_t{1} << 31), "marks: less than 2^31 cells are allowed");
    if (chunks != nullptr) check_chunks(*chunks, block);
    const kernel::Reach known = reach_of(reach);
    const nb::gil_scoped_release release;
    kernel::mark(departures.data(), block, {first, {extent(marks, 1), extent(marks, 0)}, nullptr}, known, marks.data(),
                 chunks, done);
}

template <class Real>
Index interpolate(const Block& block, const Dense<Real, 3>& field, const Dense<const double, 4>& departures,
                  std::array<Index, 2> first, const Places& place, Index own_first, Index own_pitch, Index tracers,
                  bool full, bool limiter, Team& team) {
    kernel::Interpolation what;
    what.lifted = departures.shape(0) == 3;
    check_block("departures", departures, what.lifted ? 3 : 2, block);
    check(!what.lifted || block.levels >= 4, "levels: 4 or more are allowed where the wind lifts");
    check(tracers >= 0 && extent(field, 0) == tracers * block.levels, "field: levels of each tracer are allowed");
    const Index stride = stride_of(field);
    const bool inside = own_first >= 0 && own_pitch >= block.points[0] &&
                        (block.points[0] == 0 || block.points[1] == 0 ||
                         own_first + (block.points[1] - 1) * own_pitch + block.points[0] <= stride);
    check(inside, "own_first, own_pitch: a block that lies within a level is allowed");
    what.block = block;
    what.window = window_of(first, place, stride);
    what.departures = departures.data();
    what.full = full;
    what.limiter = limiter;
    what.tracers = tracers;
    what.own_first = own_first;
    what.own_pitch = own_pitch;
    const kernel::Layered<Real> values{field.data(), stride};
    const nb::gil_scoped_release release;
    return kernel::interpolate(what, values, team);
}

// Nothing is converted: a copy would be worked on in the place of the array.
template <class Real>
void bind_semi_lagrangian_loops(nb::module_& module) {
    module.def("trace_departures", &trace<Real>, "block"_a, "wind"_a.noconvert(), "half_step"_a, "scale"_a,
               "departures"_a.noconvert(), "team"_a, nb::kw_only(), "extrapolated"_a.noconvert() = nb::none(),
               "corner"_a = std::array<Index, 2>{0, 0}, "place"_a.noconvert() = nb::none(),
               "grid"_a = std::array<Index, 2>{1, 1}, "cos_x"_a = nb::none(), "sin_x"_a = nb::none(),
               "cos_y"_a = nb::none(), "sin_y"_a = nb::none(), "guess"_a = false, "iterations"_a = 1,
               "chunks"_a = nb::none(), "done"_a = 0,
               "Replace departure points [x, y(, z)][z][y][x] by the next iterations of SETTLS, which begin with the\n"
               "first guess where they are asked to; without extrapolated winds, by that alone. Returns the first and "
               "the last cell (x, y) that they lie in,\n"
               "and the first point that is not finite, or -1. Raises InputError for winds that are not there. With\n"
               "`chunks`, points whose winds are not there wait: later calls, with guess=False, take those that have\n"
               "`done` of the iterations, and go on with them while the block itself has the winds.");
    module.def("interpolate_tracers", &interpolate<Real>, "block"_a, "field"_a.noconvert(), "departures"_a.noconvert(),
               "corner"_a, "place"_a.noconvert(), "own_first"_a, "own_pitch"_a, "tracers"_a, "full"_a, "limiter"_a,
               "team"_a,
               "Replace the values of the block in a field [tracer, z][row][column] by those at the departure points.\n"
               "Returns the place [tracer][z][y][x] of the first value that is not finite, or -1. Raises InputError\n"
               "for columns that are not there.");
}

}  // namespace

void bind_semi_lagrangian(nb::module_& module) {
    nb::class_<Block>(module, "ColumnBlock",
                      "The columns of a rank: the first (x, y), how many, levels, and the period along x (0: none).")
        .def(
            "__init__",
            [](Block* self, std::array<Index, 2> first, std::array<Index, 2> points, Index levels, Index period) {
                check(points[0] >= 0 && points[1] >= 0 && levels >= 0 && period >= 0,
                      "points, levels and period: 0 and more are allowed");
                new (self) Block{first, points, levels, period};
            },
            "first"_a, "points"_a, "levels"_a, "period"_a = 0);
    nb::class_<kernel::Chunks>(module, "DepartureChunks",
                               "Iterations of a block's trajectories whose winds are fetched on demand.")
        .def(nb::init<const Block&>(), "block"_a)
        .def(
            "cells",
            [](const kernel::Chunks& self, int done) {
                const kernel::CellRange range = self.cells(done);
                return std::make_tuple(range.low, range.high);
            },
            "done"_a, "Return the first and the last cell (x, y) of departure points that have `done` iterations.");
    bind_semi_lagrangian_loops<float>(module);
    bind_semi_lagrangian_loops<double>(module);
    module.def("departure_cells", &cells, "block"_a, "departures"_a.noconvert(),
               "Return the first and the last cell (x, y) that departure points lie in.");
    module.def("mark_stencils", &mark, "block"_a, "departures"_a.noconvert(), "corner"_a, "marks"_a.noconvert(),
               "stencil"_a, "chunks"_a = nb::none(), "done"_a = 0,
               "Set to 1 the cells [y][x] that the stencils (linear, quasi-cubic or cubic) of departure points need,\n"
               "where not all of them lie in the block. `corner`: the first cell (x, y). With `chunks` of those\n"
               "points alone that have `done` iterations. Raises InputError.");
}

}  // namespace tradewind::python
