#include "fieldserver/json.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "mpi/error.hpp"

namespace tradewind::fieldserver {

namespace {

void write_string(std::string& out, const std::string& text) {
    out += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char code[8];
            std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
            out += code;
        } else {
            out += c;
        }
    }
    out += '"';
}

void write_number(std::string& out, double number) {
    if (!std::isfinite(number)) throw mpi::PlanError("a number that is not finite: JSON has none");
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    const std::string text(digits, end);
    out += text;
    if (text.find_first_of(".e") == std::string::npos) out += ".0";
}

}  // namespace

Json Json::written(std::string text) {
    Json made;
    made.value_ = Written{std::move(text)};
    return made;
}

std::string Json::text() const {
    std::string out;
    write(out);
    return out;
}

void Json::write(std::string& out) const {
    if (const auto* truth = std::get_if<bool>(&value_)) {
        out += *truth ? "true" : "false";
    } else if (const auto* whole = std::get_if<std::int64_t>(&value_)) {
        out += std::to_string(*whole);
    } else if (const auto* real = std::get_if<double>(&value_)) {
        write_number(out, *real);
    } else if (const auto* text = std::get_if<std::string>(&value_)) {
        write_string(out, *text);
    } else if (const auto* written = std::get_if<Written>(&value_)) {
        out += written->text;
    } else if (const auto* values = std::get_if<Array>(&value_)) {
        out += '[';
        for (std::size_t i = 0; i < values->size(); ++i) {
            if (i) out += ", ";
            (*values)[i].write(out);
        }
        out += ']';
    } else if (const auto* members = std::get_if<Object>(&value_)) {
        out += '{';
        for (std::size_t i = 0; i < members->size(); ++i) {
            if (i) out += ", ";
            write_string(out, (*members)[i].first);
            out += ": ";
            (*members)[i].second.write(out);
        }
        out += '}';
    } else {
        out += "null";
    }
}

}  // namespace tradewind::fieldserver
