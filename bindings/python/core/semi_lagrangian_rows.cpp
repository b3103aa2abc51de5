// The loops of a semi-Lagrangian step on rows of different lengths.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bind.hpp"
#include "kernel/semi_lagrangian/reduced.hpp"
#include "semi_lagrangian.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

namespace {

using kernel::Block;
using kernel::ReducedRows;
using kernel::RowWindow;
using kernel::Team;
using RowPlaces = Dense<const std::int32_t, 1>;

// `at`: the first row, and how many.
RowWindow window_of(const ReducedRows& rows, std::array<Index, 2> at, const RowPlaces& place, Index places) {
    check_places(place, places);
    RowWindow made(rows, at[0], at[1], place.data());
    check(extent(place, 0) == made.cells,
          "place: " + std::to_string(made.cells) + " cells, of these rows, are allowed");
    return made;
}

void check_columns(const Block& block) {
    check(block.points[1] == 1, "block: columns of one row are allowed");
}

template <class Real>
Cells trace_on_rows(const ReducedRows& rows, const Block& block, const Dense<const Real, 4>& wind, double half_step,
                    const Dense<double, 4>& departures, Team& team, const Line& cos_x, const Line& sin_x,
                    const Line& cos_y, const Line& sin_y, std::optional<Dense<const Real, 3>> extrapolated,
                    std::array<Index, 2> at, std::optional<RowPlaces> place, bool guess, int iterations) {
    kernel::Trajectories<Real> what;
    what.geometry = kernel::Geometry::sphere;
    what.lifted = departures.shape(0) == 3;
    check_columns(block);
    check_block("departures", departures, what.lifted ? 3 : 2, block);
    check_block("wind", wind, what.components(), block);
    for (const Line* each : {&cos_x, &sin_x, &cos_y, &sin_y})
        check(extent(*each, 0) == block.points[0], "cosines and sines: one of each column of the block are allowed");
    check(!what.lifted || block.levels >= 2, "levels: 2 or more are allowed where the wind lifts");
    what.cos_x = cos_x.data();
    what.sin_x = sin_x.data();
    what.cos_y = cos_y.data();
    what.sin_y = sin_y.data();
    what.half_step = half_step;
    what.block = block;
    what.wind = wind.data();
    what.departures = departures.data();
    what.guess = guess || !extrapolated;
    RowWindow window(rows, 0, 0);
    if (extrapolated) {
        check(iterations >= 1, "iterations: 1 or more are allowed");
        what.iterations = iterations;
        check(extent(*extrapolated, 0) == what.components() * block.levels && place.has_value(),
              "extrapolated: levels of each component, and the places of columns, are allowed");
        what.extrapolated = {extrapolated->data(), stride_of(*extrapolated)};
        window = window_of(rows, at, *place, what.extrapolated.stride);
    }
    const nb::gil_scoped_release release;
    Index not_finite = -1;
    const kernel::CellRange range = kernel::trace(what, window, not_finite, team);
    return {range.low, range.high, not_finite};
}

void mark_on_rows(const ReducedRows& rows, const Block& block, const Dense<const double, 4>& departures,
                  std::array<Index, 2> at, const Dense<std::uint8_t, 1>& marks, const std::string& reach) {
    check_columns(block);
    check(departures.shape(0) >= 2 && departures.shape(0) <= 3, "departures: 2 or 3 coordinates are allowed");
    check_block("departures", departures, extent(departures, 0), block);
    const RowWindow window(rows, at[0], at[1]);
    check(extent(marks, 0) == window.cells,
          "marks: " + std::to_string(window.cells) + " cells, of these rows, are allowed");
    const kernel::Reach known = reach_of(reach);
    const nb::gil_scoped_release release;
    kernel::mark(departures.data(), block, window, known, marks.data());
}

template <class Real>
Index interpolate_on_rows(const ReducedRows& rows, const Block& block, const Dense<Real, 3>& field,
                          const Dense<const double, 4>& departures, std::array<Index, 2> at, const RowPlaces& place,
                          Index tracers, bool full, bool limiter, Team& team) {
    check_columns(block);
    kernel::Interpolation what;
    what.lifted = departures.shape(0) == 3;
    check_block("departures", departures, what.lifted ? 3 : 2, block);
    check(!what.lifted || block.levels >= 4, "levels: 4 or more are allowed where the wind lifts");
    check(tracers >= 0 && extent(field, 0) == tracers * block.levels, "field: levels of each tracer are allowed");
    const Index stride = stride_of(field);
    check(block.points[0] <= stride, "field: levels that have the columns of the block are allowed");
    what.block = block;
    what.departures = departures.data();
    what.full = full;
    what.limiter = limiter;
    what.tracers = tracers;
    what.own_pitch = block.points[0];
    const RowWindow window = window_of(rows, at, place, stride);
    const kernel::Layered<Real> values{field.data(), stride};
    const nb::gil_scoped_release release;
    return kernel::interpolate(what, window, values, team);
}

template <class Real>
void bind_loops_on_rows(nb::module_& module) {
    module.def("trace_on_rows", &trace_on_rows<Real>, "rows"_a, "block"_a, "wind"_a.noconvert(), "half_step"_a,
               "departures"_a.noconvert(), "team"_a, nb::kw_only(), "cos_x"_a, "sin_x"_a, "cos_y"_a, "sin_y"_a,
               "extrapolated"_a.noconvert() = nb::none(), "corner"_a = std::array<Index, 2>{0, 0},
               "place"_a.noconvert() = nb::none(), "guess"_a = false, "iterations"_a = 1,
               "Do as `trace_departures` for the columns [z][0][column] of a block on the rows of a reduced grid.\n"
               "Departure points are shares of a circle, -1/2..1/2, and rows from the north; `corner`: the first row\n"
               "of the window, and how many; `place`: [row][-1..columns + 1], one after another.");
    module.def("interpolate_on_rows", &interpolate_on_rows<Real>, "rows"_a, "block"_a, "field"_a.noconvert(),
               "departures"_a.noconvert(), "corner"_a, "place"_a.noconvert(), "tracers"_a, "full"_a, "limiter"_a,
               "team"_a,
               "Do as `interpolate_tracers` on the rows of a reduced grid; the block's columns are the first of a\n"
               "level. Raises InputError for columns that are not there.");
}

}  // namespace

void bind_semi_lagrangian_rows(nb::module_& module) {
    nb::class_<ReducedRows>(module, "ReducedRows",
                            "The rows of a reduced Gaussian grid from the north: columns, and latitudes in radians.")
        .def(nb::init<const std::vector<Index>&, const std::vector<double>&>(), "columns"_a, "latitudes"_a);
    bind_loops_on_rows<float>(module);
    bind_loops_on_rows<double>(module);
    module.def("mark_on_rows", &mark_on_rows, "rows"_a, "block"_a, "departures"_a.noconvert(), "corner"_a,
               "marks"_a.noconvert(), "stencil"_a,
               "Set to 1 the cells [row][-1..columns + 1] of a window that stencils need. Raises InputError.");
    module.def(
        "rows_reached",
        [](const Block& block, const Dense<const double, 4>& departures) {
            check_columns(block);
            check(departures.shape(0) >= 2 && departures.shape(0) <= 3, "departures: 2 or 3 coordinates are allowed");
            check_block("departures", departures, extent(departures, 0), block);
            const kernel::CellRange range = kernel::rows_reached(departures.data(), block);
            return std::make_tuple(range.low, range.high);
        },
        "block"_a, "departures"_a.noconvert(),
        "Return (0, row): the first and the last that departure points lie behind.");
}

}  // namespace tradewind::python
