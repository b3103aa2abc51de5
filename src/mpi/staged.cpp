// The plan of a schedule: its stages one after another, each with non-blocking messages and one pass over memory on
// either side of them.
#include "mpi/error.hpp"
#include "mpi/prepare.hpp"
#include "mpi/program.hpp"

namespace tradewind {

namespace {

class StagedPlan : public Plan {
  public:
    StagedPlan(MPI_Comm comm, std::string description, Program program, Combine combine)
        : Plan(comm, std::move(description)),
          program_(std::move(program)),
          combine_(combine),
          requests_(program_.most_transfers, MPI_REQUEST_NULL),
          statuses_(program_.most_transfers) {
        for (const StageProgram& stage : program_.stages)
            for (std::size_t i = stage.sent.begin; i < stage.sent.end; ++i) {
                ++messages_;
                bytes_sent_ += Bytes{program_.transfers[i].bytes};
            }
    }

    // Messages that MPI still works on keep their buffers for good: nothing else is safe.
    ~StagedPlan() override {
        if (!settled()) std::make_unique<Program>(std::move(program_)).release();
    }

    void copy_only() override {
        for (const StageProgram& stage : program_.stages) {
            for (const auto& send : stage.sends) copy(send.pack);
            copy(stage.local);
            deliver(stage);
        }
    }

  protected:
    void begin() override {
        if (!program_.stages.empty()) post(0);
    }

    void finish() override {
        const int stages = static_cast<int>(program_.stages.size());
        for (int s = 0; s < stages; ++s) {
            if (s > 0) post(s);
            complete(s);
        }
    }

  private:
    void copy(Range range) const {
        for (std::size_t i = range.begin; i < range.end; ++i) program_.copies[i].execute(program_.copies[i]);
    }

    std::string attempt(int stage, const char* what, const Transfer& t) const {
        return who(stage) + ": " + what + std::to_string(t.peer) + " (" + std::to_string(t.bytes) + " bytes)";
    }

    void post(int s) {
        const StageProgram& stage = program_.stages[static_cast<std::size_t>(s)];
        MPI_Request* request = requests_.data();
        for (std::size_t i = stage.received.begin; i < stage.received.end; ++i) {
            const Transfer& t = program_.transfers[i];
            check(MPI_Irecv(t.data, t.bytes, MPI_BYTE, t.peer, t.tag, communicator(), request++),
                  [&] { return attempt(s, "receiving from rank ", t); });
        }
        for (const auto& send : stage.sends) {
            copy(send.pack);
            for (std::size_t i = send.transfers.begin; i < send.transfers.end; ++i) {
                const Transfer& t = program_.transfers[i];
                check(MPI_Isend(t.data, t.bytes, MPI_BYTE, t.peer, t.tag, communicator(), request++),
                      [&] { return attempt(s, "sending to rank ", t); });
            }
        }
        copy(stage.local);
    }

    // The sends are waited for last, so that they progress while this rank unpacks.
    void complete(int s) {
        const StageProgram& stage = program_.stages[static_cast<std::size_t>(s)];
        wait_for(s, "receiving from rank ", stage.received, 0);
        check_lengths(s, stage.received);
        deliver(stage);
        wait_for(s, "sending to rank ", stage.sent, stage.received.size());
    }

    void wait_for(int s, const char* what, Range transfers, std::size_t first) {
        MPI_Status* statuses = statuses_.data() + first;
        const int n = static_cast<int>(transfers.size());
        const int code = MPI_Waitall(n, requests_.data() + first, statuses);
        if (code == MPI_SUCCESS) return;
        for (int i = 0; i < n && code == MPI_ERR_IN_STATUS; ++i)
            if (const int error = statuses[i].MPI_ERROR; error != MPI_SUCCESS && error != MPI_ERR_PENDING)
                check(error, [&] {
                    return attempt(s, what, program_.transfers[transfers.begin + static_cast<std::size_t>(i)]);
                });
        check(code, [&] { return who(s) + ": waiting"; });
    }

    // A longer message than expected is an error in MPI, a shorter one is not.
    void check_lengths(int s, Range received) const {
        for (std::size_t i = 0; i < received.size(); ++i) {
            const Transfer& t = program_.transfers[received.begin + i];
            int bytes = 0;
            MPI_Get_count(&statuses_[i], MPI_BYTE, &bytes);
            if (bytes != t.bytes)
                throw PlanError(attempt(s, "receiving from rank ", t) + ": only " + std::to_string(bytes) +
                                " bytes came");
        }
    }

    void deliver(const StageProgram& stage) const {
        copy(stage.unpack);
        for (const Combination& c : stage.combinations) {
            copy(c.fetch);
            // Into the first part until the own one is reached, from then on into that one.
            std::byte* result = c.parts[0];
            for (std::size_t i = 1; i < c.parts.size(); ++i) {
                std::byte* into = i == c.own ? c.parts[i] : result;
                combine_(into, result, c.parts[i], c.count);
                result = into;
            }
            copy(c.store);
        }
    }

    Program program_;
    Combine combine_;
    std::vector<MPI_Request> requests_;
    std::vector<MPI_Status> statuses_;
};

}  // namespace

std::unique_ptr<Plan> make_plan(const Schedule& schedule, MPI_Comm comm, const PlanRequest& request) {
    const Pattern& pattern = schedule.pattern();
    Combine combine = nullptr;
    Program program = prepare(comm, identity(pattern, schedule.algorithm(), request), [&] {
        const Rank rank = check_request(pattern, comm, request);
        if (pattern.reduces()) combine = combine_function(request.element, request.operation);
        return compile(schedule, rank, request, largest_tag(comm));
    });
    return std::make_unique<StagedPlan>(comm, pattern.describe() + ", " + schedule.algorithm(), std::move(program),
                                        combine);
}

}  // namespace tradewind
