#pragma once

#include <numeric>

#include "recorder/handlers/point_to_point.hpp"

namespace tradewind::recorder {

/// The rank's side of a collective operation: bytes that it gives and obtains, for all functions the same way.
template <class C>
class Collective {
  public:
    Collective(C& call, Event& event) : call_(call), event_(event), info_(set_communicator(event, call.comm)) {
        if constexpr (requires { call.root; }) event.operation.peer = info_.world_root(int_of(call.root));
        add_request(call, event);
    }

    const CommunicatorInfo& info() const { return info_; }
    std::size_t size() const { return info_.size(); }
    bool is_root() const {
        const int root = int_of(call_.root);
        return info_.has_remote ? root == abi().root : root == info_.rank;
    }
    /// Whether this rank is neither root nor of the group that the root serves.
    bool is_idle() const { return info_.has_remote && int_of(call_.root) == abi().proc_null; }
    bool is_in_place() const {
        if constexpr (requires { call_.sendbuf; }) return call_.sendbuf == abi().in_place;
        return false;
    }
    bool receives_in_place() const { return call_.recvbuf == abi().in_place; }

    std::int64_t send_size() const { return typed(call_.type) * count(call_, call_.count); }
    std::int64_t receive_size() const { return typed(call_.recvtype) * count(call_, call_.recvcount); }

    void gives(std::int64_t bytes) { event_.operation.bytes = bytes; }
    void obtains(std::int64_t bytes) { event_.operation.received = bytes; }

    /// Gives each rank, or neighbor, what a list of counts says.
    void gives_each(Word counts, Word type, std::size_t length) {
        const std::int64_t size = typed(type);
        for (std::size_t n = 0; n < length; n++) give(count_at(call_, counts, n) * size);
    }
    void gives_each_of(Word counts, Word types, std::size_t length) {
        for (std::size_t n = 0; n < length; n++) give(typed_size(counts, types, n));
    }
    void obtains_each(Word counts, Word type, std::size_t length) {
        const std::int64_t size = type_of(type).size;
        for (std::size_t n = 0; n < length; n++) event_.operation.received += count_at(call_, counts, n) * size;
    }
    void obtains_each_of(Word counts, Word types, std::size_t length) {
        for (std::size_t n = 0; n < length; n++) event_.operation.received += typed_size(counts, types, n);
    }

  private:
    static const TypeInfo& type_of(Word type) { return recorder.types[handle(type)]; }
    std::int64_t typed(Word type) const {
        const TypeInfo& info = type_of(type);
        if (event_.operation.type == NONE) event_.operation.type = info.number;
        return info.size;
    }
    std::int64_t typed_size(Word counts, Word types, std::size_t n) const {
        const std::int64_t many = count_at(call_, counts, n);
        return many == 0 ? 0 : many * recorder.types[handle_at(types, n)].size;
    }
    void give(std::int64_t bytes) {
        event_.lists.blocks.push_back(bytes);
        event_.operation.bytes += bytes;
    }

    C& call_;
    Event& event_;
    const CommunicatorInfo& info_;
};

struct Barrier : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        Collective<C>(call, event);
    }
};

struct Bcast : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        Collective<C> all(call, event);
        if (all.is_root())
            all.gives(all.send_size());
        else if (!all.is_idle())
            all.obtains(all.send_size());
    }
};

struct Reduce : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        Collective<C> all(call, event);
        const bool in_remote_root = all.info().has_remote && all.is_root();
        if (!all.is_idle() && !in_remote_root) all.gives(all.send_size());
        if (all.is_root()) all.obtains(all.send_size());
    }
};

struct Allreduce : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        Collective<C> all(call, event);
        all.gives(all.send_size());
        all.obtains(all.send_size());
    }
};

struct ReduceScatter : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        Collective<C> all(call, event);
        const std::size_t ranks = all.info().members.size();
        all.gives_each(call.recvcounts, call.type, ranks);
        all.obtains(event.lists.blocks[static_cast<std::size_t>(all.info().rank)]);
    }
};

struct ReduceScatterBlock : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        Collective<C> all(call, event);
        const TypeInfo& type = recorder.types[handle(call.type)];
        const std::int64_t block = count(call, call.recvcount) * type.size;
        event.operation.type = type.number;
        all.gives(block * static_cast<std::int64_t>(all.info().members.size()));
        all.obtains(block);
    }
};

struct Gather : Handler {
    static constexpr Root root = Root::Gathers;
    template <class C>
    void after(C& call, Event& event, Thread&) {
        Collective<C> all(call, event);
        const bool in_remote_root = all.info().has_remote && all.is_root();
        if (all.is_in_place())
            all.gives(all.receive_size());
        else if (!all.is_idle() && !in_remote_root)
            all.gives(all.send_size());
        if (all.is_root()) all.obtains(all.receive_size() * static_cast<std::int64_t>(all.size()));
    }
};

struct Gatherv : Handler {
    static constexpr Root root = Root::Gathers;
    template <class C>
    void after(C& call, Event& event, Thread&) {
        Collective<C> all(call, event);
        const bool in_remote_root = all.info().has_remote && all.is_root();
        if (all.is_in_place()) {
            const auto rank = static_cast<std::size_t>(all.info().rank);
            all.gives(count_at(call, call.recvcounts, rank) * recorder.types[handle(call.recvtype)].size);
        } else if (!all.is_idle() && !in_remote_root) {
            all.gives(all.send_size());
        }
        if (all.is_root()) all.obtains_each(call.recvcounts, call.recvtype, all.size());
    }
};

struct Scatter : Handler {
    static constexpr Root root = Root::Scatters;
    template <class C>
    void after(C& call, Event& event, Thread&) {
        Collective<C> all(call, event);
        const bool in_remote_root = all.info().has_remote && all.is_root();
        if (all.is_root()) all.gives(all.send_size() * static_cast<std::int64_t>(all.size()));
        if (all.is_idle() || in_remote_root) return;
        all.obtains(all.receives_in_place() ? all.send_size() : all.receive_size());
    }
};

struct Scatterv : Handler {
    static constexpr Root root = Root::Scatters;
    template <class C>
    void after(C& call, Event& event, Thread&) {
        Collective<C> all(call, event);
        const bool in_remote_root = all.info().has_remote && all.is_root();
        if (all.is_root()) all.gives_each(call.counts, call.type, all.size());
        if (all.is_idle() || in_remote_root) return;
        all.obtains(all.receives_in_place() ? event.lists.blocks[static_cast<std::size_t>(all.info().rank)]
                                            : all.receive_size());
    }
};

struct Allgather : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        Collective<C> all(call, event);
        all.gives(all.is_in_place() ? all.receive_size() : all.send_size());
        all.obtains(all.receive_size() * static_cast<std::int64_t>(all.size()));
    }
};

struct Allgatherv : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        Collective<C> all(call, event);
        const auto rank = static_cast<std::size_t>(all.info().rank);
        all.gives(all.is_in_place() ? count_at(call, call.recvcounts, rank) * recorder.types[handle(call.recvtype)].size
                                    : all.send_size());
        all.obtains_each(call.recvcounts, call.recvtype, all.size());
    }
};

struct Alltoall : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        Collective<C> all(call, event);
        const auto ranks = static_cast<std::int64_t>(all.size());
        all.gives(ranks * (all.is_in_place() ? all.receive_size() : all.send_size()));
        all.obtains(ranks * all.receive_size());
    }
};

struct Alltoallv : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        Collective<C> all(call, event);
        if (all.is_in_place())
            all.gives_each(call.recvcounts, call.recvtype, all.size());
        else
            all.gives_each(call.counts, call.type, all.size());
        all.obtains_each(call.recvcounts, call.recvtype, all.size());
    }
};

struct Alltoallw : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        Collective<C> all(call, event);
        if (all.is_in_place())
            all.gives_each_of(call.recvcounts, call.recvtypes, all.size());
        else
            all.gives_each_of(call.counts, call.types, all.size());
        all.obtains_each_of(call.recvcounts, call.recvtypes, all.size());
    }
};

struct NeighborAllgather : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        Collective<C> all(call, event);
        all.gives(all.send_size());
        all.obtains(all.receive_size() * static_cast<std::int64_t>(all.info().sources.size()));
    }
};

struct NeighborAllgatherv : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        Collective<C> all(call, event);
        all.gives(all.send_size());
        all.obtains_each(call.recvcounts, call.recvtype, all.info().sources.size());
    }
};

struct NeighborAlltoall : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        Collective<C> all(call, event);
        all.gives(all.send_size() * static_cast<std::int64_t>(all.info().destinations.size()));
        all.obtains(all.receive_size() * static_cast<std::int64_t>(all.info().sources.size()));
    }
};

struct NeighborAlltoallv : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        Collective<C> all(call, event);
        all.gives_each(call.counts, call.type, all.info().destinations.size());
        all.obtains_each(call.recvcounts, call.recvtype, all.info().sources.size());
    }
};

struct NeighborAlltoallw : Handler {
    template <class C>
    void after(C& call, Event& event, Thread&) {
        Collective<C> all(call, event);
        all.gives_each_of(call.counts, call.types, all.info().destinations.size());
        all.obtains_each_of(call.recvcounts, call.recvtypes, all.info().sources.size());
    }
};

}  // namespace tradewind::recorder
