#include "mpi/checksums.hpp"

#include <algorithm>

#include "mpi/error.hpp"

namespace tradewind::mpi {

namespace {

constexpr int first_tag = 16384;  // those of messages are below (see mpi/program.cpp)

}  // namespace

Checksums::Checksums(const Work& work) : work_(work) {
    std::size_t sends = 0, receives = 0;
    for (const StageProgram& stage : work.program.stages) {
        sends = std::max(sends, stage.sends.size());
        receives = std::max(receives, stage.receives.size());
    }
    sent_.resize(sends);
    received_.resize(receives);
    announced_.resize(receives);
    requests_.resize(sends + receives, MPI_REQUEST_NULL);
    if (!work.program.copier) return;
    Index longest = 0;
    for (const StageProgram& s : work.program.stages)
        for (const auto* ends : {&s.sends, &s.receives})
            for (const End& end : *ends) longest = std::max(longest, end.bytes);
    staging_ = Memory(longest);
    mirror_ = PlanMemory(longest, work.program.copier);
    for (const StageProgram& s : work.program.stages) {
        stage(s.sends);
        stage(s.receives);
    }
}

void Checksums::stage(const std::vector<End>& ends) {
    for (const End& end : ends) {
        std::vector<StridedCopy>& copies = staged_[&end];
        append_copies(end.memory, {buffer_block(mirror_.data(), end.bytes, work_.program.copier.get())}, Stores::cached,
                      copies);
        compile(copies);
    }
}

std::uint64_t Checksums::sum_of(const End& end) const {
    const auto staged = staged_.find(&end);
    if (staged == staged_.end()) return checksum(end.memory);
    work_.program.copier->copy(staged->second.data(), staged->second.size());
    return sum_of(mirror_.data(), end.bytes);
}

std::uint64_t Checksums::sum_of(const std::byte* device, Index bytes) const {
    work_.program.copier->to_host(staging_.data(), device, bytes);
    work_.program.copier->finish();
    return checksum({buffer_block(staging_.data(), bytes)});
}

void Checksums::before(int s) {
    const auto failed = [&] { return work_.where(s) + ": sending checksums"; };
    const StageProgram& stage = work_.stage(s);
    MPI_Request* request = requests_.data();
    under_way_ = true;
    for (std::size_t i = 0; i < stage.receives.size(); ++i) {
        const End& end = stage.receives[i];
        check(MPI_Irecv(&announced_[i], 1, MPI_UINT64_T, end.peer, first_tag + end.tag, work_.comm(), request++),
              failed);
    }
    for (std::size_t i = 0; i < stage.sends.size(); ++i) {
        const End& end = stage.sends[i];
        sent_[i] = sum_of(end);
        check(MPI_Isend(&sent_[i], 1, MPI_UINT64_T, end.peer, first_tag + end.tag, work_.comm(), request++), failed);
    }
}

void Checksums::arrived(int s) {
    const StageProgram& stage = work_.stage(s);
    if (!stage.combines()) return;
    for (std::size_t i = 0; i < stage.receives.size(); ++i) {
        const End& end = stage.receives[i];
        const bool on_device = end.mirror && !end.staged();
        received_[i] = on_device ? sum_of(end.buffer, end.bytes) : checksum(end.place());
    }
}

void Checksums::after(int s) {
    const StageProgram& stage = work_.stage(s);
    if (!stage.combines())
        for (std::size_t i = 0; i < stage.receives.size(); ++i) received_[i] = sum_of(stage.receives[i]);
    wait_all(
        static_cast<int>(stage.sends.size() + stage.receives.size()), requests_.data(), MPI_STATUSES_IGNORE,
        work_.request.watchdog_s, [&] { return work_.where(s); }, [](int) { return std::string("checksums"); });
    under_way_ = false;
    for (std::size_t i = 0; i < stage.receives.size(); ++i)
        if (received_[i] != announced_[i]) {
            const End& end = stage.receives[i];
            throw PlanError(work_.where(s) + ": the message of rank " + std::to_string(end.peer) + " (tag " +
                            std::to_string(end.tag) + ", " + std::to_string(end.bytes) +
                            " bytes) is not what was sent: the checksums of its two ends differ");
        }
}

}  // namespace tradewind::mpi
