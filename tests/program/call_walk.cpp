// Walks through calls of threads: none is left that could go on.
#include "program/call_walk.hpp"

#include "testing/testing.hpp"

namespace testing::program_call_walk {

using namespace tradewind;
using program::Call;

Call call(Call::Kind kind, std::uint32_t peer, std::uint32_t message = 0) {
    Call made;
    made.kind = kind, made.peer = peer, made.message = message, made.amount = 8;
    return made;
}

// Thread 1 of each rank waits for what thread 0 begins, which on rank 1 takes another message first.
TEST("threads of both ends of a message wait before others of their ranks begin it") {
    const std::vector<Call> sends{call(Call::send, 1, 0), call(Call::wait, 0), call(Call::send, 1, 1),
                                  call(Call::wait, 1)};
    const std::vector<Call> receives{call(Call::receive, 0, 0), call(Call::wait, 0), call(Call::receive, 0, 1),
                                     call(Call::wait, 1)};
    const program::Calls calls({sends, receives}, {""}, {});
    program::CallWalk walk(calls, {{0, 0, 0, 1}, {0, 0, 0, 1}});
    walk.go_on(0);
    CHECK(walk.all_ended());
}

}  // namespace testing::program_call_walk
