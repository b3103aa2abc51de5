#include "mpi/sparse.hpp"

#include <algorithm>

#include "mpi/error.hpp"

namespace tradewind::mpi {

namespace {

std::string exchanging_messages() {
    return "exchanging messages between ranks";
}

int length_of(const PeerMessage& message) {
    return static_cast<int>(message.words.size());
}

void receive(MPI_Comm comm, int tag, const MPI_Status& status, std::vector<PeerMessage>& came) {
    int count = 0;
    MPI_Get_count(&status, MPI_INT64_T, &count);
    PeerMessage& message = came.emplace_back(PeerMessage{status.MPI_SOURCE, {}});
    message.words.resize(static_cast<std::size_t>(count));
    check(MPI_Recv(message.words.data(), count, MPI_INT64_T, status.MPI_SOURCE, tag, comm, MPI_STATUS_IGNORE),
          exchanging_messages);
}

void sort(std::vector<PeerMessage>& messages) {
    std::sort(messages.begin(), messages.end(),
              [](const PeerMessage& a, const PeerMessage& b) { return a.peer < b.peer; });
}

}  // namespace

std::string too_long(Rank rank, const std::vector<PeerMessage>& messages, std::size_t longest) {
    for (const PeerMessage& message : messages)
        if (message.words.size() > longest)
            return "rank " + std::to_string(rank) + " has " + std::to_string(message.words.size()) +
                   " numbers to send rank " + std::to_string(message.peer) + " at once: up to " +
                   std::to_string(longest) + " are allowed, as MPI counts";
    return "";
}

std::vector<PeerMessage> exchange_sparsely(MPI_Comm comm, int tag, const std::vector<PeerMessage>& messages) {
    std::vector<MPI_Request> sends;
    for (const PeerMessage& message : messages)
        check(MPI_Issend(message.words.data(), length_of(message), MPI_INT64_T, message.peer, tag, comm,
                         &sends.emplace_back()),
              exchanging_messages);
    std::vector<PeerMessage> came;
    MPI_Request barrier = MPI_REQUEST_NULL;
    for (int over = 0; !over;) {
        int found = 0;
        MPI_Status status;
        check(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &found, &status), exchanging_messages);
        if (found) receive(comm, tag, status, came);
        if (barrier != MPI_REQUEST_NULL) {
            check(MPI_Test(&barrier, &over, MPI_STATUS_IGNORE), exchanging_messages);
            continue;
        }
        int sent = 0;
        check(MPI_Testall(static_cast<int>(sends.size()), sends.data(), &sent, MPI_STATUSES_IGNORE),
              exchanging_messages);
        if (sent) check(MPI_Ibarrier(comm, &barrier), exchanging_messages);
    }
    sort(came);
    return came;
}

std::vector<PeerMessage> exchange_among(MPI_Comm comm, int tag, const std::vector<Rank>& peers,
                                        std::vector<PeerMessage> messages) {
    for (const Rank peer : peers)
        if (std::none_of(messages.begin(), messages.end(), [=](const PeerMessage& l) { return l.peer == peer; }))
            messages.push_back({peer, {}});
    std::vector<MPI_Request> sends;
    for (const PeerMessage& message : messages)
        check(MPI_Isend(message.words.data(), length_of(message), MPI_INT64_T, message.peer, tag, comm,
                        &sends.emplace_back()),
              exchanging_messages);
    std::vector<PeerMessage> came;
    for (const Rank peer : peers) {
        MPI_Status status;
        check(MPI_Probe(peer, tag, comm, &status), exchanging_messages);
        receive(comm, tag, status, came);
    }
    check(MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE), exchanging_messages);
    return came;
}

}  // namespace tradewind::mpi
