#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "recorder/library.hpp"

namespace tradewind::recorder {

/// A communicator: the world ranks of its members, and of the other group of an intercommunicator.
struct CommunicatorInfo {
    int number = 0;
    int rank = 0;
    bool has_remote = false;
    std::vector<int> members, remote;
    std::vector<int> sources, destinations;  // neighbors by rank in the communicator
    std::string topology;                    // as JSON, behind its members

    /// Returns the ranks that messages go to.
    const std::vector<int>& peers() const { return has_remote ? remote : members; }
    std::size_t size() const { return peers().size(); }

    /// Returns the world rank of a rank of the library's, NONE or ANY for its constants.
    int world_rank(int rank) const;
    /// The same of a root.
    int world_root(int root) const;
};

/// The neighbors of a rank by their rank in the communicator: from which and to which neighbor collectives go.
struct Neighbors {
    std::vector<int> sources, destinations;
    std::vector<int> dims, periodic;  // of a Cartesian grid
    bool has_topology = false;
};
Neighbors read_neighbors(Word communicator);

/// The communicators of a rank by handle, each with a number; definitions that have not been written yet, as JSON
/// lines.
class Communicators {
  public:
    /// Defines MPI_COMM_WORLD as number 0 and MPI_COMM_SELF as 1.
    void begin();

    /// Returns the communicator of a handle. One that was not seen being made is defined now.
    const CommunicatorInfo& operator[](Word handle) {
        Cached& cached = cache_[handle >> 2 & (CACHED - 1)];
        if (cached.info == nullptr || cached.handle != handle) cached = {handle, &found(handle)};
        return *cached.info;
    }

    /// Defines a communicator that a function has made; returns its number, NONE for MPI_COMM_NULL.
    int made(Word handle, Word parent, const char* function);

    /// Defines the copy of a communicator that a request will complete: nothing may be asked of it yet.
    int duplicated(Word handle, Word parent, const char* function);

    void freed(Word handle);

    /// Takes `freed` back: the library has kept the communicator.
    void kept(Word handle, int number);

    /// Returns the world ranks of a group.
    std::vector<int> world_ranks_of(Word group) const;

    const CommunicatorInfo& world() const { return *all_.front(); }
    std::string definitions;

  private:
    struct Cached {
        Word handle = 0;
        const CommunicatorInfo* info = nullptr;
    };
    static constexpr std::size_t CACHED = 16;

    const CommunicatorInfo& found(Word handle);
    CommunicatorInfo& add(Word handle);
    std::vector<int> world_ranks(Word handle, const char* function) const;
    static void read_topology(Word handle, CommunicatorInfo& info);

    Cached cache_[CACHED];
    std::vector<std::unique_ptr<CommunicatorInfo>> all_;
    std::unordered_map<Word, int> numbers_;
    Word world_group_ = 0;
};

}  // namespace tradewind::recorder
