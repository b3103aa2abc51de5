// Messages of a server to a model: values one after the other, as docs/reference/field-server-protocol.md lists them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tradewind::fieldserver {

// Reads a message in its order. What does not fit its form throws PlanError: then the server is of another Tradewind.
class Message {
  public:
    explicit Message(std::string bytes) : bytes_(std::move(bytes)) {}

    std::int64_t integer();
    bool truth() { return integer() != 0; }
    double number();
    std::string text();  // of any bytes, as names of files may be
    template <typename Read>
    auto list(Read read) -> std::vector<decltype(read())> {
        std::vector<decltype(read())> found;
        for (std::int64_t left = integer(); left > 0; --left) found.push_back(read());
        return found;
    }
    std::vector<std::string> texts() {
        return list([this] { return text(); });
    }
    std::vector<std::int64_t> integers() {
        return list([this] { return integer(); });
    }

  private:
    const char* next(std::size_t bytes);

    std::string bytes_;
    std::size_t at_ = 0;
};

}  // namespace tradewind::fieldserver
