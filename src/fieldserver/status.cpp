#include "fieldserver/status.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/text.hpp"
#include "mpi/agreement.hpp"
#include "mpi/error.hpp"

namespace tradewind::fieldserver {

namespace {

constexpr std::size_t row = most_slots + 2;  // of a channel: slots, finished, lost

std::string exchanging_status() {
    return "exchanging the status of the servers";
}

// Adds the lines of a text that are not there yet.
void add_lines(std::vector<std::string>& lines, const std::string& text) {
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
}

}  // namespace

void Status::receive(Channel& channel) {
    channel.receive();
    for (const std::string& error : channel.errors) keep(error);
    channel.errors.clear();
}

// Values that are not this rank's to send are 0, so that sums are what the one rank sends that has it.
void Status::exchange(const std::vector<Channel*>& in_use, bool wait) {
    complete();
    status_.assign(channels_.size() * row + 1, 0);
    for (Channel* channel : in_use)
        if (channel->is_here()) receive(*channel);
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        const Channel& channel = *channels_[i];
        std::copy(channel.received.released.begin(), channel.received.released.end(), &status_[i * row]);
        status_[i * row + most_slots] = channel.received.finished;
        status_[i * row + most_slots + 1] = channel.received.lost || !channel.gone.empty();
    }
    status_.back() = received_errors_;
    mpi::check(MPI_Iallreduce(MPI_IN_PLACE, status_.data(), static_cast<int>(status_.size()), MPI_INT64_T, MPI_SUM,
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
    for (std::size_t i = 0; (i + 1) * row < status_.size(); ++i) {
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

std::vector<std::string> Status::take_errors() {
    if (known_errors_ <= taken_errors_) return {};
    taken_errors_ = known_errors_;
    const std::vector<std::string> all = mpi::texts_of(agreement_.comm(), joined(errors_, "\n"));
    errors_.clear();
    std::vector<std::string> found;
    for (const std::string& each : all) add_lines(found, each);
    return found;
}

std::vector<std::string> Status::take_own_errors(const std::vector<Channel*>& in_use) {
    for (Channel* channel : in_use)
        if (channel->is_here()) receive(*channel);
    std::vector<std::string> found;
    for (const std::string& each : std::exchange(errors_, {})) add_lines(found, each);
    return found;
}

}  // namespace tradewind::fieldserver
