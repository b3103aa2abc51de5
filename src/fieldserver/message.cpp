#include "fieldserver/message.hpp"

#include <cstring>

#include "mpi/error.hpp"

namespace tradewind::fieldserver {

const char* Message::next(std::size_t bytes) {
    if (bytes > bytes_.size() - at_)
        throw mpi::PlanError(
            "a message of a server ends before its values do: install the same Tradewind for model and servers");
    at_ += bytes;
    return bytes_.data() + at_ - bytes;
}

std::int64_t Message::integer() {
    std::int64_t value;
    std::memcpy(&value, next(sizeof value), sizeof value);
    return value;
}

double Message::number() {
    double value;
    std::memcpy(&value, next(sizeof value), sizeof value);
    return value;
}

std::string Message::text() {
    const auto bytes = static_cast<std::size_t>(integer());
    return {next(bytes), bytes};
}

}  // namespace tradewind::fieldserver
