// How a field server is opened: by ranks of the job that serve, or by local servers beside the model.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "fieldserver/channel.hpp"
#include "fieldserver/output_plan.hpp"

namespace tradewind::fieldserver {

// The parts of one on a rank of the model.
struct Opened {
    MPI_Comm model = MPI_COMM_NULL;  // its ranks
    std::unique_ptr<Agreement> agreement;
    std::unique_ptr<OutputPlan> plan;
    ServerMethod method;
    std::vector<std::unique_ptr<Channel>> channels;  // one for each server
};

// Joins the servers among the ranks of `comm`. Where none is there, `plan` of rank 0 names the plan file of local
// servers, or else its environment variable TRADEWIND_PLAN. Collective. Throws InputError on all ranks.
Opened open_servers(MPI_Comm comm, const std::string& plan);

// Throws InputError where `who` is no server, or uses another version of the messages than this library.
void require_protocol(const std::string& who, std::int64_t magic, std::int64_t version);

}  // namespace tradewind::fieldserver
