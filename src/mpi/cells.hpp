// The work of one rank in a gather-scatter: between its values and the cells that ranks exchange.
#pragma once

#include <memory>
#include <vector>

#include "mpi/plan.hpp"
#include "pattern/gather_scatter.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::mpi {

struct CellWork {
    CellWork() = default;
    virtual ~CellWork() = default;
    CellWork(const CellWork&) = delete;
    CellWork& operator=(const CellWork&) = delete;

    virtual void gather() const = 0;   // values into cells
    virtual void combine() const = 0;  // values that no other rank has
    virtual void scatter() const = 0;  // cells, with what came, into values
    // The arrays of cells that are sent, and of those that come.
    virtual std::vector<Field> exchanged() const = 0;
    virtual std::vector<Field> arriving() const = 0;
};

// That of arrays on a device. `request`: with the operation of the gather-scatter.
std::unique_ptr<CellWork> make_device_cells(const schedule::Schedule& schedule, const pattern::GatherScatter& whole,
                                            Rank rank, const PlanRequest& request);

}  // namespace tradewind::mpi
