// Nanoseconds of processor time of a plan with nothing to do (a halo of width 0), called from C++ inside the core and
// through libtradewind from C, C++ and Fortran, in turn.   call_from_languages SAMPLES CALLS: a line of JSON on rank 0.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "algorithm/registry.hpp"
#include "call.h"
#include "call.hpp"
#include "mpi/plan.hpp"
#include "pattern/halo.hpp"

namespace {

constexpr std::int64_t nx = 16, ny = 16, nz = 4;

std::unique_ptr<tradewind::mpi::Plan> core_plan(std::vector<double>& field) {
    using namespace tradewind;
    const auto halo =
        std::make_shared<pattern::Halo>(layout::Blocks(layout::Grid(nx, ny, nz), {1, 1}), 0, std::array{false, false});
    mpi::PlanRequest request;
    request.source = {{reinterpret_cast<std::byte*>(field.data()), {nx, ny, nz}, {8, 8 * nx, 8 * nx * ny}}};
    request.target = request.source;
    return mpi::make_plan(*algorithm::make_schedule(halo, "sweep"), MPI_COMM_WORLD, request);
}

int calls_from_core(tradewind::mpi::Plan& plan, int calls) {
    for (int i = 0; i < calls; ++i) plan.run();
    return 0;
}

// CPU time of this thread: other load of the machine does not count.
double processor_ns() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

template <typename Calls>
double nanoseconds(int calls, Calls run) {
    const double begin = processor_ns();
    if (run(calls) != 0) std::abort();  // a plan has failed
    return (processor_ns() - begin) / calls;
}

void measure(int samples, int calls) {
    std::vector<double> field(nx * ny * nz), other(field);
    const auto core = core_plan(field);
    const tw::Halo halo(tw::Blocks({nx, ny, nz}, {1, 1}), 0);
    tw::Plan plan(halo, MPI_COMM_WORLD, {tw::dense(other.data(), halo.box(0))});
    const char* separator = "";
    std::printf("[");
    for (int sample = -1; sample < samples; ++sample) {
        const double from_core = nanoseconds(calls, [&](int n) { return calls_from_core(*core, n); });
        const double from_c = nanoseconds(calls, [&](int n) { return calls_from_c(plan.handle(), n); });
        const double from_cpp = nanoseconds(calls, [&](int n) { return calls_from_cpp(plan, n); });
        const double from_fortran = nanoseconds(calls, [&](int n) { return calls_from_fortran(plan.handle(), n); });
        if (sample < 0) continue;  // to warm up
        std::printf("%s{\"core\": %.3f, \"c\": %.3f, \"c++\": %.3f, \"fortran\": %.3f}", separator, from_core, from_c,
                    from_cpp, from_fortran);
        separator = ", ";
    }
    std::printf("]\n");
}

}  // namespace

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    if (count == 3) measure(std::atoi(arguments[1]), std::atoi(arguments[2]));
    MPI_Finalize();
    return count == 3 ? 0 : 2;
}
