#include "sim/process_exchange.hpp"

namespace tradewind::sim {

ProcessExchange::ProcessExchange(Peers& peers, const Parts& parts)
    : peers_(peers),
      parts_(parts),
      sent_(parts.processes),
      received_(parts.processes),
      arrived_(std::size_t{parts.processes} * parts.here) {}

Report ProcessExchange::exchange(const Report& mine, const std::vector<Outbox*>& outboxes) {
    Report all = mine;
    const auto here = static_cast<std::uint32_t>(peers_.process());
    for (std::uint32_t p = 0; p < parts_.processes; ++p)
        if (p != here) write(p, mine, outboxes);
    for (Outbox* outbox : outboxes) outbox->clear_away();
    peers_.swap(sent_, received_);
    for (std::uint32_t p = 0; p < parts_.processes; ++p)
        if (p != here) all.add(read(p));
    return all;
}

void ProcessExchange::deliver(std::uint32_t thread, Outbox& outbox) const {
    for (std::uint32_t p = 0; p < parts_.processes; ++p)
        for (const Event& event : arrived_[p * parts_.here + thread]) outbox.receive(event);
}

void ProcessExchange::write(std::uint32_t process, const Report& mine, const std::vector<Outbox*>& outboxes) {
    ByteBuffer& buffer = sent_[process];
    buffer.clear();
    buffer.put(mine);
    const std::uint32_t first = process * parts_.here;
    for (std::uint32_t part = first; part < first + parts_.here; ++part) {
        std::uint64_t count = 0;
        for (Outbox* outbox : outboxes) count += outbox->away(part).size();
        buffer.put(count);
    }
    buffer.align(sizeof(Event));
    for (std::uint32_t part = first; part < first + parts_.here; ++part)
        for (Outbox* outbox : outboxes) buffer.put(outbox->away(part));
}

Report ProcessExchange::read(std::uint32_t process) {
    ByteReader counts(received_[process].bytes()), buffer(received_[process].bytes());
    const auto report = counts.take<Report>();
    buffer.skip(sizeof(Report) + parts_.here * sizeof(std::uint64_t));
    buffer.align(sizeof(Event));
    for (std::uint32_t thread = 0; thread < parts_.here; ++thread) {
        const auto count = counts.take<std::uint64_t>();
        arrived_[process * parts_.here + thread] = {reinterpret_cast<const Event*>(buffer.skip(count * sizeof(Event))),
                                                    count};
    }
    return report;
}

}  // namespace tradewind::sim
