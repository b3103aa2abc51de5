// Agreement of the ranks of a model: all make the same calls of a field server, or all raise an error.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>

#include "mpi/communicator.hpp"
#include "mpi/error.hpp"

namespace tradewind::fieldserver {

// An InputError that another rank has met.
class PeerInputError : public mpi::PlanError {
  public:
    using mpi::PlanError::PlanError;
};

enum class ErrorKind { input, other };

// A rank that meets an error sends it in place of its part in the next agreement. So it waits for no other rank, and
// the others throw the error before they do anything together: where all ranks meet one they go on. All functions but
// note, send_error, leave and part are collective.
class Agreement {
  public:
    // Between the ranks of `comm`, which is copied.
    explicit Agreement(MPI_Comm comm);
    ~Agreement();
    Agreement(const Agreement&) = delete;
    Agreement& operator=(const Agreement&) = delete;

    // Counts a call, which all ranks make in the same order.
    void note(const std::string& call);
    // Throws PeerInputError or PlanError, on all ranks, where one has met an error or has made other calls. Collective,
    // where a call was noted since the last time.
    void check();
    // Sends an error of this rank, which goes on to throw it. Throws what has broken the agreement before.
    void send_error(const std::string& text, ErrorKind kind);
    // Sends an error after which this rank takes part in nothing more; waits for no rank.
    //
    // After an agreement that an error has broken, each rank takes part in exactly one more, from here or from `end`:
    // so a rank that goes on to `end` finds out whether another one has left since then.
    void leave(const std::string& text);
    // Waits until what this rank has sent has been combined with the others' parts, before MPI is finalized.
    void part();
    // Agrees for the last time; returns whether all is well.
    bool end();
    // Throws what has broken the agreement, where this rank has not done so yet.
    void throw_broken();
    // Throws it again.
    void require_whole() const;
    // Nothing is done together any more; all ranks know why.
    void abandon(const std::string& why);

    bool is_abandoned() const { return abandoned_; }
    bool is_broken() const { return !broken_.empty(); }
    const std::string& broken() const { return broken_; }
    // A rank has left for good: nothing is done together any more.
    bool is_deserted() const { return deserted_; }
    // Returns the error of the first rank that has one, on all ranks; "" where none has.
    std::string first_error(const std::string& local) const;

    MPI_Comm comm() const { return communicator_.handle(); }
    int rank() const { return communicator_.rank(); }
    int ranks() const { return communicator_.ranks(); }

  private:
    class Part;
    std::unique_ptr<Part> part_of(bool failed, bool gone) const;
    std::unique_ptr<Part> error_part(const std::string& text, ErrorKind kind, bool gone) const;
    std::unique_ptr<Part> no_error_part() const;
    void settle();
    [[noreturn]] void break_by(const std::string& text, int rank, bool gone);
    [[noreturn]] void break_by_other_calls();

    mpi::Communicator communicator_;
    mpi::Communicator own_;  // of the agreements alone, in which a rank with an error may be ahead
    std::int64_t calls_ = 0, agreed_ = 0, digest_ = 0;
    std::string last_ = "none", broken_;
    ErrorKind kind_ = ErrorKind::other;  // of `broken_`
    bool deserted_ = false, abandoned_ = false, ended_ = false;
    bool raised_ = false;              // this rank has thrown it, or the error that it has sent
    std::unique_ptr<Part> sent_;       // that of an error which this rank has sent
    std::unique_ptr<Part> last_part_;  // that in the agreement after a broken one: it goes on to `end`, or has left
};

}  // namespace tradewind::fieldserver
