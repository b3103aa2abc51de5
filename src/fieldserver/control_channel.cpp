#include "fieldserver/control_channel.hpp"

#include <chrono>
#include <thread>

#include "base/error.hpp"
#include "mpi/error.hpp"

namespace tradewind::fieldserver {

namespace {

constexpr std::chrono::microseconds pause{100};
constexpr std::chrono::milliseconds between_calls{20};  // of `on_rest`, which may wait for other threads

std::string exchanging() {
    return "exchanging messages with a server";
}

}  // namespace

void rest() {
    using Clock = std::chrono::steady_clock;
    static Clock::time_point called = Clock::now();
    std::this_thread::sleep_for(pause);
    if (!on_rest || Clock::now() - called < between_calls) return;
    called = Clock::now();
    on_rest();
}

void require_protocol(const std::string& who, std::int64_t magic, std::int64_t version) {
    if (magic != server_magic) throw InputError(who + " opens no field server");
    if (version != server_protocol)
        throw InputError(who + " uses protocol version " + std::to_string(version) +
                         " of the field server, this library version " + std::to_string(server_protocol) +
                         ": install the same Tradewind for model and servers");
}

// Messages that a server which is lost has not taken, MPI still sends from here: they are kept for good.
RankChannel::~RankChannel() {
    int over = 0;
    MPI_Finalized(&over);
    if (sent_.empty() || over) return;
    sent_.remove_if([](Sent& sent) {
        int gone = 0;
        return MPI_Test(&sent.request, &gone, MPI_STATUS_IGNORE) == MPI_SUCCESS && gone != 0;
    });
    if (!sent_.empty()) new std::list<Sent>(std::move(sent_));
}

void RankChannel::send(std::string order) {
    sent_.remove_if([](Sent& sent) {
        int gone = 0;
        mpi::check(MPI_Test(&sent.request, &gone, MPI_STATUS_IGNORE), exchanging);
        return gone != 0;
    });
    Sent& sent = sent_.emplace_back(Sent{MPI_REQUEST_NULL, std::move(order)});
    mpi::check(MPI_Isend(sent.text.data(), static_cast<int>(sent.text.size()), MPI_BYTE, peer_, order_tag, comm_,
                         &sent.request),
               exchanging);
}

std::optional<std::string> RankChannel::receive(ServerTag tag) {
    int there = 0, bytes = 0;
    MPI_Status status;
    mpi::check(MPI_Iprobe(peer_, tag, comm_, &there, &status), exchanging);
    if (!there) return {};
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    std::string text(static_cast<std::size_t>(bytes), '\0');
    mpi::check(MPI_Recv(text.data(), bytes, MPI_BYTE, peer_, tag, comm_, MPI_STATUS_IGNORE), exchanging);
    return text;
}

void RankChannel::finish() {
    for (Sent& sent : sent_) mpi::check(MPI_Wait(&sent.request, MPI_STATUS_IGNORE), exchanging);
    sent_.clear();
}

}  // namespace tradewind::fieldserver
