// JSON, in which the first rank of a model and its servers talk.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tradewind::c {

// A value of JSON. Reading one as another kind, and a key that is not there, throw PlanError: then the other end speaks
// another language.
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

    // Throws PlanError for what is no JSON.
    static Json parse(const std::string& text);
    std::string text() const;

    bool is_null() const { return value_.index() == 0; }
    bool is_object() const { return std::holds_alternative<Object>(value_); }
    bool truth() const;
    std::int64_t integer() const;
    double number() const;  // also of an integer
    const std::string& string() const;
    const Array& array() const;
    const Json& at(const std::string& key) const;
    const Json* find(const std::string& key) const;  // null where the key is not there

  private:
    template <typename Kind>
    const Kind& as(const char* kind) const;
    void write(std::string& out) const;

    std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> value_;
};

}  // namespace tradewind::c
