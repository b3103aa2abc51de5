#include "fieldserver/local_control.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>

#include "base/error.hpp"
#include "fieldserver/message.hpp"

namespace tradewind::fieldserver {

namespace {

struct Head {
    std::int64_t tag, bytes;
};

}  // namespace

LocalControl::LocalControl() {
    Message join(await(join_tag, start_s));
    const std::int64_t magic = join.integer(), version = join.integer();
    require_protocol("the local server", magic, version);
}

LocalControl::~LocalControl() {
    process_.finish(std::string_view(out_).substr(gone_));
}

void LocalControl::send(std::string order) {
    if (!problem_.empty()) return;
    const Head head{order_tag, static_cast<std::int64_t>(order.size())};
    out_.append(reinterpret_cast<const char*>(&head), sizeof head);
    out_ += order;
    flush();
}

void LocalControl::flush() {
    while (gone_ < out_.size() && problem_.empty()) {
        const ssize_t gone =
            ::send(process_.socket(), out_.data() + gone_, out_.size() - gone_, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (gone >= 0) {
            gone_ += static_cast<std::size_t>(gone);
            sent_bytes_ += static_cast<std::uint64_t>(gone);
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR) {
            close();
        }
    }
    out_.clear();
    gone_ = 0;
}

// A server that has ended may have sent messages before.
void LocalControl::close() {
    read_all();
    if (problem_.empty()) problem_ = process_.end();
}

void LocalControl::read_all() {
    std::array<char, 1 << 14> bytes;
    while (problem_.empty()) {
        const ssize_t come = recv(process_.socket(), bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (come > 0) {
            in_.append(bytes.data(), static_cast<std::size_t>(come));
        } else if (come == 0 || (errno != EAGAIN && errno != EINTR)) {
            problem_ = process_.end();
        } else if (errno == EAGAIN) {
            break;
        }
    }
    split_messages();
}

void LocalControl::split_messages() {
    std::size_t at = 0;
    Head head{};
    while (in_.size() - at >= sizeof head) {
        std::memcpy(&head, in_.data() + at, sizeof head);
        const auto bytes = static_cast<std::size_t>(head.bytes);
        if (in_.size() - at - sizeof head < bytes) break;
        received_[head.tag].push_back(in_.substr(at + sizeof head, bytes));
        at += sizeof head + bytes;
    }
    in_.erase(0, at);
}

std::optional<std::string> LocalControl::receive(ServerTag tag) {
    flush();
    read_all();
    std::deque<std::string>& come = received_[tag];
    if (come.empty()) return {};
    std::string message = std::move(come.front());
    come.pop_front();
    return message;
}

void LocalControl::finish() {
    for (flush(); !out_.empty() && problem_.empty(); flush()) {
        pollfd socket{process_.socket(), POLLOUT, 0};
        poll(&socket, 1, -1);
    }
}

std::string LocalControl::await(ServerTag tag, double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    for (;;) {
        if (auto message = receive(tag)) return *message;
        if (!problem_.empty()) throw InputError("a local server does not start: " + problem_);
        if (Clock::now() > end)
            throw InputError("a local server does not start: no message from it within " +
                             std::to_string(static_cast<int>(seconds)) + " s");
        rest();
    }
}

void LocalControl::kill() {
    process_.kill();
    read_all();
}

}  // namespace tradewind::fieldserver
