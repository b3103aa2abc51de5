// Which send each receive of a trace gets.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "program/calls.hpp"

namespace tradewind::program {

class MessageEnds {
  public:
    // Messages of one rank to another, on one communicator and with one tag, do not overtake each other.
    struct Key {
        std::uint32_t communicator;
        Rank from, to;
        std::int64_t tag;
        bool operator==(const Key&) const = default;
    };
    // Tags that no program has.
    // Messages with this tag are left out where they have no bytes, which only their sender has in its rows.
    static constexpr std::int64_t block_tag = -(std::int64_t{1} << 41);
    // A tag of all collective calls of a communicator: their messages match where they are of the same one, too.
    static constexpr std::int64_t collective_tag = block_tag - 1;
    // Tags from here down are not used here: rows may have them.
    static constexpr std::int64_t free_tags = block_tag - 2;
    // The number of no message, and of none that is known yet.
    static constexpr std::uint32_t none = ~0u;

    // A send or a receive, by its place among the calls of its rank. `instance`: number of its collective call on the
    // communicator; 0 of other messages.
    struct End {
        std::uint32_t call, instance;
    };
    // One that has no other end.
    struct Left {
        Rank rank;
        std::uint32_t call, instance, stream;
        bool is_send;
    };
    using Numbers = std::vector<std::set<std::uint32_t>>;  // [rank] calls

    static std::size_t place(Rank rank) { return static_cast<std::size_t>(rank); }
    // The number of all messages with a key.
    std::uint32_t stream(const Key& key);
    const Key& key(std::uint32_t stream) const { return streams_[stream].key; }
    void add_send(std::uint32_t stream, End end) { streams_[stream].sends.push_back(end); }
    void add_receive(std::uint32_t stream, End end) { streams_[stream].receives.push_back(end); }

    // Calls `use` with each key and its receives.
    template <class Use>
    void for_receives(Use use) const {
        for (const Stream& stream : streams_) use(stream.key, stream.receives);
    }

    // Gives each send the receive of its order, but for those that were cancelled. Returns those without another end,
    // in the order of their ranks and calls. Once.
    std::vector<Left> pair(const Numbers& cancelled);
    // Numbers the messages in the order of their receives, whose `message` is their stream (or none), and gives these
    // the bytes that were sent. What is left out has the message `none` afterwards. Returns the number of messages.
    std::int64_t number(std::vector<std::vector<Call>>& calls) const;

  private:
    struct Hash {
        std::size_t operator()(const Key& key) const;
    };
    // Once they are paired, the instance of a receive is the call of its send, or none.
    struct Stream {
        Key key;
        std::vector<End> sends, receives;
    };
    static void pair(Stream& stream, std::uint32_t number, std::vector<Left>& left);

    std::unordered_map<Key, std::uint32_t, Hash> numbers_;
    std::vector<Stream> streams_;
};

}  // namespace tradewind::program
