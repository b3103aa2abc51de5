// Recordings of a model's time step as a program: the calls of its plans, their messages, and the time between them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <string>

namespace tradewind::mpi {

class Plan;

enum class Call : std::uint8_t { whole, start, wait, poke };

// Records all calls of plans in this process until record_end(); the time between them counts as computation.
// Collective over `comm`, the ranks of the program. Throws PlanError where a recording is under way.
void record_begin(MPI_Comm comm);

// Ends the recording. Collective over its communicator; the text of a program file, on all ranks: ranks with the same
// calls are one group. `problem`: why this rank has nothing to record; "" where it has. Throws InputError on a rank
// that started an exchange and did not wait for it, or the reverse, and on all ranks where those of a plan do not carry
// it out as often; PlanError on the ranks beside one that fails, and where no recording is under way.
std::string record_end(const std::string& problem = "");
// The same, where rank 0 hands the text to `write`, which returns a problem or "". That problem, on all ranks.
std::string record_to(const std::string& problem, const std::function<std::string(const std::string&)>& write);

// A call of a plan while this lives. A plan that is called by another one is a part of that.
class Recorded {
  public:
    Recorded(const Plan& plan, Call call);
    ~Recorded();
    Recorded(const Recorded&) = delete;
    Recorded& operator=(const Recorded&) = delete;

  private:
    bool noted_ = false;
};

}  // namespace tradewind::mpi
