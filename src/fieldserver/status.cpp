#include "fieldserver/status.hpp"

#include <algorithm>
#include <deque>
#include <set>

#include "mpi/agreement.hpp"
#include "mpi/error.hpp"

namespace tradewind::fieldserver {

namespace {

constexpr std::size_t row = most_slots + 3;  // of a channel: slots, finished, lost, errors

std::string exchanging_status() {
    return "exchanging the status of the servers";
}

}  // namespace

void Status::exchange(const std::vector<Channel*>& in_use, bool wait) {
    complete();
    status_.assign(channels_.size() * row, 0);
    for (Channel* channel : in_use)
        if (channel->control) channel->receive();
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        const ServerStatus& received = channels_[i]->received;
        std::copy(received.released.begin(), received.released.end(), &status_[i * row]);
        status_[i * row + most_slots] = received.finished;
        status_[i * row + most_slots + 1] = received.lost || !channels_[i]->gone.empty();
        status_[i * row + most_slots + 2] = received.errors;
    }
    mpi::check(MPI_Iallreduce(MPI_IN_PLACE, status_.data(), static_cast<int>(status_.size()), MPI_INT64_T, MPI_MAX,
                              agreement_.comm(), &coming_),
               exchanging_status);
    if (wait) complete();
}

void Status::complete() {
    if (coming_ == MPI_REQUEST_NULL) return;
    mpi::check(MPI_Wait(&coming_, MPI_STATUS_IGNORE), exchanging_status);
    apply();
}

void Status::apply() {
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        ServerStatus status;
        std::copy_n(&status_[i * row], most_slots, status.released.begin());
        status.finished = status_[i * row + most_slots];
        status.lost = status_[i * row + most_slots + 1];
        status.errors = status_[i * row + most_slots + 2];
        channels_[i]->learn(status);
    }
}

std::string Status::take_errors() {
    std::vector<std::string> found;
    found.swap(notes_);
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        std::deque<std::string>& errors = channels_[i]->errors;
        Index& taken = taken_errors_[i];
        if (channels_[i]->known.errors <= taken) continue;
        std::string mine;
        for (; taken < channels_[i]->known.errors && !errors.empty(); ++taken) {
            mine += (mine.empty() ? "" : "\n") + errors.front();
            errors.pop_front();
        }
        taken = channels_[i]->known.errors;
        found.push_back(mpi::text_of(agreement_.comm(), channels_[i]->root(), mine));
    }
    std::string text;
    std::set<std::string> known;
    for (const std::string& each : found)
        if (known.insert(each).second) text += (text.empty() ? "" : "\n") + each;
    return text;
}

}  // namespace tradewind::fieldserver
