// Gather-scatters, which ranks make together of the ids of their values.
#include "base/error.hpp"
#include "communicator.hpp"
#include "mpi/sharing.hpp"
#include "objects.hpp"

using namespace tradewind;
using namespace tradewind::c;

namespace {

void gather_scatter(MPI_Comm comm, std::int64_t values, const std::int64_t* ids, const char* operation,
                    tw_pattern* pattern) {
    require_communicator(comm);
    const std::span<const Index> own = or_tell(comm, [&] {
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

tw_status tw_gather_scatter_f(MPI_Fint comm, int64_t values, const int64_t* ids, const char* operation,
                              tw_pattern* pattern) {
    if (pattern) pattern->id = 0;
    return guarded([&] {
        require_mpi();
        gather_scatter(MPI_Comm_f2c(comm), values, ids, operation, pattern);
    });
}
