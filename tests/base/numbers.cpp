// Exact division, random numbers, runs of numbers, recycled memory, ranks in order, counts: against plain arithmetic.
#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <thread>

#include "base/checked.hpp"
#include "base/consecutive.hpp"
#include "base/divide.hpp"
#include "base/error.hpp"
#include "base/long_divide.hpp"
#include "base/numbering.hpp"
#include "base/random.hpp"
#include "base/recycled.hpp"
#include "pattern/allreduce.hpp"
#include "testing/drawing.hpp"

namespace testing::base_numbers {

using namespace tradewind;

// Numbers of all sizes, and those at the ends.
template <class T>
T draw_number(Draw& draw, T minimum) {
    constexpr int bits = std::numeric_limits<T>::digits;
    constexpr auto maximum = std::numeric_limits<T>::max();
    const auto near = static_cast<T>(draw.integer(0, 2));
    switch (draw.integer(0, 3)) {
        case 0: return static_cast<T>(minimum + near);
        case 1: return static_cast<T>(maximum - near);
        case 2: return std::max(minimum, static_cast<T>((T{1} << draw.integer(1, bits - 1)) - 1 + near));
        default:
            return std::max(minimum, static_cast<T>(static_cast<std::uint64_t>(draw.integer(0, max_counted)) >>
                                                    draw.integer(63 - bits + (bits == 32), 62)));
    }
}

PROPERTY("division by a number that is fixed at run time is exact", 20000) {
    const auto d = draw_number<std::uint32_t>(draw, 1);
    const auto n = draw_number<std::uint32_t>(draw, 0);
    const Divider by(d);
    for (const auto each : {n, n / d * d, n / d * d - 1, ~0u / d * d, ~0u / d * d - 1}) {
        CHECK_EQUAL(by.quotient(each), each / d);
        CHECK_EQUAL(by.remainder(each), each % d);
    }
    const auto long_d = draw_number<std::int64_t>(draw, 1), long_n = draw_number<std::int64_t>(draw, 0);
    const LongDivider by_long(long_d);
    const auto last = max_counted / long_d * long_d;
    for (const auto each :
         {long_n, long_n / long_d * long_d, std::max<std::int64_t>(0, long_n / long_d * long_d - 1), last, last - 1}) {
        CHECK_EQUAL(by_long.quotient(each), each / long_d);
    }
}

// The generator's numbers from a seed are `mix` of multiples of its increment; these are those that others print.
TEST("random numbers are those of splitmix64, and are scaled evenly") {
    const std::vector<std::uint64_t> known{6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL,
                                           4593380528125082431ULL, 16408922859458223821ULL};
    for (std::uint64_t i = 0; i < 5; ++i) CHECK_EQUAL(mix(1234567 + i * 0x9e3779b97f4a7c15ULL), known[i]);
    CHECK_EQUAL(mix(0), 0xe220a8397b1dcdafULL);
    CHECK(mix(3, 4) != mix(4, 3));
    for (const std::uint32_t n : {1u, 2u, 3u, 7u, 1000u}) {
        std::vector<std::uint32_t> count(n, 0);
        for (std::uint32_t i = 0; i < 65536; ++i) ++count.at(scale_to(i << 16, n));
        const auto [minimum, maximum] = std::minmax_element(count.begin(), count.end());
        CHECK(*maximum - *minimum <= 1);
        CHECK(scale_to(0, n) == 0 && scale_to(~0u, n) == n - 1);
    }
}

PROPERTY("runs of numbers begin where a number does not follow the one before", 500) {
    const auto longest = draw.from(std::vector<Index>{1, 3, 64, 1000});
    const auto size = static_cast<std::size_t>(draw.integer(0, draw.boolean() ? 200 : 5000));
    const bool alike = draw.boolean();  // runs of one length, as of points around others
    std::vector<Index> numbers;
    while (numbers.size() < size) {
        // Also the same number again.
        auto next = numbers.empty() || draw.boolean() ? draw.integer(-50'000, 50'000) : numbers.back();
        for (auto run = alike ? longest : draw.integer(1, longest); run > 0 && numbers.size() < size; --run) {
            numbers.push_back(next++);
        }
    }
    std::vector<Index> truth;
    for (std::size_t i = 0; i < size; ++i) {
        if (i == 0 || numbers[i] != numbers[i - 1] + 1) truth.push_back(static_cast<Index>(i));
    }
    const auto runs = truth.size();
    truth.push_back(static_cast<Index>(size));
    Consecutive consecutive{numbers};
    std::size_t known = 0;
    while (const auto more = consecutive.more()) {
        CHECK(more <= Consecutive::maximum && known + more <= runs);
        CHECK(std::equal(consecutive.begins(), consecutive.begins() + more + 1,
                         truth.begin() + static_cast<std::ptrdiff_t>(known)));
        std::fill(consecutive.begins(), consecutive.begins() + more, -7);  // the caller may use the list up
        known += more;
    }
    CHECK_EQUAL(known, runs);
}

TEST("memory that is given back is given out again, never for more than it holds") {
    void* const first = take_recycled(5000);
    give_recycled(first, 5000);
    CHECK(take_recycled(8192) == first);  // up to the power of two
    give_recycled(first, 8192);
    void* const other = take_recycled(8193);
    CHECK(other != first);
    give_recycled(other, 8193);
    RecycledVector<int> grown;
    for (int i = 0; i < 100'000; ++i) grown.push_back(i);
    for (int i = 0; i < 100'000; ++i) CHECK_EQUAL(grown[static_cast<std::size_t>(i)], i);
}

TEST("memory has one owner at a time, whatever thread takes it, and lies in lines of the cache") {
    std::array<std::string, 4> problems;
    const auto work = [&](unsigned char mark) {
        std::mt19937 sizes(mark);
        for (int round = 0; round < 200; ++round) {
            std::vector<std::pair<unsigned char*, std::size_t>> taken;
            for (int i = 0; i < 10; ++i) {
                const std::size_t bytes = 1 + sizes() % (i % 3 == 0 ? 100u : i % 3 == 1 ? 9000u : 100'000u);
                auto* const memory = static_cast<unsigned char*>(take_recycled(bytes));
                if (bytes >= 64 && reinterpret_cast<std::uintptr_t>(memory) % 64 != 0) problems[mark - 1] = "a line";
                std::memset(memory, mark, bytes);
                taken.emplace_back(memory, bytes);
            }
            for (const auto& [memory, bytes] : taken) {
                if (memory[0] != mark || std::memcmp(memory, memory + 1, bytes - 1) != 0)
                    problems[mark - 1] = "two owners";
                give_recycled(memory, bytes);
            }
        }
    };
    std::vector<std::thread> threads;
    for (unsigned char mark = 1; mark <= 4; ++mark) threads.emplace_back(work, mark);
    for (std::thread& thread : threads) thread.join();
    for (const auto& problem : problems) CHECK_EQUAL(problem, "");
}

PROPERTY("ranks are numbered in the order in which they turn up", 200) {
    const auto ranks = draw.from(std::vector<Index>{1, 3, 64, 65, 5000});
    Numbering numbering;
    std::map<Rank, std::size_t> truth;
    for (int i = 0; i < 300; ++i) {
        const auto rank = static_cast<Rank>(draw.integer(0, ranks - 1) * (i % 2 ? 1 : 64));
        CHECK_EQUAL(numbering.of(rank), truth.try_emplace(rank, truth.size()).first->second);
    }
}

PROPERTY("products and sums are exact, or an error that names all factors", 5000) {
    const auto a = draw_number<std::int64_t>(draw, 0), b = draw_number<std::int64_t>(draw, 0),
               c = draw_number<std::int64_t>(draw, 0), maximum = draw_number<std::int64_t>(draw, 1);
    // Three numbers of 63 bits need 189: in long double steps of 2^64 would be lost, so compare by division.
    const bool fits = a == 0 || b == 0 || c == 0 || (a <= maximum / b && a * b <= maximum / c);
    if (fits) {
        const auto product = a == 0 || b == 0 || c == 0 ? 0 : a * b * c;  // a * b alone may be beyond 63 bits
        CHECK_EQUAL(checked_product({a, b, c}, maximum, "it", "points"), product);
    } else {
        const auto text = std::to_string(a) + " x " + std::to_string(b) + " x " + std::to_string(c);
        CHECK_THROWS(InputError, ({"it: " + text + " points; at most " + std::to_string(maximum) + " can be counted"}),
                     checked_product({a, b, c}, maximum, "it", "points"));
    }
    auto sum = a;
    if (b <= max_counted - a) {
        add_checked(sum, b, "it", "points");
        CHECK_EQUAL(sum, a + b);
    } else {
        CHECK_THROWS(InputError, ({"it: " + std::to_string(a) + " + " + std::to_string(b) + " points"}),
                     add_checked(sum, b, "it", "points"));
    }
}

TEST("bytes of all arrays are counted, and no more than 64 bits hold") {
    const auto reduce = std::make_shared<pattern::AllReduce>(4, Index{1} << 55);
    const layout::Blocks blocks(layout::Grid(1 << 20, 1 << 20, 1 << 17), {2, 2});
    const std::vector<PatternPtr> patterns{
        reduce, std::make_shared<pattern::Transpose>(blocks, blocks),
        std::make_shared<pattern::Halo>(layout::Blocks(layout::Grid(1 << 28, 1 << 28, 2), {2, 2}), 0,
                                        std::array{false, false})};
    for (const auto& each : patterns) {  // of 2^57 points
        pattern::check_bytes(*each, 63);
        CHECK_THROWS(InputError,
                     ({"arrays of the " + each->describe() +
                       ": 144115188075855872 x 64 bytes; at most 9223372036854775807 can be counted"}),
                     pattern::check_bytes(*each, 64));
    }
    // Each of 128 ranks sends 2^57 elements to all others: more than 2^63 in all.
    const auto many =
        algorithm::make_schedule(std::make_shared<pattern::AllReduce>(128, Index{1} << 53), "recursive-128");
    CHECK_THROWS(InputError, ({"messages of all ranks: ", "can be counted"}), verified(*many));
}

}  // namespace testing::base_numbers
