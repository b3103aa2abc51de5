#include "fieldserver/server_messages.hpp"

#include <algorithm>
#include <cstdio>
#include <thread>
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

}  // namespace

void ServerMessages::send_text(std::string order) {
    if (control) control->send(std::move(order));
}

// On the root. Throws PlanError where nothing comes any more.
std::string ServerMessages::received_or_lost(ServerTag tag) {
    received_at_ = Clock::now();
    for (;;) {
        if (!gone.empty()) throw mpi::PlanError(gone);
        if (auto value = control->receive(tag)) return *value;
        receive_status();
        if (gone.empty() && silent_s() > patience_) gone = "it did not answer for " + seconds_text(patience_);
        std::this_thread::sleep_for(pause);
    }
}

std::optional<std::string> ServerMessages::reply(ServerTag tag, bool go) {
    std::string message;  // "+" and the reply, or "-" and why there is none
    if (control) {
        try {
            message = "+" + received_or_lost(tag);
            if (go && message == "+") send_order({{"op", "go"}});
        } catch (const mpi::PlanError& error) {
            gone = error.what();
            message = "-" + gone;
        }
    }
    message = mpi::text_of(agreement_.comm(), root_, message);
    if (message[0] == '+') return message.substr(1);
    lost = message.substr(1);
    return {};
}

void ServerMessages::update(Message status) {
    received_at_ = Clock::now();
    received.finished = std::max(received.finished, status.integer());
    const std::vector<std::int64_t> released = status.integers();
    for (std::size_t i = 0; i + 1 < released.size(); i += 2) {
        const auto slot = static_cast<std::size_t>(released[i]);
        if (slot < most_slots) received.released[slot] = std::max(received.released[slot], released[i + 1]);
    }
    for (const std::string& error : status.texts()) {
        errors.push_back(error);
        ++received.errors;
    }
    if (const std::string why = status.text(); !why.empty()) gone = why;
}

// An unparsable message marks the server as lost.
void ServerMessages::receive_status() {
    try {
        while (auto status = control->receive(status_tag)) update(Message(std::move(*status)));
    } catch (const mpi::PlanError& error) {
        gone = error.what();
    }
    if (gone.empty()) gone = control->problem();
}

void ServerMessages::receive(Index parts) {
    receive_status();
    const bool owes = received.finished < parts || awaited;
    if (owes && !owing_) owing_since_ = Clock::now();
    owing_ = owes;
    const double waited_s = std::chrono::duration<double>(Clock::now() - std::max(owing_since_, received_at_)).count();
    if (owes && gone.empty() && waited_s > patience_) gone = "it gave no sign of life for " + seconds_text(patience_);
    received.lost = !gone.empty();
}

bool ServerMessages::await_end() {
    received_at_ = Clock::now();
    while (!control->receive(end_tag)) {
        receive_status();
        if (!control->problem().empty()) return control->receive(end_tag).has_value();
        if (silent_s() > patience_) return false;
        std::this_thread::sleep_for(pause);
    }
    receive_status();
    control->finish();
    return true;
}

}  // namespace tradewind::fieldserver
