#include "fieldserver/agreement.hpp"

#include <array>
#include <functional>

#include "mpi/agreement.hpp"
#include "mpi/error.hpp"

namespace tradewind::fieldserver {

void Agreement::note(const std::string& call) {
    ++calls_;
    digest_ = static_cast<std::int64_t>(std::hash<std::string>{}(call + std::to_string(digest_)) >> 1);
    last_ = call;
}

void Agreement::require_whole() const {
    if (!broken_.empty()) throw mpi::PlanError(broken_);
}

Agreement::State Agreement::state(bool failed) const {
    std::array<std::int64_t, 6> mine{failed ? rank() : ranks(), failed, calls_, -calls_, digest_, -digest_}, all{};
    mpi::check(MPI_Allreduce(mine.data(), all.data(), 6, MPI_INT64_T, MPI_MIN, comm()),
               [] { return std::string("comparing the calls of the ranks"); });
    return {static_cast<int>(all[0]), all[1] != 0, all[2] == -all[3] && all[4] == -all[5]};
}

void Agreement::check() {
    require_whole();
    if (calls_ == agreed_) return;
    const State all = state(false);
    if (all.failed < ranks()) {
        broken_ = "rank " + std::to_string(all.failed) + ": " + mpi::text_of(comm(), all.failed, "");
    } else if (!all.same) {
        try {
            mpi::agree(comm(), "call " + std::to_string(calls_) + ": " + last_, "");
        } catch (const mpi::PlanError& error) {
            broken_ = error.what();
        }
        const std::string of_plans = "the ranks make different plans";
        if (broken_.rfind(of_plans, 0) == 0)
            broken_ = "the ranks of the model make different calls" + broken_.substr(of_plans.size());
        if (broken_.empty()) broken_ = "the ranks of the model make different calls before " + last_;
    }
    require_whole();
    agreed_ = calls_;
}

void Agreement::fail(const std::string& problem) {
    if (!broken_.empty()) return;
    const State all = state(true);
    const std::string first = mpi::text_of(comm(), all.failed, problem);
    if (!all.all_failed || !all.same) broken_ = "rank " + std::to_string(all.failed) + ": " + first;
}

std::string Agreement::first_error(const std::string& local) const {
    const int failed = local.empty() ? ranks() : rank();
    int first = 0;
    mpi::check(MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, comm()),
               [] { return std::string("comparing the errors of the ranks"); });
    return first == ranks() ? "" : mpi::text_of(comm(), first, local);
}

}  // namespace tradewind::fieldserver
