// Tests of the core in C++: TEST for one case, PROPERTY for many drawn at random. testing.cpp runs them.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <source_location>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool counts_memory = false;  // a sanitizer holds memory of its own
#else
inline constexpr bool counts_memory = true;
#endif

// A check that does not hold. It ends its test.
class Failure : public std::runtime_error {
  public:
    Failure(const std::string& text, std::source_location place);
};

// Draws the values of a property's case. All come from a list of numbers that is kept, so that a failing case can be
// repeated with smaller numbers: zero gives the first value of every range, which should be the simplest.
class Draw {
  public:
    explicit Draw(std::uint64_t seed) : seed_(seed) {}
    explicit Draw(std::vector<std::uint64_t> numbers) : numbers_(std::move(numbers)), repeats_(true) {}

    // Return a whole number, minimum and maximum included.
    std::int64_t integer(std::int64_t minimum, std::int64_t maximum);
    bool boolean() { return integer(0, 1) == 1; }
    double real(double minimum, double maximum);
    template <class T>
    const T& from(const std::vector<T>& values) {
        return values[static_cast<std::size_t>(integer(0, static_cast<std::int64_t>(values.size()) - 1))];
    }
    template <class T>
    std::vector<T> shuffled(std::vector<T> values) {
        for (std::size_t i = values.size(); i > 1; --i) {
            std::swap(values[i - 1], values[i - 1 - static_cast<std::size_t>(integer(0, static_cast<int>(i) - 1))]);
        }
        return values;
    }
    // Adds a line to the report of a case that fails.
    void note(const std::string& line) { notes_ += "\n    " + line; }

    const std::vector<std::uint64_t>& numbers() const { return numbers_; }
    const std::string& notes() const { return notes_; }

  private:
    std::uint64_t next();

    std::uint64_t seed_ = 0;
    std::vector<std::uint64_t> numbers_;
    std::size_t used_ = 0;
    bool repeats_ = false;
    std::string notes_;
};

struct Test {
    std::string name;
    std::string file;  // below tests/, like "pattern/halo.cpp"
    int cases;         // 0: no property, runs once
    std::function<void(Draw&)> run;
};
std::vector<Test>& all_tests();

struct Register {
    Register(const std::string& name, const char* file, int cases, std::function<void(Draw&)> run);
    Register(const char* name, const char* file, int cases, void (*run)(Draw&));
};

template <class T>
std::string text_of(const T& value) {
    std::ostringstream text;
    text.precision(17);
    if constexpr (requires { text << value; }) {
        text << value;
    } else if constexpr (requires { value.begin(); }) {
        text << '[';
        for (const auto& item : value) text << text_of(item) << ' ';
        text << ']';
    } else if constexpr (std::is_enum_v<T>) {
        text << static_cast<std::int64_t>(value);
    } else {
        text << "(a value)";
    }
    return text.str();
}

// The calls of a check that does not hold are compiled once: thousands of checks hold.
[[noreturn]] void fail(const char* what, std::source_location place);
[[noreturn]] void fail_equal(const std::string& found, const std::string& expected, const char* what,
                             std::source_location place);

inline void check(bool holds, const char* what, std::source_location place = std::source_location::current()) {
    if (!holds) fail(what, place);
}

template <class A, class B>
void check_equal(const A& found, const B& expected, const char* what,
                 std::source_location place = std::source_location::current()) {
    if (!(found == expected)) fail_equal(text_of(found), text_of(expected), what, place);
}

// Something to call that lives longer than this.
class Action {
  public:
    template <class Function>
    Action(const Function& function)
        : function_(&function), call_([](const void* given) { (*static_cast<const Function*>(given))(); }) {}
    void operator()() const { call_(function_); }

  private:
    const void* function_;
    void (*call_)(const void*);
};
using Words = std::span<const std::string_view>;

void check_words(const std::string& error, Words words, std::source_location place);
[[noreturn]] void fail_silent(Words words, std::source_location place);

// Calls `action`, which must throw an Error whose text contains all of `words`.
template <class Error>
void check_throws(Action action, Words words, std::source_location place = std::source_location::current()) {
    try {
        action();
    } catch (const Error& error) {
        return check_words(error.what(), words, place);
    }
    fail_silent(words, place);
}

}  // namespace testing

#define TESTING_JOIN2(a, b) a##b
#define TESTING_JOIN(a, b) TESTING_JOIN2(a, b)
#define TESTING_ADD(name, cases, function, argument)                                                     \
    static void function(testing::Draw&);                                                                \
    static const testing::Register TESTING_JOIN(registered_, function){name, __FILE__, cases, function}; \
    static void function([[maybe_unused]] testing::Draw& argument)

#define TEST(name) TESTING_ADD(name, 0, TESTING_JOIN(test_, __COUNTER__), unused_draw)
// `draw` is the case's testing::Draw.
#define PROPERTY(name, cases) TESTING_ADD(name, cases, TESTING_JOIN(property_, __COUNTER__), draw)

#define CHECK(...) testing::check(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__)
#define CHECK_EQUAL(found, ...) testing::check_equal(found, __VA_ARGS__, #found)
#define CHECK_THROWS(Error, words, ...) \
    testing::check_throws<Error>([&] { static_cast<void>(__VA_ARGS__); }, std::initializer_list<std::string_view> words)
