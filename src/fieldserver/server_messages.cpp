#include "fieldserver/server_messages.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "mpi/agreement.hpp"
#include "mpi/error.hpp"

namespace tradewind::fieldserver {

namespace {

std::string seconds_text(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%g s", seconds);
    return text;
}

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

ServerMessages::ServerMessages(int root, std::unique_ptr<ControlChannel> server, double patience,
                               const Agreement& agreement)
    : control(std::move(server)),
      patience_(patience),
      remote_(true),
      root_(root),
      agreement_(agreement),
      silence_(patience, seconds_now()) {}

ServerMessages::ServerMessages(std::unique_ptr<LocalWriter> writer, int root, const Agreement& agreement)
    : remote_(false), root_(root), writer_(std::move(writer)), agreement_(agreement), silence_(0, 0) {}

void ServerMessages::send_text(std::string order, const std::vector<WholeField>& fields) {
    if (writer_) reply_ = writer_->carry_out(order, fields);
    if (control) control->send(std::move(order));
}

// On the root. Throws PlanError where nothing comes any more.
std::string ServerMessages::received_or_lost(ServerTag tag) {
    silence_.end(seconds_now());
    for (std::uint64_t sent = control->sent_bytes();;) {
        if (!gone.empty()) throw mpi::PlanError(gone);
        if (auto value = control->receive(tag)) return *value;
        if (sent != control->sent_bytes()) silence_.end(seconds_now());
        sent = control->sent_bytes();
        receive_status();
        if (gone.empty() && silence_.seconds(seconds_now()) > patience_)
            gone = "it did not answer for " + seconds_text(patience_);
        rest();
    }
}

// "+" and the reply, or "-" and why there is none.
std::string ServerMessages::remote_reply(ServerTag tag, bool go) {
    try {
        const std::string message = received_or_lost(tag);
        if (go && message.empty()) send_order({{"op", "go"}});
        return "+" + message;
    } catch (const mpi::PlanError& error) {
        gone = error.what();
        return "-" + gone;
    }
}

std::optional<std::string> ServerMessages::reply(ServerTag tag, bool go) {
    if (!is_remote()) return mpi::text_of(agreement_.comm(), root_, reply_);
    const std::string message = mpi::text_of(agreement_.comm(), root_, control ? remote_reply(tag, go) : "");
    if (message[0] == '+') return message.substr(1);
    lost = message.substr(1);
    return {};
}

void ServerMessages::update(Message status) {
    silence_.end(seconds_now());
    received.finished = std::max(received.finished, status.integer());
    const std::vector<std::int64_t> released = status.integers();
    for (std::size_t i = 0; i + 1 < released.size(); i += 2) {
        const auto slot = static_cast<std::size_t>(released[i]);
        if (slot < most_slots) received.released[slot] = std::max(received.released[slot], released[i + 1]);
    }
    for (const std::string& error : status.texts()) errors.push_back(error);
    if (const std::string why = status.text(); !why.empty()) gone = why;
}

// An unparsable message marks the server as lost.
void ServerMessages::receive_status() {
    if (writer_) return update(Message(writer_->status()));
    try {
        while (auto status = control->receive(status_tag)) update(Message(std::move(*status)));
    } catch (const mpi::PlanError& error) {
        gone = error.what();
    }
    if (gone.empty()) gone = control->problem();
}

void ServerMessages::receive(Index parts) {
    receive_status();
    if (!is_remote()) return;
    const bool has_work = received.finished < parts || awaited;
    if (silence_.is_too_long(has_work, seconds_now()) && gone.empty())
        gone = "it gave no sign of life for " + seconds_text(patience_);
    received.lost = !gone.empty();
}

std::optional<std::string> ServerMessages::await_end() {
    silence_.end(seconds_now());
    std::optional<std::string> figures;
    while (!(figures = control->receive(end_tag))) {
        receive_status();
        if (!control->problem().empty()) return control->receive(end_tag);
        if (silence_.seconds(seconds_now()) > patience_) return {};
        rest();
    }
    receive_status();
    control->finish();
    return figures;
}

}  // namespace tradewind::fieldserver
