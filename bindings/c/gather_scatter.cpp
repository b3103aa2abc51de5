// Gather-scatters: of the ids of values, which ranks make together, and of bricks of elements.
#include "base/error.hpp"
#include "communicator.hpp"
#include "mpi/sharing.hpp"
#include "objects.hpp"
#include "pattern/gather_scatter_brick.hpp"

using namespace tradewind;
using namespace tradewind::c;

namespace {

void gather_scatter(MPI_Comm comm, std::int64_t values, const std::int64_t* ids, const char* operation,
                    tw_pattern* pattern) {
    require_communicator(comm);
    const std::span<const Index> own = raise_collectively(comm, [&] {
        require(pattern, "pattern");
        require(operation, "operation");
        if (values < 0) throw InputError(std::to_string(values) + " entries in ids: 0 or more are allowed");
        if (values > 0) require(ids, "ids");
        return std::span<const Index>(ids, static_cast<std::size_t>(values));
    });
    go_on(comm);
    pattern->id = patterns().add(mpi::share_ids(comm, own, operation));
}

}  // namespace

tw_status tw_gather_scatter(MPI_Comm comm, int64_t values, const int64_t* ids, const char* operation,
                            tw_pattern* pattern) {
    if (pattern) pattern->id = 0;
    return guarded([&] { gather_scatter(comm, values, ids, operation, pattern); });
}

tw_status tw_brick_gather_scatter(const int64_t elements[3], int64_t points, const int64_t split[3],
                                  const int periodic[3], const char* operation, tw_pattern* pattern) {
    if (pattern) pattern->id = 0;
    return guarded([&] {
        require(pattern, "pattern");
        require(elements, "elements");
        require(split, "split");
        require(periodic, "periodic");
        require(operation, "operation");
        const pattern::Brick brick({elements[0], elements[1], elements[2]}, points, {split[0], split[1], split[2]},
                                   {periodic[0] != 0, periodic[1] != 0, periodic[2] != 0});
        pattern->id = patterns().add(std::make_shared<pattern::BrickGatherScatter>(brick, operation));
    });
}

tw_status tw_gather_scatter_f(MPI_Fint comm, int64_t values, const int64_t* ids, const char* operation,
                              tw_pattern* pattern) {
    if (pattern) pattern->id = 0;
    return guarded([&] {
        require_mpi();
        gather_scatter(MPI_Comm_f2c(comm), values, ids, operation, pattern);
    });
}
