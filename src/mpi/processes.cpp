#include "mpi/processes.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "mpi/error.hpp"

namespace tradewind::mpi {

namespace {

// A buffer goes in pieces: a first one, for which the receiver has room before it comes, and where that is full, others
// of any size. A piece that is full has another behind it, be it empty.
constexpr std::size_t first_piece = std::size_t{1} << 14, next_pieces = std::size_t{1} << 30;
enum PieceTag : int { first_piece_tag = 1, next_piece_tag = 2, gathered_piece_tag = 3 };

std::string exchanging_processes() {
    return "exchanging messages of the processes that share a simulation";
}

void* memory(std::span<const std::byte> bytes) {
    return const_cast<std::byte*>(bytes.data());
}

std::size_t received_bytes(const MPI_Status& status) {
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    return static_cast<std::size_t>(count);
}

// Calls `send` with pieces of limited size.
template <class Send>
void in_pieces(std::span<const std::byte> bytes, Send send) {
    for (;;) {
        const std::span<const std::byte> piece = bytes.first(std::min(bytes.size(), next_pieces));
        send(piece);
        if (piece.size() < next_pieces) return;
        bytes = bytes.subspan(piece.size());
    }
}

// MPI itself would go on asking, at full speed, whether something has come: where there are more processes than cores,
// the one that is waited for needs this one's. (To yield is worse: other programs on the machine take it.)
template <class Done>
void wait_until(Done done) {
    constexpr int impatient = 1000;
    constexpr std::chrono::microseconds nap{20};
    for (int tries = 0; !done(); ++tries)
        if (tries >= impatient) std::this_thread::sleep_for(nap);
}

void receive_pieces(ByteBuffer& buffer, int from, int tag, MPI_Comm comm) {
    for (;;) {
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        wait_until([&] {
            int found = 0;
            check(MPI_Improbe(from, tag, comm, &found, &message, &status), exchanging_processes);
            return found != 0;
        });
        const std::size_t bytes = received_bytes(status);
        check(MPI_Mrecv(buffer.add(bytes), static_cast<int>(bytes), MPI_BYTE, &message, &status), exchanging_processes);
        if (bytes < next_pieces) return;
    }
}

}  // namespace

// An error in a collective function leaves the others waiting, so the connection is cut.
template <class Action>
void Processes::severing(Action action) {
    try {
        comm_.require_usable();
        action();
    } catch (...) {
        sever();
        throw;
    }
}

std::int64_t Processes::minimum(std::int64_t value) {
    std::int64_t minimum = value;
    severing(
        [&] { check(MPI_Allreduce(&value, &minimum, 1, MPI_INT64_T, MPI_MIN, comm_.handle()), exchanging_processes); });
    return minimum;
}

void Processes::swap(const std::vector<ByteBuffer>& out, std::vector<ByteBuffer>& in) {
    severing([&] {
        expect(in);
        sends_.clear();
        for (int p = 0; p < processes(); ++p)
            if (p != process()) send(out[static_cast<std::size_t>(p)].bytes(), p);
        for (int left = processes() - 1; left > 0; --left) {
            int p = 0;
            MPI_Status status;
            wait_until([&] {
                int found = 0;
                check(MPI_Testany(processes(), receives_.data(), &p, &found, &status), exchanging_processes);
                return found != 0;
            });
            ByteBuffer& buffer = in[static_cast<std::size_t>(p)];
            buffer.shrink(received_bytes(status));
            if (buffer.bytes().size() == first_piece) receive_pieces(buffer, p, next_piece_tag, comm_.handle());
        }
        wait_until([&] {
            int sent = 0;
            check(MPI_Testall(static_cast<int>(sends_.size()), sends_.data(), &sent, MPI_STATUSES_IGNORE),
                  exchanging_processes);
            return sent != 0;
        });
    });
}

// Makes room for the first piece of each buffer.
void Processes::expect(std::vector<ByteBuffer>& in) {
    receives_.assign(static_cast<std::size_t>(processes()), MPI_REQUEST_NULL);
    for (int p = 0; p < processes(); ++p) {
        if (p == process()) continue;
        const auto at = static_cast<std::size_t>(p);
        in[at].clear();
        check(MPI_Irecv(in[at].add(first_piece), first_piece, MPI_BYTE, p, first_piece_tag, comm_.handle(),
                        &receives_[at]),
              exchanging_processes);
    }
}

void Processes::send(std::span<const std::byte> buffer, int to) {
    const auto begin = [&](std::span<const std::byte> piece, int tag) {
        check(MPI_Isend(memory(piece), static_cast<int>(piece.size()), MPI_BYTE, to, tag, comm_.handle(),
                        &sends_.emplace_back()),
              exchanging_processes);
    };
    const std::span<const std::byte> first = buffer.first(std::min(buffer.size(), first_piece));
    begin(first, first_piece_tag);
    if (first.size() == first_piece)
        in_pieces(buffer.subspan(first_piece), [&](std::span<const std::byte> piece) { begin(piece, next_piece_tag); });
}

void Processes::gather(const ByteBuffer& mine, const std::function<void(int, std::span<const std::byte>)>& use) {
    severing([&] {
        if (process() > 0) {
            in_pieces(mine.bytes(), [&](std::span<const std::byte> piece) {
                check(MPI_Send(memory(piece), static_cast<int>(piece.size()), MPI_BYTE, 0, gathered_piece_tag,
                               comm_.handle()),
                      exchanging_processes);
            });
            return;
        }
        ByteBuffer buffer;
        for (int p = 1; p < processes(); ++p) {
            buffer.clear();
            receive_pieces(buffer, p, gathered_piece_tag, comm_.handle());
            use(p, buffer.bytes());
        }
    });
}

}  // namespace tradewind::mpi
