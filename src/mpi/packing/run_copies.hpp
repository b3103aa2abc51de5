// Copies of runs of points that lie anywhere in an array, along the lists of their places.
#pragma once

#include "mpi/field.hpp"
#include "mpi/packing/listed.hpp"
#include "schedule/run_list.hpp"

namespace tradewind::mpi {

// One memory of the copies: an array with a list of the places of the runs, or a buffer that they fill level by
// level, in each one after another: so both memories are gone through a level at a time.
struct RunMemory {
    std::byte* data = nullptr;
    std::array<Index, 3> stride{};         // bytes, of an array
    schedule::RunPlaces places = nullptr;  // none: a buffer
    Copier* copier = nullptr;
};

// Appends copies of runs with `levels` along y and z: one for each length of runs. They go along the lists
// of the runs, which have to stay.
void append_run_copies(const pattern::Runs& runs, const RunMemory& from, const RunMemory& to,
                       std::array<Index, 2> levels, Index element, Stores stores, std::vector<StridedCopy>& copies);

}  // namespace tradewind::mpi
