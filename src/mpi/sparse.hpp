#pragma once

#include <mpi.h>

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/numbering.hpp"
#include "base/recycled.hpp"
#include "base/units.hpp"

namespace tradewind::mpi {

// Numbers from or to another rank.
struct PeerMessage {
    Rank peer = 0;
    RecycledVector<Index> words;
};

// A message to each of some ranks, as long as needed.
class MessagesByRank {
  public:
    RecycledVector<Index>& to(Rank peer) { return messages_[message_to(peer)].words; }
    // The number of a peer's buffer among all.
    std::size_t message_to(Rank peer) {
        const std::size_t message = numbers_.of(peer);
        if (message == messages_.size()) messages_.push_back({peer, {}});
        return message;
    }
    void add(std::size_t message, Index word) { messages_[message].words.push_back(word); }
    const std::vector<PeerMessage>& messages() const { return messages_; }
    std::vector<PeerMessage> take() { return std::move(messages_); }

  private:
    Numbering numbers_;
    std::vector<PeerMessage> messages_;
};

// Maximum count of MPI.
inline constexpr std::size_t longest_message = std::numeric_limits<int>::max();

// Why messages cannot be exchanged; "" where they can. All ranks agree on the text before, or instead of, sending them:
// a rank that fails within an exchange leaves the others waiting.
std::string too_long(Rank rank, const std::vector<PeerMessage>& messages, std::size_t longest = longest_message);

// Collective. Every rank sends messages to some others, which do not know that they will get one; those that came, in
// ascending order of sender. Without a message or a number kept for each rank of the communicator: a rank whose
// messages have all been received enters a barrier that does not block, and the exchange is over when all have entered
// it (NBX: Hoefler, Siebert & Lumsdaine 2010, doi:10.1145/1693453.1693476). Two exchanges in a row on one communicator
// need different tags. No message may be `too_long`. Throws PlanError where MPI fails.
std::vector<PeerMessage> exchange_sparsely(MPI_Comm comm, int tag, const std::vector<PeerMessage>& messages);

// The same among ranks that know of each other: a message goes to each of `peers` and one comes from each; those for
// which there is none are empty. `peers` ascending, and the same at both ends.
std::vector<PeerMessage> exchange_among(MPI_Comm comm, int tag, const std::vector<Rank>& peers,
                                        std::vector<PeerMessage> messages);

}  // namespace tradewind::mpi
