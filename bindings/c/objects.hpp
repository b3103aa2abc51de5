// The handles that there are, and how errors of the core become statuses.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "handles.hpp"
#include "layout/blocks.hpp"
#include "mpi/plan.hpp"
#include "mpi/points.hpp"
#include "mpi/shared_memory.hpp"
#include "tradewind/tradewind.h"

namespace tradewind::c {

// A plan with the memory of tw_empty that it is bound to.
struct BoundPlan {
    BoundPlan() = default;
    BoundPlan(const BoundPlan&) = delete;
    BoundPlan& operator=(const BoundPlan&) = delete;
    ~BoundPlan() {
        if (plan && !plan->settled()) new std::vector(std::move(memory));  // others may still use it: kept for good
    }
    std::vector<std::shared_ptr<mpi::SharedMemory>> memory;  // first, as it must outlive the plan
    std::string method, origin;
    std::unique_ptr<mpi::Plan> plan;
};

// The points of this rank, and where their callers begin to count: C from 0, Fortran from 1.
struct OwnPoints {
    mpi::Points points;
    Index first;     // of the indices and places in lists
    Index first_id;  // 0 unless a layout gives the ids
};

// These live until the process ends: plans that are not freed outlast MPI, which their destructors need.
Handles<const layout::Layout>& layouts();
// A layout of blocks. Throws InputError for another one, which `user` cannot take.
std::shared_ptr<const layout::Blocks> blocks_of(tw_layout layout, const char* user);
Handles<const pattern::Pattern>& patterns();
Handles<const OwnPoints>& points();
Handles<BoundPlan>& plans();

// The memory of tw_empty that `data` points into; none where it is the caller's own.
std::shared_ptr<mpi::SharedMemory> memory_of(const void* data);

// Keeps the text for tw_last_error; the status of the error that is being handled.
tw_status keep_error() noexcept;

// Throws InputError where a place for a result is missing.
void require(const void* pointer, const char* name);

// A function of the interface: nothing is thrown out of it.
template <typename Work>
tw_status guarded(Work work) noexcept {
    try {
        work();
        return TW_OK;
    } catch (...) {
        return keep_error();
    }
}

// `make` returns a pattern.
template <typename Make>
tw_status add_pattern(tw_pattern* pattern, Make make) noexcept {
    if (pattern) pattern->id = 0;
    return guarded([&] {
        require(pattern, "pattern");
        pattern->id = patterns().add(make());
    });
}

// The box of an array of a pattern; that of a fetch begins at 0. Throws InputError for an unknown side or rank.
layout::Box box_of(const pattern::Pattern& pattern, int side, int rank);

}  // namespace tradewind::c
