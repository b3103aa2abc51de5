#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tradewind::mpi {

// The task of the ranks together, in the words of errors.
struct Task {
    const char* verb;   // "make this plan"
    const char* doing;  // "making a plan"
    const char* join;   // "make it"
};
constexpr Task make_a_plan{"make this plan", "making a plan", "make it"};
constexpr Task begin_a_recording{"begin this recording", "beginning a recording", "begin it"};
constexpr Task end_a_recording{"end this recording", "ending a recording", "end it"};

// Collective. Makes sure that all ranks of a communicator are about to make the same plan, and that every rank can:
// otherwise a rank that fails or does something else would leave the others waiting for ever.
// `identity`: what this rank makes, `problem`: why it cannot ("" where it can). Returns on a rank with a problem of
// its own (which throws its own error); throws PlanError on all the others, and on all ranks that differ.
// Returns the sums of what the ranks add, modulo 2^64. `limit_s`: a rank that waits longer for the others throws
// PlanError, too (0: it waits for ever); its communicator cannot be used any more.
using Sums = std::array<std::uint64_t, 3>;
Sums agree(MPI_Comm comm, const std::string& identity, const std::string& problem, const Sums& added = {},
           double limit_s = 0, const Task& task = make_a_plan);

// The same, but returns false where ranks differ, and on a rank with a problem of its own.
bool alike(MPI_Comm comm, const std::string& identity, const std::string& problem = "", double limit_s = 0);

// Agreements in which this thread has taken part, and those of them after which it does not go on: another rank has a
// problem, or it has one itself, or the ranks differ.
struct Agreements {
    std::int64_t begun = 0, failed = 0;
};
Agreements agreements();

// Collective. The text of one rank, on all of them.
std::string text_of(MPI_Comm comm, int root, std::string text);
// Collective. The texts of all ranks.
std::vector<std::string> texts_of(MPI_Comm comm, const std::string& text);

}  // namespace tradewind::mpi
