#include "recorder/communicators.hpp"

#include <numeric>

#include "recorder/json.hpp"
#include "recorder/operation.hpp"

namespace tradewind::recorder {
namespace {

/// Returns world ranks as pairs of first rank and count; NONE and count for those that have none.
std::string ranges(const std::vector<int>& ranks) {
    std::string text = "[";
    for (std::size_t n = 0; n < ranks.size();) {
        const int step = ranks[n] == NONE ? 0 : 1;
        std::size_t end = n + 1;
        while (end < ranks.size() && ranks[end] == ranks[end - 1] + step) end++;
        text += (n > 0 ? ",[" : "[") + std::to_string(ranks[n]) + "," + std::to_string(end - n) + "]";
        n = end;
    }
    return text + "]";
}

std::string list(const std::vector<int>& values) {
    std::string text = "[";
    for (std::size_t n = 0; n < values.size(); n++) text += (n > 0 ? "," : "") + std::to_string(values[n]);
    return text + "]";
}

/// Returns the ranks beside a rank of a Cartesian grid, in the order of neighbor collectives.
Neighbors cartesian_neighbors(Word communicator) {
    int count = 0;
    call("PMPI_Cartdim_get", communicator, reinterpret_cast<Word>(&count));
    Neighbors found;
    found.has_topology = true;
    found.dims.resize(static_cast<std::size_t>(count));
    found.periodic.resize(found.dims.size());
    std::vector<int> coordinates(found.dims.size());
    call("PMPI_Cart_get", communicator, static_cast<Word>(count), reinterpret_cast<Word>(found.dims.data()),
         reinterpret_cast<Word>(found.periodic.data()), reinterpret_cast<Word>(coordinates.data()));
    for (int dim = 0; dim < count; dim++) {
        int below = 0, above = 0;
        call("PMPI_Cart_shift", communicator, static_cast<Word>(dim), Word{1}, reinterpret_cast<Word>(&below),
             reinterpret_cast<Word>(&above));
        found.sources.push_back(below);
        found.sources.push_back(above);
    }
    found.destinations = found.sources;
    return found;
}

Neighbors graph_neighbors(Word communicator) {
    int rank = 0, count = 0;
    call("PMPI_Comm_rank", communicator, reinterpret_cast<Word>(&rank));
    call("PMPI_Graph_neighbors_count", communicator, static_cast<Word>(rank), reinterpret_cast<Word>(&count));
    Neighbors found;
    found.has_topology = true;
    found.sources.resize(static_cast<std::size_t>(count));
    call("PMPI_Graph_neighbors", communicator, static_cast<Word>(rank), static_cast<Word>(count),
         reinterpret_cast<Word>(found.sources.data()));
    found.destinations = found.sources;
    return found;
}

Neighbors dist_graph_neighbors(Word communicator) {
    int in = 0, out = 0, weighted = 0;
    call("PMPI_Dist_graph_neighbors_count", communicator, reinterpret_cast<Word>(&in), reinterpret_cast<Word>(&out),
         reinterpret_cast<Word>(&weighted));
    Neighbors found;
    found.has_topology = true;
    found.sources.resize(static_cast<std::size_t>(in));
    found.destinations.resize(static_cast<std::size_t>(out));
    std::vector<int> in_weights(found.sources), out_weights(found.destinations);
    call("PMPI_Dist_graph_neighbors", communicator, static_cast<Word>(in), reinterpret_cast<Word>(found.sources.data()),
         reinterpret_cast<Word>(in_weights.data()), static_cast<Word>(out),
         reinterpret_cast<Word>(found.destinations.data()), reinterpret_cast<Word>(out_weights.data()));
    return found;
}

}  // namespace

int CommunicatorInfo::world_rank(int rank) const {
    if (rank >= 0) {
        const auto& ranks = peers();
        return static_cast<std::size_t>(rank) < ranks.size() ? ranks[static_cast<std::size_t>(rank)] : NONE;
    }
    return rank == abi().any_source && rank != abi().proc_null ? ANY : NONE;
}

int CommunicatorInfo::world_root(int root) const {
    return root == abi().root ? members[static_cast<std::size_t>(rank)] : world_rank(root);
}

void Communicators::begin() {
    Word group = 0;
    call("PMPI_Comm_group", abi().world, reinterpret_cast<Word>(&group));
    world_group_ = handle(group);
    found(abi().world);
    found(abi().self);
}

const CommunicatorInfo& Communicators::found(Word handle) {
    const auto known = numbers_.find(handle);
    if (known != numbers_.end()) return *all_[static_cast<std::size_t>(known->second)];
    made(handle, 0, "");
    return *all_.back();
}

CommunicatorInfo& Communicators::add(Word handle) {
    const int number = static_cast<int>(all_.size());
    numbers_[handle] = number;
    all_.push_back(std::make_unique<CommunicatorInfo>());
    all_.back()->number = number;
    return *all_.back();
}

int Communicators::made(Word handle, Word parent, const char* function) {
    if (handle == abi().null_communicator) return NONE;
    const int parent_number = parent == 0 ? NONE : (*this)[parent].number;
    freed(handle);
    CommunicatorInfo& info = add(handle);
    int is_inter = 0;
    call("PMPI_Comm_rank", handle, reinterpret_cast<Word>(&info.rank));
    call("PMPI_Comm_test_inter", handle, reinterpret_cast<Word>(&is_inter));
    info.members = world_ranks(handle, "PMPI_Comm_group");
    std::string text = "{\"communicator\":" + std::to_string(info.number) +
                       ",\"parent\":" + std::to_string(parent_number) + ",\"call\":" + json(function) +
                       ",\"members\":" + ranges(info.members);
    if (is_inter != 0) {
        info.has_remote = true;
        info.remote = world_ranks(handle, "PMPI_Comm_remote_group");
        text += ",\"remote\":" + ranges(info.remote);
    } else {
        read_topology(handle, info);
        text += info.topology;
    }
    definitions += text + "}\n";
    return info.number;
}

int Communicators::duplicated(Word handle, Word parent, const char* function) {
    const CommunicatorInfo& old = (*this)[parent];
    freed(handle);
    CommunicatorInfo& info = add(handle);
    const int number = info.number;
    info = old;
    info.number = number;
    std::string text = "{\"communicator\":" + std::to_string(number) + ",\"parent\":" + std::to_string(old.number) +
                       ",\"call\":" + json(function) + ",\"members\":" + ranges(info.members);
    if (info.has_remote) text += ",\"remote\":" + ranges(info.remote);
    text += info.topology;
    definitions += text + "}\n";
    return number;
}

void Communicators::freed(Word handle) {
    numbers_.erase(handle);
    cache_[handle >> 2 & (CACHED - 1)] = {};
}

void Communicators::kept(Word handle, int number) {
    numbers_[handle] = number;
}

std::vector<int> Communicators::world_ranks(Word communicator, const char* function) const {
    Word group = 0;
    call(function, communicator, reinterpret_cast<Word>(&group));
    std::vector<int> ranks = world_ranks_of(handle(group));
    call("PMPI_Group_free", reinterpret_cast<Word>(&group));
    return ranks;
}

std::vector<int> Communicators::world_ranks_of(Word group) const {
    int size = 0;
    call("PMPI_Group_size", group, reinterpret_cast<Word>(&size));
    std::vector<int> ranks(static_cast<std::size_t>(size)), world(ranks.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    call("PMPI_Group_translate_ranks", group, static_cast<Word>(size), reinterpret_cast<Word>(ranks.data()),
         world_group_, reinterpret_cast<Word>(world.data()));
    for (int& rank : world) rank = rank < 0 ? NONE : rank;  // ranks that were spawned have none
    return world;
}

void Communicators::read_topology(Word communicator, CommunicatorInfo& info) {
    const Neighbors neighbors = read_neighbors(communicator);
    if (!neighbors.has_topology) return;
    if (!neighbors.dims.empty()) {
        info.topology += ",\"dims\":" + list(neighbors.dims) + ",\"periodic\":" + list(neighbors.periodic);
    }
    info.sources = neighbors.sources;
    info.destinations = neighbors.destinations;
    const auto world = [&info](std::vector<int> ranks) {
        for (int& rank : ranks) rank = info.world_rank(rank);
        return ranks;
    };
    info.topology +=
        ",\"sources\":" + list(world(info.sources)) + ",\"destinations\":" + list(world(info.destinations));
}

Neighbors read_neighbors(Word communicator) {
    int kind = 0;
    call("PMPI_Topo_test", communicator, reinterpret_cast<Word>(&kind));
    if (kind == abi().cart) return cartesian_neighbors(communicator);
    if (kind == abi().graph) return graph_neighbors(communicator);
    if (kind == abi().dist_graph) return dist_graph_neighbors(communicator);
    return {};
}

}  // namespace tradewind::recorder
