// Servers that are silent, by a clock that a test sets.
#include "fieldserver/silence.hpp"

#include "testing/drawing.hpp"

namespace testing::fieldserver_silence {

using tradewind::fieldserver::Silence;

constexpr double patience_s = 5;

TEST("a server that had no work for long is not lost") {
    Silence silence(patience_s, 0);
    CHECK(!silence.is_too_long(false, 0));
    CHECK(!silence.is_too_long(true, 50));  // the model has computed
    CHECK(!silence.is_too_long(true, 50 + patience_s));
    CHECK(silence.is_too_long(true, 51 + patience_s));
}

TEST("a server that sends its status is not lost") {
    Silence silence(patience_s, 0);
    for (int step = 1; step < 5; ++step) {
        const double now = step * (patience_s - 1);
        silence.end(now);
        CHECK(!silence.is_too_long(true, now + patience_s - 1));
    }
}

TEST("a server that has work from the beginning is lost when it sends nothing") {
    Silence silence(patience_s, 0);
    CHECK(!silence.is_too_long(true, 1));
    CHECK(!silence.is_too_long(true, 1 + patience_s));
    CHECK(silence.is_too_long(true, 2 + patience_s));
}

}  // namespace testing::fieldserver_silence
