#include "sim/state.hpp"

#include "sim/ranks.hpp"
#include "sim/world.hpp"

namespace tradewind::sim {

namespace {

constexpr std::uint64_t pair_of(std::uint32_t high, std::uint32_t low) {
    return static_cast<std::uint64_t>(high) << 32 | low;
}

}  // namespace

void StateWriter::put(const State::Record& record) {
    std::uint64_t a = 0, b = 1;
    for (const std::uint64_t word : record) {
        a = fold(a ^ word, 0x9e3779b97f4a7c15) + 1;
        b = fold(b + word, 0xd6e8feb86659fd93) + 1;
    }
    sum_[0] += a;
    sum_[1] += b;
    if (kept_) state_.records.push_back(record);
}

void StateWriter::put_pull(std::array<std::uint64_t, 7>& words, const Pulled& pull) const {
    words[4] = pair_of(pull.source, pull.message);
    words[5] = static_cast<std::uint64_t>(pull.left);
    words[6] = busy(pull.time);
}

std::array<std::uint64_t, 7> StateWriter::packet(const Event& event) const {
    std::array<std::uint64_t, 7> words{time(event.time), pair_of(event.where, event.to), 0, 0, 0, 0, 0};
    const auto rank = static_cast<Rank>(event.rank());
    std::uint32_t number = event.program_stage(), delay = event.delay;
    const std::uint32_t above = event.stage & ~Event::stage_mask;
    switch (event.kind()) {
        case Event::data: number = stage(rank, number); break;
        case Event::pulled: {
            const Pulled pull = pulled(rank, number);
            number = stage(rank, pull.stage);
            put_pull(words, pull);
            break;
        }
        case Event::control:
            number = stage(rank, number);
            // Which record, follows from the message, of which nothing has been sent.
            if ((event.bytes() >> control_shift) == pull) delay = 0;
            break;
        case Event::aside:
            if (event.memory == past) number = stage(rank, number);
    }
    words[2] = pair_of(event.size, above | (number & Event::stage_mask));
    words[3] = pair_of(event.memory, delay);
    return words;
}

std::array<std::uint64_t, 7> StateWriter::action(const Event& event) const {
    std::array<std::uint64_t, 7> words{time(event.time), pair_of(event.where, event.to), 0, 0, 0, 0, 0};
    const auto rank = static_cast<Rank>(event.to);
    std::uint32_t number = event.stage, memory = event.memory;
    switch (event.where) {
        case arrive:
        case asked:
        case acknowledged: number = stage(rank, number); break;
        case clear_to_send:
            number = stage(rank, number);
            memory = 0;
            break;
        case acknowledge_pull: {
            const Pulled pull = pulled(rank, memory);
            memory = stage(rank, pull.stage);
            put_pull(words, pull);
            break;
        }
        default: break;
    }
    words[2] = pair_of(event.size, number);
    words[3] = pair_of(memory, event.delay);
    return words;
}

StateWriter::Pulled StateWriter::pulled(Rank receiver, std::uint32_t record) const {
    const std::uint32_t sw = world_.by_switch.quotient(world_.terminal(world_.node(receiver), 0));
    return ranks_[world_.network.owner(sw)]->pulled(record);
}

State StateWriter::finish() && {
    state_.hash = {hash_[0] ^ sum_[0], hash_[1] ^ sum_[1]};
    std::sort(state_.records.begin(), state_.records.end());
    return std::move(state_);
}

}  // namespace tradewind::sim
