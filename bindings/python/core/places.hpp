// Numbers of ranks, stages, switches and the like that Python hands over: an invalid one is an IndexError which names
// the valid ones. Negative numbers do not count from the end: -1 among the neighbours of a rank is no neighbour, and
// not the last rank.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "base/units.hpp"

namespace tradewind::python {

// Number `place` of `count` things.
template <class Number>
Number checked_place(const char* what, Index place, Number count) {
    if (place >= 0 && place < static_cast<Index>(count)) return static_cast<Number>(place);
    const std::string there =
        count == 0 ? "there are none" : "0.." + std::to_string(static_cast<Index>(count) - 1) + " are allowed";
    throw nanobind::index_error((std::string(what) + " " + std::to_string(place) + ": " + there).c_str());
}

// A rank of something that has ranks.
template <class Ranked>
Rank checked_rank(const Ranked& of, Index rank, const char* what = "rank") {
    return checked_place(what, rank, of.ranks());
}

}  // namespace tradewind::python
