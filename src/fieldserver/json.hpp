// Orders to a server as JSON, which Python reads.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tradewind::fieldserver {

class Json {
  public:
    using Array = std::vector<Json>;
    using Object = std::vector<std::pair<std::string, Json>>;  // in the order in which the keys were given

    Json() = default;
    Json(bool truth) : value_(truth) {}
    Json(int number) : value_(std::int64_t{number}) {}
    Json(std::int64_t number) : value_(number) {}
    Json(double number) : value_(number) {}
    Json(const char* text) : value_(std::string(text)) {}
    Json(std::string text) : value_(std::move(text)) {}
    Json(Array values) : value_(std::move(values)) {}
    Json(Object members) : value_(std::move(members)) {}
    template <typename Value>
    static Json list(const std::vector<Value>& values) {
        return Array(values.begin(), values.end());
    }

    // A value that is JSON already.
    static Json written(std::string text);
    // Throws PlanError for a number that is not finite.
    std::string text() const;

  private:
    void write(std::string& out) const;

    struct Written {
        std::string text;
    };
    std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object, Written> value_;
};

}  // namespace tradewind::fieldserver
