// Runs the tests of the core, each in a process of its own: one that crashes or hangs fails alone.
//
// usage: core_tests [--jobs N] [--only TEXT] [--seed S] [--divide N] [--limit SECONDS] [--slowest N]
//   --divide N   draw an Nth of the cases of each property, but ten at least
#include "testing/testing.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>

#include "base/random.hpp"

namespace testing {

Failure::Failure(const std::string& text, std::source_location place)
    : std::runtime_error(std::string(place.file_name()) + ":" + std::to_string(place.line()) + ": " + text) {}

std::uint64_t Draw::next() {
    if (used_ < numbers_.size()) return numbers_[used_++];
    numbers_.push_back(repeats_ ? 0 : tradewind::mix(seed_, used_));
    return numbers_[used_++];
}

std::int64_t Draw::integer(std::int64_t minimum, std::int64_t maximum) {
    if (minimum > maximum) throw std::logic_error("a test draws from an empty range");
    const auto count = static_cast<std::uint64_t>(maximum) - static_cast<std::uint64_t>(minimum) + 1;
    const auto number = next();
    auto& kept = numbers_[used_ - 1];
    kept = count == 0 ? number : number % count;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(minimum) + kept);
}

double Draw::real(double minimum, double maximum) {
    constexpr std::int64_t steps = std::int64_t{1} << 52;
    return minimum + (maximum - minimum) * (static_cast<double>(integer(0, steps)) / static_cast<double>(steps));
}

std::vector<Test>& all_tests() {
    static std::vector<Test> tests;
    return tests;
}

Register::Register(const std::string& name, const char* file, int cases, std::function<void(Draw&)> run) {
    const std::string path = file;
    const auto below = path.rfind("tests/");
    all_tests().push_back({name, below == path.npos ? path : path.substr(below + 6), cases, std::move(run)});
}
Register::Register(const char* name, const char* file, int cases, void (*run)(Draw&))
    : Register(std::string(name), file, cases, std::function<void(Draw&)>(run)) {}

void fail(const char* what, std::source_location place) {
    throw Failure(std::string(what) + " does not hold", place);
}
void fail_equal(const std::string& found, const std::string& expected, const char* what, std::source_location place) {
    throw Failure(std::string(what) + " is " + found + ", not " + expected, place);
}
void check_words(const std::string& error, Words words, std::source_location place) {
    for (const auto& word : words) {
        if (error.find(word) == error.npos) {
            throw Failure("the error '" + error + "' does not contain '" + std::string(word) + "'", place);
        }
    }
}
void fail_silent(Words words, std::source_location place) {
    throw Failure("no error is thrown; expected one with '" + std::string(words.empty() ? "" : words.front()) + "'",
                  place);
}

namespace {

struct Options {
    int jobs = 1, limit_s = 300, slowest = 0, divide = 1;
    std::uint64_t seed = 1;
    std::string only;
};

// Return how a case fails; empty where it does not.
std::string failure_of(const Test& test, Draw& draw) {
    try {
        test.run(draw);
        return {};
    } catch (const std::exception& error) {
        return error.what() + draw.notes();
    }
}

// Looks for smaller numbers with which the property fails, too: one number less, zero, half or one off at a time.
std::string shrunk(const Test& test, std::vector<std::uint64_t> numbers, std::string failure) {
    int tries = 2000;
    for (bool smaller = true; smaller && tries > 0;) {
        smaller = false;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            for (const int change : {0, 1, 2, 3}) {
                auto candidate = numbers;
                if (change == 0) candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(i));
                if (change > 0 && candidate[i] == 0) continue;
                if (change > 0) candidate[i] = change == 1 ? 0 : change == 2 ? candidate[i] / 2 : candidate[i] - 1;
                Draw draw(candidate);
                auto found = tries-- > 0 ? failure_of(test, draw) : std::string();
                if (found.empty() || draw.numbers().size() > numbers.size()) continue;
                if (draw.numbers() == numbers) continue;
                numbers = draw.numbers(), failure = std::move(found), smaller = true;
                break;
            }
        }
    }
    return failure;
}

std::string run_all_cases(const Test& test, const Options& options) {
    std::uint64_t seed = options.seed;
    for (const char letter : test.file + test.name) seed = tradewind::mix(seed, static_cast<unsigned char>(letter));
    const int cases = std::max({1, std::min(10, test.cases), test.cases / options.divide});
    for (int i = 0; i < cases; ++i) {
        Draw draw(tradewind::mix(seed, static_cast<std::uint64_t>(i)));
        auto failure = failure_of(test, draw);
        if (failure.empty()) continue;
        return test.cases == 0 ? failure : "case " + std::to_string(i) + ": " + shrunk(test, draw.numbers(), failure);
    }
    return {};
}

struct Outcome {
    const Test* test;
    std::FILE* text;  // how it failed, written by its process
    double cpu_s = 0;
    bool passed = false;
};

pid_t start(const Outcome& outcome, const Options& options) {
    const auto process = fork();
    if (process != 0) return process;
    alarm(static_cast<unsigned>(options.limit_s));
    const auto failure = run_all_cases(*outcome.test, options);
    std::fputs(failure.c_str(), outcome.text);
    std::fflush(outcome.text);
    _exit(failure.empty() ? 0 : 1);
}

void finish(Outcome& outcome, int status, const rusage& used) {
    for (const auto& time : {used.ru_utime, used.ru_stime}) {
        outcome.cpu_s += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    }
    outcome.passed = status == 0;
    if (!outcome.passed) {
        std::cout << "FAILED " << outcome.test->file << ": " << outcome.test->name << "\n  ";
        if (WIFSIGNALED(status)) std::cout << "ended by " << strsignal(WTERMSIG(status));
        std::rewind(outcome.text);
        for (int letter; (letter = std::fgetc(outcome.text)) != EOF;) std::cout << static_cast<char>(letter);
        std::cout << std::endl;
    }
    std::fclose(outcome.text);
}

std::vector<Outcome> run_tests(const std::vector<const Test*>& tests, const Options& options) {
    std::vector<Outcome> outcomes;
    std::map<pid_t, Outcome> running;
    for (std::size_t next = 0; next < tests.size() || !running.empty();) {
        if (next < tests.size() && running.size() < static_cast<std::size_t>(options.jobs)) {
            const Outcome outcome{tests[next++], std::tmpfile()};
            const auto process = outcome.text == nullptr ? -1 : start(outcome, options);
            if (process < 0) throw std::runtime_error("no process or temporary file for a test");
            running.emplace(process, outcome);
            continue;
        }
        int status = 0;
        rusage used{};
        const auto ended = running.find(wait4(-1, &status, 0, &used));
        finish(ended->second, status, used);
        outcomes.push_back(ended->second);
        running.erase(ended);
    }
    return outcomes;
}

int run(int count, char** arguments) {
    Options options;
    const std::map<std::string, std::function<void(const std::string&)>> known = {
        {"--jobs", [&](auto& value) { options.jobs = std::stoi(value); }},
        {"--only", [&](auto& value) { options.only = value; }},
        {"--seed", [&](auto& value) { options.seed = std::stoull(value); }},
        {"--divide", [&](auto& value) { options.divide = std::stoi(value); }},
        {"--limit", [&](auto& value) { options.limit_s = std::stoi(value); }},
        {"--slowest", [&](auto& value) { options.slowest = std::stoi(value); }},
    };
    for (int i = 1; i < count; i += 2) {
        const auto option = known.find(arguments[i]);
        if (option == known.end() || i + 1 == count) {
            throw std::invalid_argument(std::string(arguments[i]) +
                                        ": the options are --jobs N, --only TEXT, --seed S, --divide N, "
                                        "--limit SECONDS and --slowest N");
        }
        option->second(arguments[i + 1]);
    }
    if (options.jobs < 1 || options.divide < 1) throw std::invalid_argument("--jobs and --divide need at least one");
    std::vector<const Test*> tests;
    for (const auto& test : all_tests()) {
        if ((test.file + ": " + test.name).find(options.only) != std::string::npos) tests.push_back(&test);
    }
    if (tests.empty()) throw std::invalid_argument("no test has '" + options.only + "' in its file and name");
    auto outcomes = run_tests(tests, options);
    std::sort(outcomes.begin(), outcomes.end(), [](auto& a, auto& b) { return a.cpu_s > b.cpu_s; });
    double cpu_s = 0;
    for (const auto& outcome : outcomes) cpu_s += outcome.cpu_s;
    const auto passed = std::count_if(outcomes.begin(), outcomes.end(), [](auto& one) { return one.passed; });
    for (int i = 0; i < std::min(options.slowest, static_cast<int>(outcomes.size())); ++i) {
        std::cout << outcomes[i].cpu_s << " s  " << outcomes[i].test->file << ": " << outcomes[i].test->name << "\n";
    }
    std::cout << "core_tests: " << passed << " of " << outcomes.size() << " passed, ";
    if (options.divide > 1) std::cout << "1 of " << options.divide << " cases of each property, ";
    std::cout << cpu_s << " s of CPU, seed " << options.seed << std::endl;
    return passed == static_cast<std::ptrdiff_t>(outcomes.size()) ? 0 : 1;
}

}  // namespace
}  // namespace testing

int main(int count, char** arguments) {
    try {
        return testing::run(count, arguments);
    } catch (const std::exception& error) {
        std::cerr << "core_tests: " << error.what() << std::endl;
        return 2;
    }
}
