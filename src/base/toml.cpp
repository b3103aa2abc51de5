#include "base/toml.hpp"

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/toml_value.hpp"

namespace tradewind {

namespace {

// "2025-", as times begin.
bool is_dated(const std::string& word) {
    return word.size() > 4 && word[4] == '-' && std::all_of(word.begin(), word.begin() + 4, is_digit);
}

bool is_bare(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

void append_utf8(std::string& text, std::uint32_t code) {
    if (code < 0x80) {
        text += static_cast<char>(code);
        return;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    const std::uint32_t lead = more == 1 ? 0xC0 : more == 2 ? 0xE0 : 0xF0;
    text += static_cast<char>(lead | (code >> (6 * more)));
    for (int i = more - 1; i >= 0; --i) text += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3F));
}

class Reader {
  public:
    Reader(const std::string& text, const std::string& path, const std::string& name)
        : text_(text), path_(path), name_(name) {}

    std::vector<TomlTable> tables() {
        std::vector<TomlTable> found;
        for (skip_blank(true); !ended(); skip_blank(true)) {
            if (peek() == '[') {
                header();
                found.push_back({line_, {}});
            } else {
                TomlEntry next = entry();
                if (found.empty()) refuse("unknown key '" + next.key + "' (known: [[" + name_ + "]])", next.line);
                if (found.back().find(next.key))
                    refuse("not TOML: key '" + next.key + "' stands twice in one table", next.line);
                found.back().entries.push_back(std::move(next));
            }
            end_of_line();
        }
        return found;
    }

  private:
    bool ended() const { return at_ >= text_.size(); }
    char peek() const { return ended() ? '\n' : text_[at_]; }
    bool take(char c) {
        if (ended() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    bool at_newline() const {
        return peek() == '\n' || (peek() == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n');
    }

    [[noreturn]] void refuse(const std::string& problem, int line) const {
        throw InputError(path_ + ":" + std::to_string(line) + ": " + problem);
    }
    [[noreturn]] void refuse_form(const std::string& what) const {
        refuse(what + ": C, C++ and Fortran read tables [[" + name_ +
                   "]] of lines key = value, as `tradewind tune` writes them",
               line_);
    }

    // Blanks and comments; line ends too where `lines`.
    void skip_blank(bool lines) {
        while (!ended()) {
            if (peek() == ' ' || peek() == '\t') {
                ++at_;
            } else if (peek() == '#') {
                while (!ended() && peek() != '\n') ++at_;
            } else if (lines && at_newline()) {
                take('\r');
                take('\n');
                ++line_;
            } else {
                return;
            }
        }
    }

    void end_of_line() {
        skip_blank(false);
        if (!ended() && !at_newline()) refuse("not TOML: something behind the end of a value or a table's name", line_);
    }

    void header() {
        take('[');
        const bool list = take('[');
        skip_blank(false);
        const std::string key = this->key();
        skip_blank(false);
        if (!list || key != name_) refuse_form("[" + key + "]");
        if (!take(']') || !take(']')) refuse("not TOML: [[" + name_ + "]] is not closed", line_);
    }

    std::string key() {
        if (peek() == '"' || peek() == '\'') return quoted();
        const std::size_t begin = at_;
        while (!ended() && is_bare(peek())) ++at_;
        if (at_ == begin) refuse("not TOML: a key is missing", line_);
        return text_.substr(begin, at_ - begin);
    }

    TomlEntry entry() {
        TomlEntry next{key(), {}, {}, line_};
        skip_blank(false);
        if (peek() == '.') refuse_form("a key with a dot");
        if (!take('=')) refuse("not TOML: no = behind the key '" + next.key + "'", line_);
        skip_blank(false);
        const std::size_t begin = at_;
        next.value = value();
        next.text = text_.substr(begin, at_ - begin);
        return next;
    }

    TomlValue value() {
        if (peek() == '"' || peek() == '\'') return quoted();
        if (peek() == '{') refuse_form("a table within a line");
        if (peek() == '[') return list();
        return scalar(word());
    }

    // Up to the end of a number, a time, true or false. A time may have a blank before its hours.
    std::string word() {
        const std::size_t begin = at_;
        const auto ends = [&] {
            return ended() || at_newline() || std::string_view(" \t,]}#").find(peek()) != std::string_view::npos;
        };
        while (!ends()) ++at_;
        if (at_ - begin == 10 && text_[begin + 4] == '-' && peek() == ' ' && at_ + 1 < text_.size() &&
            is_digit(text_[at_ + 1]))
            for (++at_; !ends();) ++at_;
        return text_.substr(begin, at_ - begin);
    }

    TomlValue scalar(const std::string& word) const {
        if (word == "true" || word == "false") return word == "true";
        if (is_dated(word)) {
            if (const auto time = parse_toml_time(word)) return *time;
            refuse("'" + word + "' is no time with its distance to UTC, like 2025-01-31T12:00:00Z", line_);
        }
        if (const auto number = parse_toml_number(word)) return *number;
        if (word.empty()) refuse("not TOML: a value is missing", line_);
        refuse_form("the value " + word);
    }

    TomlList list() {
        TomlList numbers;
        take('[');
        for (skip_blank(true); !take(']'); skip_blank(true)) {
            if (ended()) refuse("not TOML: a list is not closed", line_);
            const std::string text = word();
            const auto number = parse_toml_number(text);
            if (!number || !std::holds_alternative<std::int64_t>(*number))
                refuse_form("a list of other things than whole numbers");
            numbers.push_back(std::get<std::int64_t>(*number));
            skip_blank(true);
            if (!take(',') && peek() != ']') refuse("not TOML: no comma between the values of a list", line_);
        }
        return numbers;
    }

    std::string quoted() {
        const char quote = text_[at_++];
        if (text_.compare(at_, 2, std::string(2, quote)) == 0) refuse_form("text of several lines");
        std::string found;
        while (!take(quote)) {
            const char c = peek();
            if (ended() || c == '\n') refuse("not TOML: text is not closed", line_);
            if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f)
                refuse("not TOML: a control character in text", line_);
            ++at_;
            if (c == '\\' && quote == '"') {
                escaped(found);
            } else {
                found += c;
            }
        }
        return found;
    }

    void escaped(std::string& found) {
        const char c = peek();
        ++at_;
        static constexpr std::string_view letters = "btnfr\"\\", meant = "\b\t\n\f\r\"\\";
        if (const std::size_t i = letters.find(c); i != std::string_view::npos) {
            found += meant[i];
            return;
        }
        const std::size_t digits = c == 'u' ? 4 : c == 'U' ? 8 : 0;
        std::uint32_t code = 0;
        const char *begin = text_.data() + at_,
                   *end = begin + std::min(digits, text_.size() - std::min(at_, text_.size()));
        const auto [rest, problem] = std::from_chars(begin, end, code, 16);
        if (digits == 0 || problem != std::errc() || rest != begin + digits || code > 0x10FFFF ||
            (code >= 0xD800 && code < 0xE000))
            refuse("not TOML: \\" + std::string(1, c) + " in text", line_);
        at_ += digits;
        append_utf8(found, code);
    }

    const std::string &text_, &path_, &name_;
    std::size_t at_ = 0;
    int line_ = 1;
};

}  // namespace

const TomlEntry* TomlTable::find(const std::string& key) const {
    for (const TomlEntry& entry : entries)
        if (entry.key == key) return &entry;
    return nullptr;
}

std::vector<TomlTable> read_tables(const std::string& text, const std::string& path, const std::string& name) {
    return Reader(text, path, name).tables();
}

}  // namespace tradewind
