#include "json.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "mpi/error.hpp"

namespace tradewind::c {

namespace {

constexpr int deepest = 100;

class Parser {
  public:
    explicit Parser(const std::string& text) : at_(text.data()), begin_(text.data()), end_(text.data() + text.size()) {}

    Json whole() {
        Json value = any(0);
        skip();
        if (at_ != end_) refuse("the end");
        return value;
    }

  private:
    [[noreturn]] void refuse(const std::string& wanted) const {
        throw mpi::PlanError("a message of a server is no JSON: " + wanted + " is allowed after " +
                             std::to_string(at_ - begin_) + " bytes");
    }
    void skip() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
    }
    bool take(char c) {
        skip();
        if (at_ == end_ || *at_ != c) return false;
        ++at_;
        return true;
    }
    void want(char c) {
        if (!take(c)) refuse(std::string("'") + c + "'");
    }
    bool word(const char* said) {
        const std::string wanted = said;
        if (static_cast<std::size_t>(end_ - at_) < wanted.size() || std::string(at_, wanted.size()) != wanted)
            return false;
        at_ += wanted.size();
        return true;
    }

    Json any(int depth) {
        if (depth > deepest) refuse("less depth");
        skip();
        if (at_ == end_) refuse("a value");
        if (*at_ == '{') return object(depth);
        if (*at_ == '[') return array(depth);
        if (*at_ == '"') return string();
        if (word("true")) return true;
        if (word("false")) return false;
        if (word("null")) return {};
        return number();
    }

    Json object(int depth) {
        Json::Object members;
        want('{');
        if (take('}')) return members;
        do {
            skip();
            std::string key = string();
            want(':');
            members.emplace_back(std::move(key), any(depth + 1));
        } while (take(','));
        want('}');
        return members;
    }

    Json array(int depth) {
        Json::Array values;
        want('[');
        if (take(']')) return values;
        do values.push_back(any(depth + 1));
        while (take(','));
        want(']');
        return values;
    }

    Json number() {
        std::int64_t whole = 0;
        double real = 0;
        const auto [end_of_whole, whole_error] = std::from_chars(at_, end_, whole);
        const auto [end_of_real, real_error] = std::from_chars(at_, end_, real);
        if (real_error != std::errc()) refuse("a value");
        const bool is_whole = whole_error == std::errc() && end_of_whole == end_of_real;
        at_ = end_of_real;
        if (is_whole) return whole;
        return real;
    }

    std::uint32_t four_digits() {
        std::uint32_t code = 0;
        if (end_ - at_ < 4 || std::from_chars(at_, at_ + 4, code, 16).ptr != at_ + 4) refuse("four digits");
        at_ += 4;
        return code;
    }

    void character(std::string& text, std::uint32_t code) {
        const auto byte = [&](std::uint32_t value) { text += static_cast<char>(value); };
        if (code < 0x80) return byte(code);
        // As Python writes a byte that is not UTF-8, of the name of a file.
        if (code >= 0xDC80 && code < 0xDD00) return byte(code - 0xDC00);
        if (code < 0x800) {
            byte(0xC0 | code >> 6);
        } else if (code < 0x10000) {
            byte(0xE0 | code >> 12);
            byte(0x80 | (code >> 6 & 0x3F));
        } else {
            byte(0xF0 | code >> 18);
            byte(0x80 | (code >> 12 & 0x3F));
            byte(0x80 | (code >> 6 & 0x3F));
        }
        byte(0x80 | (code & 0x3F));
    }

    std::string string() {
        std::string text;
        want('"');
        while (at_ != end_ && *at_ != '"') {
            if (*at_ != '\\') {
                text += *at_++;
                continue;
            }
            if (++at_ == end_) break;
            const char escaped = *at_++;
            static const std::string from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
            if (escaped == 'u') {
                std::uint32_t code = four_digits();
                if (code >= 0xD800 && code < 0xDC00 && word("\\u"))
                    code = 0x10000 + ((code - 0xD800) << 10) + (four_digits() - 0xDC00);
                character(text, code);
            } else if (const std::size_t place = from.find(escaped); place != std::string::npos) {
                text += to[place];
            } else {
                refuse("a known escape");
            }
        }
        want('"');
        return text;
    }

    const char *at_, *begin_, *end_;
};

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
    const std::string said(digits, end);
    out += said;
    if (said.find_first_of(".e") == std::string::npos) out += ".0";
}

}  // namespace

Json Json::parse(const std::string& text) {
    return Parser(text).whole();
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
    } else if (const auto* said = std::get_if<std::string>(&value_)) {
        write_string(out, *said);
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

template <typename Kind>
const Kind& Json::as(const char* kind) const {
    const Kind* found = std::get_if<Kind>(&value_);
    if (!found) throw mpi::PlanError("a server says " + text() + " where " + kind + " is allowed");
    return *found;
}

bool Json::truth() const {
    return as<bool>("true or false");
}

std::int64_t Json::integer() const {
    return as<std::int64_t>("a whole number");
}

double Json::number() const {
    if (const auto* whole = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*whole);
    return as<double>("a number");
}

const std::string& Json::string() const {
    return as<std::string>("a text");
}

const Json::Array& Json::array() const {
    return as<Array>("a list");
}

const Json* Json::find(const std::string& key) const {
    for (const auto& [name, member] : as<Object>("an object"))
        if (name == key) return &member;
    return nullptr;
}

const Json& Json::at(const std::string& key) const {
    const Json* found = find(key);
    if (!found) throw mpi::PlanError("a server says " + text() + ", where the key '" + key + "' is needed");
    return *found;
}

}  // namespace tradewind::c
