#include "mpi/measure.hpp"

#include "mpi/error.hpp"

namespace tradewind::mpi {

namespace {

void carry_out(const MeasuredStep& step, bool copy_only) {
    for (int i = 0; i < step.repeat; ++i) {
        if (copy_only)
            step.plan->copy_only();
        else
            step.plan->run();
    }
}

}  // namespace

Samples measure(MPI_Comm comm, const std::vector<MeasuredStep>& steps, int warmup, int samples, bool copy_only) {
    // [sample][step], the total last.
    const std::size_t columns = steps.size() + 1;
    std::vector<double> seconds(static_cast<std::size_t>(samples) * columns);
    for (int n = -warmup; n < samples; ++n) {
        check(MPI_Barrier(comm), [] { return std::string("meeting before a measurement"); });
        const double begin = MPI_Wtime();
        double last = begin;
        for (std::size_t s = 0; s < steps.size(); ++s) {
            carry_out(steps[s], copy_only);
            const double now = MPI_Wtime();
            if (n >= 0) seconds[static_cast<std::size_t>(n) * columns + s] = now - last;
            last = now;
        }
        if (n >= 0) seconds[static_cast<std::size_t>(n) * columns + steps.size()] = last - begin;
    }
    check(MPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_MAX, comm),
          [] { return std::string("collecting a measurement"); });
    Samples result;
    result.step.resize(steps.size());
    for (int n = 0; n < samples; ++n) {
        const double* row = seconds.data() + static_cast<std::size_t>(n) * columns;
        for (std::size_t s = 0; s < steps.size(); ++s) result.step[s].push_back(row[s]);
        result.total.push_back(row[steps.size()]);
    }
    return result;
}

}  // namespace tradewind::mpi
