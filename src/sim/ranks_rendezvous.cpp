// How long messages wait until their receivers ask for them.
#include <stdexcept>
#include <utility>

#include "sim/ranks.hpp"

namespace tradewind::sim {

void Ranks::send_control(ControlKind kind, Rank from, Rank to, std::uint32_t stage, std::uint32_t message,
                         std::uint32_t payload, std::uint32_t nic, std::int64_t time) {
    if (message > control_mask) throw std::runtime_error("more messages in a stage than a rendezvous can number");
    add_job(world_.terminal(world_.node(from), nic),
            {time, world_.header, static_cast<std::uint32_t>(from),
             static_cast<std::uint32_t>(to) | nic << Event::rank_bits, kind << control_shift | message, stage, payload,
             message, 0, true});
}

// A request is granted once its receive is posted: then the message has where to go.
void Ranks::reply_to_request(Rank r, std::uint32_t source, std::uint32_t stage, std::uint32_t message,
                             std::int64_t time) {
    if (!is_posted(r, stage)) {
        const std::uint32_t id = requests_.take();
        requests_[id] = {source, stage, message, std::exchange(world_.handshakes[world_.line(r, stage)].requests, id)};
        return;
    }
    const std::uint32_t record = pulls_.take();
    if (record > Event::stage_mask) throw std::runtime_error("more messages asked for at a time than can be numbered");
    const auto at = world_.program.at(stage);
    const schedule::Message sent = at.schedule->send(static_cast<Rank>(source), at.stage, static_cast<int>(message));
    pulls_[record] = {sent.count * at.bytes_per_point, 0, source, stage, message, 0};
    send_control(pull, r, static_cast<Rank>(source), stage, message, record,
                 world_.nic_of_message(static_cast<Rank>(source), r), attend(r, stage, time));
}

void Ranks::send_pulled(Rank r, std::uint32_t stage, std::uint32_t message, std::uint32_t record) {
    const auto at = world_.program.at(stage);
    const schedule::Message sent = at.schedule->send(r, at.stage, static_cast<int>(message));
    const std::uint32_t nic = world_.nic_of_message(r, sent.peer);
    add_job(world_.terminal(world_.node(r), nic),
            {time_, sent.count * at.bytes_per_point, static_cast<std::uint32_t>(r),
             static_cast<std::uint32_t>(sent.peer) | nic << Event::rank_bits, 0, record, stage, message, 0, false});
}

}  // namespace tradewind::sim
