#include "fieldserver/status.hpp"

#include <algorithm>
#include <set>

#include "mpi/agreement.hpp"
#include "mpi/error.hpp"

namespace tradewind::fieldserver {

namespace {

constexpr std::size_t row = most_slots + 2;  // of a channel: slots, finished, lost

std::string exchanging_status() {
    return "exchanging the status of the servers";
}

}  // namespace

void Status::exchange(const std::vector<Channel*>& in_use, bool wait) {
    complete();
    status_.assign(channels_.size() * row + 1, 0);
    if (agreement_.rank() == 0) {
        for (Channel* channel : in_use) {
            channel->receive();
            for (const std::string& error : channel->errors) keep(error);
            channel->errors.clear();
        }
        for (std::size_t i = 0; i < channels_.size(); ++i) {
            const ServerStatus& received = channels_[i]->received;
            std::copy(received.released.begin(), received.released.end(), &status_[i * row]);
            status_[i * row + most_slots] = received.finished;
        }
        status_.back() = received_errors_;
    }
    for (std::size_t i = 0; i < channels_.size(); ++i)
        status_[i * row + most_slots + 1] = channels_[i]->received.lost || !channels_[i]->gone.empty();
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
        channels_[i]->learn(status);
    }
    known_errors_ = std::max(known_errors_, status_.back());
}

void Status::keep(const std::string& error) {
    errors_.push_back(error);
    ++received_errors_;
}

void Status::note_error(const std::string& text) {
    if (agreement_.rank() == 0) keep(text);
}

std::string Status::take_errors() {
    if (known_errors_ <= taken_errors_) return "";
    std::string text;
    std::set<std::string> known;
    for (Index i = taken_errors_; i < known_errors_ && !errors_.empty(); ++i) {
        if (known.insert(errors_.front()).second) text += (text.empty() ? "" : "\n") + errors_.front();
        errors_.pop_front();
    }
    taken_errors_ = known_errors_;
    return mpi::text_of(agreement_.comm(), 0, text);
}

}  // namespace tradewind::fieldserver
