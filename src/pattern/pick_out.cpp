#include "pattern/pick_out.hpp"

#include <bit>
#include <cstdint>

#include "base/avx2.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tradewind::pattern {

namespace {

// Where entries are read, where the next one that stays goes, and where the next one that is picked.
struct Progress {
    std::size_t read = 0, left = 0, picked = 0;
};

// The owner of an entry is unpredictable: each is written to both places, and only one of them moves on.
void pick_one_by_one(Rank owner, std::size_t count, Placed lists, Index* sources, Index* targets, Progress& at) {
    for (; at.read < count; ++at.read) {
        const Rank its = lists.owners[at.read];
        const Index source = lists.sources[at.read], target = lists.targets[at.read];
        sources[at.picked] = source;
        targets[at.picked] = target;
        lists.owners[at.left] = its;
        lists.sources[at.left] = source;
        lists.targets[at.left] = target;
        at.picked += its == owner;
        at.left += its != owner;
    }
}

#if defined(__x86_64__)
// For each choice of some of four entries, which of them come first.
struct Choices {
    alignas(32) std::int32_t halves[16][8];  // of entries of 64 bits, as pairs of 32
    alignas(16) std::int32_t whole[16][4];   // of 32
};

constexpr Choices all_choices() {
    Choices choices{};
    for (int chosen = 0; chosen < 16; ++chosen)
        for (int i = 0, n = 0; i < 4; ++i)
            if (chosen >> i & 1) {
                choices.halves[chosen][2 * n] = 2 * i;
                choices.halves[chosen][2 * n + 1] = 2 * i + 1;
                choices.whole[chosen][n++] = i;
            }
    return choices;
}

constexpr Choices choices = all_choices();

// Entries written beyond those that are meant stay inside the arrays, for no place is ahead of what is read.
__attribute__((target("avx2,popcnt"))) void pick_by_four(Rank owner, std::size_t count, Placed lists, Index* sources,
                                                         Index* targets, Progress& progress) {
    const auto write = [](Index* to, __m256i numbers, __m256i order) __attribute__((target("avx2,popcnt"))) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permutevar8x32_epi32(numbers, order));
    };
    const __m128i his = _mm_set1_epi32(owner);
    Progress at;  // in registers
    for (; at.read + 4 <= count; at.read += 4) {
        const __m128i owners = _mm_loadu_si128(reinterpret_cast<const __m128i*>(lists.owners + at.read));
        const __m256i source = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lists.sources + at.read));
        const __m256i target = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lists.targets + at.read));
        const auto same = static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(owners, his))));
        const unsigned others = same ^ 15u;
        const __m256i pick = _mm256_load_si256(reinterpret_cast<const __m256i*>(choices.halves[same]));
        const __m256i leave = _mm256_load_si256(reinterpret_cast<const __m256i*>(choices.halves[others]));
        const __m128i whose = _mm_load_si128(reinterpret_cast<const __m128i*>(choices.whole[others]));
        write(sources + at.picked, source, pick);
        write(targets + at.picked, target, pick);
        write(lists.sources + at.left, source, leave);
        write(lists.targets + at.left, target, leave);
        _mm_storeu_ps(reinterpret_cast<float*>(lists.owners + at.left),
                      _mm_permutevar_ps(_mm_castsi128_ps(owners), whose));
        const auto picked = static_cast<std::size_t>(std::popcount(same));
        at.picked += picked;
        at.left += 4 - picked;
    }
    progress = at;
}
#endif

}  // namespace

std::size_t pick_out(Rank owner, std::size_t count, Placed lists, Index* sources, Index* targets) {
    Progress at;
#if defined(__x86_64__)
    if (has_avx2()) pick_by_four(owner, count, lists, sources, targets, at);
#endif
    pick_one_by_one(owner, count, lists, sources, targets, at);
    return at.left;
}

}  // namespace tradewind::pattern
