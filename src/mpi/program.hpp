// A schedule compiled for one rank and its arrays: flat lists of copies and MPI messages.
#pragma once

#include <cstdlib>
#include <memory>
#include <vector>

#include "mpi/copy.hpp"
#include "mpi/plan.hpp"

namespace tradewind {

// Memory of a fixed size, touched when it is made so that no page fault falls into a timed call.
class Memory {
  public:
    explicit Memory(Index bytes = 0);
    std::byte* data() const { return data_.get(); }

  private:
    struct Free {
        void operator()(std::byte* p) const { std::free(p); }
    };
    std::unique_ptr<std::byte, Free> data_;
};

struct Range {
    std::size_t begin = 0, end = 0;
    std::size_t size() const { return end - begin; }
};

// One MPI message (a part of a long message of the schedule).
struct Transfer {
    int peer = 0, tag = 0;
    std::byte* data = nullptr;
    int bytes = 0;
};

// Messages into the same elements, and the rank's own value: combined in ascending order of rank.
struct Combination {
    std::vector<std::byte*> parts;  // where the values are, in ascending order of rank
    std::size_t own = 0;            // which of them is the rank's own
    Index count = 0;                // elements of one part
    Range fetch, store;  // copies of the own value into its part and back; none where it is combined in place
};

struct StageProgram {
    struct Send {
        Range pack, transfers;
    };
    std::vector<Send> sends;
    Range sent, received;  // transfers of all sends, of all receives
    Range local;           // copies within the rank
    Range unpack;          // copies
    std::vector<Combination> combinations;
};

struct Program {
    std::vector<StageProgram> stages;
    std::vector<StridedCopy> copies;
    std::vector<Transfer> transfers;
    std::size_t most_transfers = 0;  // of one stage, both ways
    Memory outgoing, incoming, scratch, temporary;
};

// Throws InputError where the arrays do not have the shapes of the pattern on this rank.
void check_fields(const Pattern& pattern, Rank rank, const PlanRequest& request);

// `largest_tag`: of the communicator.
Program compile(const Schedule& schedule, Rank rank, const PlanRequest& request, int largest_tag);

}  // namespace tradewind
