// Tests of src/base against closed forms and plain implementations.
//   base numbers           exact division, random numbers, runs of numbers, recycled memory, ranks in order
//   base toml FILE NAME    the tables [[NAME]] of a file, a line each table and value
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/consecutive.hpp"
#include "base/divide.hpp"
#include "base/error.hpp"
#include "base/long_divide.hpp"
#include "base/numbering.hpp"
#include "base/random.hpp"
#include "base/recycled.hpp"
#include "base/toml.hpp"

using namespace tradewind;

namespace {

void hold(bool condition, const char* what) {
    if (condition) return;
    std::printf("wrong: %s\n", what);
    std::exit(1);
}

std::mt19937_64 random_numbers(5);

void exact_division() {
    std::vector<std::uint32_t> divisors{1,       2,  3, 5, 7, 641, 65535, 65536, 65537, ~0u >> 1, (~0u >> 1) + 1,
                                        ~0u - 1, ~0u};
    for (int i = 0; i < 2000; ++i)
        divisors.push_back(static_cast<std::uint32_t>(random_numbers() >> (32 + i % 32)) | 1u);
    for (const std::uint32_t d : divisors) {
        const Divider by(d);
        std::vector<std::uint32_t> numerators{0, 1, d - 1, d, d + 1, ~0u - 1, ~0u, ~0u / d * d, ~0u / d * d - 1};
        for (int i = 0; i < 50; ++i) {
            const auto n = static_cast<std::uint32_t>(random_numbers());
            numerators.insert(numerators.end(), {n, n / d * d, n / d * d - 1});
        }
        for (const std::uint32_t n : numerators) hold(by.quotient(n) == n / d && by.remainder(n) == n % d, "Divider");
    }
}

void exact_division_of_long_numbers() {
    constexpr std::int64_t maximum = INT64_MAX;
    std::vector<std::int64_t> divisors{
        1, 2, 3, 5, 7, 1'000'000'007, (std::int64_t{1} << 32) + 1, maximum / 2, maximum - 1, maximum};
    for (int i = 0; i < 2000; ++i) divisors.push_back(static_cast<std::int64_t>(random_numbers() >> (1 + i % 63)) | 1);
    for (const std::int64_t d : divisors) {
        const LongDivider by(d);
        std::vector<std::int64_t> numerators{0,           1,       d - 1,           d,
                                             maximum - 1, maximum, maximum / d * d, maximum / d * d - 1};
        for (int i = 0; i < 50; ++i) {
            const auto n = static_cast<std::int64_t>(random_numbers() >> (1 + i));
            numerators.insert(numerators.end(), {n, n / d * d});
        }
        for (const std::int64_t n : numerators) hold(by.quotient(n) == n / d, "LongDivider");
    }
}

// The generator's numbers from a seed are `mix` of multiples of its increment; these are those that others print.
void random_numbers_are_splitmix() {
    constexpr std::uint64_t increment = 0x9e3779b97f4a7c15ULL;
    const std::uint64_t known[] = {6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL,
                                   4593380528125082431ULL, 16408922859458223821ULL};
    for (std::uint64_t i = 0; i < 5; ++i) hold(mix(1234567 + i * increment) == known[i], "mix");
    hold(mix(0) == 0xe220a8397b1dcdafULL, "mix of 0");
    hold(mix(3, 4) != mix(4, 3), "the order of coordinates");
    for (const std::uint32_t n : {1u, 2u, 3u, 7u, 1000u}) {
        std::vector<std::uint32_t> count(n, 0);
        for (std::uint32_t i = 0; i < 65536; ++i) ++count.at(scale_to(i << 16, n));
        const auto [minimum, maximum] = std::minmax_element(count.begin(), count.end());
        hold(*maximum - *minimum <= 1, "scale_to is even");
        hold(scale_to(0, n) == 0 && scale_to(~0u, n) == n - 1, "the ends of scale_to");
    }
}

void runs_of_numbers() {
    for (int round = 0; round < 600; ++round) {
        const std::size_t longest = round % 5 == 0 ? 1 : round % 5 == 1 ? 3 : round % 5 == 2 ? 64 : 1000;
        const std::size_t size = random_numbers() % (round % 2 ? 200 : 5000);
        std::vector<Index> numbers;
        while (numbers.size() < size) {
            auto next = static_cast<Index>(random_numbers() % 100000) - 50000;
            // Runs of one length, as of points around others, or of any.
            std::size_t run = round % 7 == 0 ? longest : 1 + random_numbers() % longest;
            while (run-- && numbers.size() < size) numbers.push_back(next++);
        }
        std::vector<Index> truth;
        for (std::size_t i = 0; i < size; ++i)
            if (i == 0 || numbers[i] != numbers[i - 1] + 1) truth.push_back(static_cast<Index>(i));
        const std::size_t runs = truth.size();
        truth.push_back(static_cast<Index>(size));
        Consecutive consecutive{numbers};
        std::size_t known = 0;
        while (const std::size_t more = consecutive.more()) {
            hold(more <= Consecutive::maximum && known + more <= runs, "as many runs");
            for (std::size_t i = 0; i <= more; ++i)
                hold(consecutive.begins()[i] == truth[known + i], "where a run begins");
            std::fill(consecutive.begins(), consecutive.begins() + more, -7);  // the caller may use the list up
            known += more;
        }
        hold(known == runs, "all runs");
    }
}

void memory_is_recycled() {
    void* const first = take_recycled(5000);
    give_recycled(first, 5000);
    hold(take_recycled(8192) == first, "what was given back is given out again, up to the power of two");
    give_recycled(first, 8192);
    void* const other = take_recycled(8193);
    hold(other != first, "never for more than it holds");
    give_recycled(other, 8193);

    const auto work = [](unsigned char mark) {
        std::mt19937 sizes(mark);
        for (int round = 0; round < 300; ++round) {
            std::vector<std::pair<unsigned char*, std::size_t>> taken;
            for (int i = 0; i < 10; ++i) {
                const std::size_t bytes = 1 + sizes() % (i % 3 == 0 ? 100u : i % 3 == 1 ? 9000u : 300000u);
                auto* const memory = static_cast<unsigned char*>(take_recycled(bytes));
                hold(bytes < 64 || reinterpret_cast<std::uintptr_t>(memory) % 64 == 0, "lines of the cache");
                std::memset(memory, mark, bytes);
                taken.emplace_back(memory, bytes);
            }
            for (const auto& [memory, bytes] : taken) {
                hold(std::all_of(memory, memory + bytes, [=](unsigned char c) { return c == mark; }), "one owner");
                give_recycled(memory, bytes);
            }
        }
    };
    std::vector<std::thread> threads;
    for (unsigned char mark = 1; mark <= 4; ++mark) threads.emplace_back(work, mark);
    for (std::thread& thread : threads) thread.join();

    RecycledVector<int> grown;
    for (int i = 0; i < 100000; ++i) grown.push_back(i);
    for (int i = 0; i < 100000; ++i) hold(grown[static_cast<std::size_t>(i)] == i, "a vector keeps what it has");
}

void ranks_in_the_order_in_which_they_turn_up() {
    for (const std::uint64_t ranks : {1, 3, 64, 65, 5000}) {
        Numbering numbering;
        std::map<Rank, std::size_t> truth;
        for (int i = 0; i < 20000; ++i) {
            const auto rank = static_cast<Rank>(random_numbers() % ranks * (i % 2 ? 1 : 64));
            const std::size_t number = truth.try_emplace(rank, truth.size()).first->second;
            hold(numbering.of(rank) == number, "Numbering");
        }
    }
}

std::string hexadecimal(const std::string& text) {
    std::string found = "-";
    char two[3];
    for (const unsigned char c : text) {
        std::snprintf(two, sizeof two, "%02x", c);
        found += two;
    }
    return found;
}

void print(const std::string& value) {
    std::printf("text %s\n", hexadecimal(value).c_str());
}
void print(std::int64_t value) {
    std::printf("whole %lld\n", static_cast<long long>(value));
}
void print(double value) {
    std::printf("real %a\n", value);
}
void print(bool value) {
    std::printf("truth %d\n", value);
}
void print(TomlTime value) {
    std::printf("time %a\n", value.seconds);
}
void print(const TomlList& value) {
    std::printf("list");
    for (const std::int64_t number : value) std::printf(" %lld", static_cast<long long>(number));
    std::printf("\n");
}

int toml(const char* file, const char* name) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    try {
        for (const TomlTable& table : read_tables(text.str(), "file", name)) {
            std::printf("table %d\n", table.line);
            for (const TomlEntry& entry : table.entries) {
                std::printf("%s %d ", hexadecimal(entry.key).c_str(), entry.line);
                std::visit([](const auto& value) { print(value); }, entry.value);
            }
        }
    } catch (const InputError& error) {
        std::printf("refused %s\n", error.what());
    }
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    if (count == 4 && std::string(arguments[1]) == "toml") return toml(arguments[2], arguments[3]);
    exact_division();
    exact_division_of_long_numbers();
    random_numbers_are_splitmix();
    runs_of_numbers();
    memory_is_recycled();
    ranks_in_the_order_in_which_they_turn_up();
    std::puts("all as it should be");
}
