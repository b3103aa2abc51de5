// In which order a rank posts the messages of a stage and waits for them: what a transport does, as data.
#pragma once

#include <string>
#include <vector>

#include "schedule/schedule.hpp"

namespace tradewind {

// One thing that a rank does: it posts its j-th send or receive of the stage, or waits until that one is done.
struct Act {
    enum Kind : std::uint8_t { post, wait } kind;
    bool sending;
    std::int32_t j;
};

// The acts of a rank in a stage, empty messages left out. A blocking call is a post and, next to it, a wait.
using PostingOrder = std::vector<Act> (*)(const Schedule&, Rank, int stage);

struct PostingEntry {
    std::string name;
    std::string description;  // one line
    PostingOrder acts;
};

// sendrecv, isend-recv, send-irecv, isend-irecv, even-odd.
const std::vector<PostingEntry>& posting_orders();

// Throws InputError for a name that is not one of them.
const PostingEntry& posting_order(const std::string& name);

}  // namespace tradewind
