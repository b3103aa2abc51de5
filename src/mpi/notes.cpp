#include "mpi/notes.hpp"

#include <algorithm>
#include <map>

#include "mpi/error.hpp"

namespace tradewind::mpi {

namespace {

using Note = std::vector<Index>;
constexpr Index numbers_a_block = 8;

// The ends of each peer's messages, as (stage, tag, number): the order at both ends.
struct Place {
    int stage, tag;
    std::size_t i;
    bool operator<(const Place& other) const { return std::pair(stage, tag) < std::pair(other.stage, other.tag); }
};
std::map<int, std::vector<Place>> by_peer(const Work& work, bool sends) {
    std::map<int, std::vector<Place>> found;
    for (int s = 0; s < work.stages(); ++s) {
        const auto& ends = sends ? work.stage(s).sends : work.stage(s).receives;
        for (std::size_t i = 0; i < ends.size(); ++i) found[ends[i].peer].push_back({s, ends[i].tag, i});
    }
    for (auto& [peer, places] : found) std::sort(places.begin(), places.end());
    return found;
}

std::vector<Block> read(const Note& note, std::size_t& at) {
    std::vector<Block> blocks(static_cast<std::size_t>(note[at++]));
    for (Block& b : blocks) {
        b.data = reinterpret_cast<std::byte*>(note[at]);
        b.run = note[at + 1];
        for (int a = 0; a < 3; ++a) {
            b.shape[a] = note[at + 2 + static_cast<std::size_t>(a)];
            b.stride[a] = note[at + 5 + static_cast<std::size_t>(a)];
        }
        at += numbers_a_block;
    }
    return blocks;
}

void write(const std::vector<Block>& blocks, Note& note) {
    note.push_back(static_cast<Index>(blocks.size()));
    for (const Block& b : blocks) {
        note.push_back(static_cast<Index>(reinterpret_cast<std::intptr_t>(b.data)));
        note.push_back(b.run);
        note.insert(note.end(), b.shape.begin(), b.shape.end());
        note.insert(note.end(), b.stride.begin(), b.stride.end());
    }
}

}  // namespace

Notes exchange_notes(const Work& work, bool from_sender, const Describe& describe) {
    const auto failed = [&] { return work.where(0) + ": sending peers the places of messages"; };
    const auto to_send = by_peer(work, from_sender), to_receive = by_peer(work, !from_sender);
    std::vector<Note> sent;
    std::vector<MPI_Request> requests;
    sent.reserve(to_send.size());  // MPI reads them while they are sent
    for (const auto& [peer, places] : to_send) {
        Note& note = sent.emplace_back();
        for (const Place& p : places) write(describe(p.stage, p.i), note);
        check(MPI_Isend(note.data(), static_cast<int>(note.size()), MPI_INT64_T, peer, 0, work.comm(),
                        &requests.emplace_back()),
              failed);
    }
    Notes notes(static_cast<std::size_t>(work.stages()));
    for (int s = 0; s < work.stages(); ++s)
        notes[static_cast<std::size_t>(s)].resize((from_sender ? work.stage(s).receives : work.stage(s).sends).size());
    for (const auto& [peer, places] : to_receive) {
        MPI_Status status;
        int count = 0;
        check(MPI_Probe(peer, 0, work.comm(), &status), failed);
        MPI_Get_count(&status, MPI_INT64_T, &count);
        Note note(static_cast<std::size_t>(count));
        check(MPI_Recv(note.data(), count, MPI_INT64_T, peer, 0, work.comm(), MPI_STATUS_IGNORE), failed);
        std::size_t at = 0;
        for (const Place& p : places) notes[static_cast<std::size_t>(p.stage)][p.i] = read(note, at);
    }
    check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), failed);
    return notes;
}

Describe places(const Work& work, bool of_sends) {
    return [&work, of_sends](int stage, std::size_t i) {
        return (of_sends ? work.stage(stage).sends : work.stage(stage).receives)[i].place();
    };
}

}  // namespace tradewind::mpi
