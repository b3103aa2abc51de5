#include "sim/ending.hpp"

#include <string>

#include "base/error.hpp"

namespace tradewind::sim {

Ending::Ending(const program::Program& program, const EarlyEnd& early)
    : program_(program), early_(early), stages_(program.stages()), steps_(program.steps().size()) {
    if (early.asked.empty()) return;
    if (!early.enough) throw InputError("an early end of a program, and no function that decides whether it is enough");
    if (early.steps < 1 || steps_ % static_cast<std::size_t>(early.steps) != 0)
        throw InputError("repetitions of " + std::to_string(early.steps) + " steps: a program of " +
                         std::to_string(steps_) + " steps does not consist of such");
    const std::size_t repetitions = steps_ / static_cast<std::size_t>(early.steps);
    questions_.resize(steps_, none);
    for (std::size_t i = 0; i < early.asked.size(); ++i) {
        const int asked = early.asked[i];
        if (asked <= (i > 0 ? early.asked[i - 1] : 0) || static_cast<std::size_t>(asked) > repetitions)
            throw InputError("an early end after " + std::to_string(asked) + " repetitions: 1 to " +
                             std::to_string(repetitions) + " are allowed, in ascending order");
        questions_[static_cast<std::size_t>(asked * early.steps - 1)] = static_cast<int>(i);
    }
}

}  // namespace tradewind::sim
