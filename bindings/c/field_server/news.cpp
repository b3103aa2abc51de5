#include "news.hpp"

#include <algorithm>
#include <set>

#include "mpi/agreement.hpp"
#include "mpi/error.hpp"

namespace tradewind::c {

namespace {

constexpr std::size_t row = most_slots + 2;  // of a channel: slots, finished, lost

std::string telling_news() {
    return "telling of the servers";
}

}  // namespace

void News::exchange(const std::vector<Channel*>& in_use, bool wait) {
    complete();
    news_.assign(channels_.size() * row + 1, 0);
    if (agreement_.rank() == 0) {
        for (Channel* channel : in_use) {
            channel->listen();
            for (const std::string& error : channel->errors) keep(error);
            channel->errors.clear();
        }
        for (std::size_t i = 0; i < channels_.size(); ++i) {
            const ServerNews& heard = channels_[i]->heard;
            std::copy(heard.released.begin(), heard.released.end(), &news_[i * row]);
            news_[i * row + most_slots] = heard.finished;
        }
        news_.back() = heard_errors_;
    }
    for (std::size_t i = 0; i < channels_.size(); ++i)
        news_[i * row + most_slots + 1] = channels_[i]->heard.lost || !channels_[i]->gone.empty();
    mpi::check(MPI_Iallreduce(MPI_IN_PLACE, news_.data(), static_cast<int>(news_.size()), MPI_INT64_T, MPI_MAX,
                              agreement_.comm(), &coming_),
               telling_news);
    if (wait) complete();
}

void News::complete() {
    if (coming_ == MPI_REQUEST_NULL) return;
    mpi::check(MPI_Wait(&coming_, MPI_STATUS_IGNORE), telling_news);
    apply();
}

void News::apply() {
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        ServerNews said;
        std::copy_n(&news_[i * row], most_slots, said.released.begin());
        said.finished = news_[i * row + most_slots];
        said.lost = news_[i * row + most_slots + 1];
        channels_[i]->learn(said);
    }
    told_errors_ = std::max(told_errors_, news_.back());
}

void News::keep(const std::string& error) {
    errors_.push_back(error);
    ++heard_errors_;
}

void News::note_error(const std::string& text) {
    if (agreement_.rank() == 0) keep(text);
}

std::string News::take_errors() {
    if (told_errors_ <= taken_errors_) return "";
    std::string text;
    std::set<std::string> said;
    for (Index i = taken_errors_; i < told_errors_ && !errors_.empty(); ++i) {
        if (said.insert(errors_.front()).second) text += (text.empty() ? "" : "\n") + errors_.front();
        errors_.pop_front();
    }
    taken_errors_ = told_errors_;
    return mpi::text_of(agreement_.comm(), 0, text);
}

}  // namespace tradewind::c
