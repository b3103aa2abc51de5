#pragma once

#include <vector>

#include "mpi/plan.hpp"

namespace tradewind::mpi {

// One plan of an exchange, called `repeat` times in a row.
struct MeasuredStep {
    Plan* plan = nullptr;
    int repeat = 1;
};

// Seconds, each the maximum over the ranks, of one exchange after another.
struct Samples {
    std::vector<double> total;              // [sample]
    std::vector<std::vector<double>> step;  // [step][sample]
};

// Collective. Before each sample all ranks meet in a barrier. With `copy_only` no message is sent: see Plan::copy_only.
Samples measure(MPI_Comm comm, const std::vector<MeasuredStep>& steps, int warmup, int samples, bool copy_only);

}  // namespace tradewind::mpi
