#pragma once

#include <cstdint>
#include <vector>

/// An MPI call with all its arguments but the buffers, as the file has it (docs/reference/trace.md).
namespace tradewind::recorder {

constexpr std::int32_t NONE = -1;
constexpr std::int32_t ANY = -2;

struct Operation {
    std::uint16_t call = 0, thread = 0;
    std::int32_t communicator = NONE;
    std::int32_t peer = NONE, tag = NONE;
    std::int64_t bytes = 0;
    std::int32_t source = NONE, source_tag = NONE;
    std::int64_t received = 0;
    std::int32_t type = NONE, source_type = NONE;
    std::int32_t request = NONE, window = NONE;
    std::int32_t created = NONE, argument = 0;
    std::uint32_t asked = 0, ended = 0, blocks = 0;  // lengths of its lists
    std::uint32_t site = 0;                          // where it was called, 0: unknown
};
static_assert(sizeof(Operation) == 80);

struct Ended {
    std::int32_t request, source = NONE, tag = NONE, cancelled = 0;
    std::int64_t bytes = 0;
};
static_assert(sizeof(Ended) == 24);

/// The lists of operations.
struct Lists {
    std::vector<std::int32_t> asked;
    std::vector<Ended> ended;
    std::vector<std::int64_t> blocks;

    void clear() {
        asked.clear();
        ended.clear();
        blocks.clear();
    }
};

/// An operation that is being made.
struct Event {
    Operation operation;
    Lists lists;

    void begin(int call, int thread) {
        operation = {};
        operation.call = static_cast<std::uint16_t>(call);
        operation.thread = static_cast<std::uint16_t>(thread);
        lists.clear();
    }
};

}  // namespace tradewind::recorder
