#include "mpi/packing/block.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"

namespace tradewind::mpi {

namespace {

// Walks over the runs of a message, taking as much of them at a time as is asked for.
class RunReader {
  public:
    explicit RunReader(const std::vector<Block>& blocks) {
        for (const Block& b : blocks)
            if (b.bytes() > 0) blocks_.push_back(joined(b));
    }
    bool done() const { return block_ == blocks_.size(); }
    Index left() const { return blocks_[block_].run - used_; }
    Copier* copier() const { return blocks_[block_].copier; }
    std::byte* take(Index bytes) {
        const Block& b = blocks_[block_];
        std::byte* at = b.data + used_;
        for (int a = 0; a < 3; ++a) at += place_[a] * b.stride[a];
        used_ += bytes;
        if (used_ == b.run) next(b);
        return at;
    }

  private:
    void next(const Block& b) {
        used_ = 0;
        for (int a = 0; a < 3; ++a) {
            if (++place_[a] < b.shape[a]) return;
            place_[a] = 0;
        }
        ++block_;
    }

    std::vector<Block> blocks_;
    std::size_t block_ = 0;
    std::array<Index, 3> place_{0, 0, 0};
    Index used_ = 0;  // bytes of the run
};

bool alike(const std::vector<Block>& a, const std::vector<Block>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Block& p, const Block& q) { return p.run == q.run && p.shape == q.shape; });
}

StridedCopy copy_of(const Block& from, const Block& to, Stores stores) {
    return make_copy({from.data, from.stride, from.copier}, {to.data, to.stride, to.copier}, to.shape, to.run, stores);
}

// Appends bytes `begin` to `end` of a block whose loops from `a` outwards have one iteration.
void append_slice(Block block, int a, Index begin, Index end, std::vector<Block>& slices) {
    while (a > 0 && block.shape[a - 1] == 1) --a;
    if (begin == end) return;
    if (a == 0) {
        slices.push_back(buffer_block(block.data + begin, end - begin, block.copier));
        return;
    }
    --a;
    const Index bytes = block.bytes() / block.shape[a], first = (begin + bytes - 1) / bytes, last = end / bytes;
    const auto iterations = [&](Index from, Index count) {
        Block part = block;
        part.data += from * block.stride[a];
        part.shape[a] = count;
        return part;
    };
    if (first > last) {  // all within one iteration
        append_slice(iterations(last, 1), a, begin - last * bytes, end - last * bytes, slices);
        return;
    }
    if (begin < first * bytes) append_slice(iterations(first - 1, 1), a, begin - (first - 1) * bytes, bytes, slices);
    if (first < last) slices.push_back(iterations(first, last - first));
    append_slice(iterations(last, 1), a, 0, end - last * bytes, slices);
}

// The part of one run of memory that a block fills, as a block of the same shape.
Block dense(std::byte* data, const Block& like, Copier* copier) {
    return {data, like.run, like.shape, dense_strides(like.shape, like.run), copier};
}

}  // namespace

Block joined(const Block& block) {
    Block result{block.data, block.run, {1, 1, 1}, {0, 0, 0}, block.copier};
    int kept = 0;
    for (int a = 0; a < 3; ++a) {
        if (block.shape[a] == 1) continue;
        if (kept == 0 && block.stride[a] == result.run)
            result.run *= block.shape[a];
        else if (kept > 0 && block.stride[a] == result.stride[kept - 1] * result.shape[kept - 1])
            result.shape[kept - 1] *= block.shape[a];
        else {
            result.shape[kept] = block.shape[a];
            result.stride[kept++] = block.stride[a];
        }
    }
    return result;
}

bool one_run(const std::vector<Block>& blocks) {
    return blocks.size() == 1 && joined(blocks[0]).contiguous();
}

std::vector<Block> slice(const std::vector<Block>& blocks, Index begin, Index end) {
    std::vector<Block> slices;
    Index at = 0;  // where the next block begins in the message
    for (const Block& block : blocks) {
        const Index bytes = block.bytes();
        const Index first = std::max(begin - at, Index{0}), last = std::min(end - at, bytes);
        if (first < last) append_slice(joined(block), 3, first, last, slices);
        at += bytes;
    }
    return slices;
}

Extent extent_of(const Block& block) {
    Extent extent{block.data, block.data + block.run};
    for (int a = 0; a < 3; ++a) {
        const Index reach = (block.shape[a] - 1) * block.stride[a];
        (reach < 0 ? extent.begin : extent.end) += reach;
    }
    return extent;
}

// FNV-1a of 32-bit words (Fowler, Noll & Vo 1991, with their 64-bit prime).
std::uint64_t checksum(const std::vector<Block>& blocks) {
    std::uint64_t sum = 0xcbf29ce484222325;
    for (RunReader reader(blocks); !reader.done();) {
        const Index bytes = reader.left();
        const std::byte* run = reader.take(bytes);
        for (Index i = 0; i < bytes; i += 4) {
            std::uint32_t word;
            std::memcpy(&word, run + i, sizeof word);
            sum = (sum ^ word) * 0x100000001b3;
        }
    }
    return sum;
}

std::vector<RunPair> common_runs(const std::vector<Block>& here, const std::vector<Block>& there, std::size_t maximum) {
    std::vector<RunPair> runs;
    RunReader a(here), b(there);
    while (!a.done() && !b.done()) {
        const Index bytes = std::min(a.left(), b.left());
        Copier *const here_in = a.copier(), *const there_in = b.copier();
        const RunPair next{a.take(bytes), b.take(bytes), bytes, here_in, there_in};
        if (!runs.empty() && runs.back().here + runs.back().bytes == next.here &&
            runs.back().there + runs.back().bytes == next.there && runs.back().copier_here == here_in &&
            runs.back().copier_there == there_in)
            runs.back().bytes += bytes;
        else
            runs.push_back(next);
        if (runs.size() > maximum)
            throw InputError("packing \"direct\": one message is more than " + std::to_string(maximum) +
                             " contiguous runs, the first of " + std::to_string(runs[0].bytes) +
                             " bytes; packing buffer or datatype are for such arrays");
    }
    if (!a.done() || !b.done()) throw InputError("the two ends of a message have different lengths");
    return runs;
}

void append_copies(const std::vector<Block>& from, const std::vector<Block>& to, Stores stores,
                   std::vector<StridedCopy>& copies) {
    if (alike(from, to)) {
        for (std::size_t i = 0; i < from.size(); ++i) copies.push_back(copy_of(from[i], to[i], stores));
        return;
    }
    if (from.size() == 1 && from[0].contiguous()) {
        std::byte* data = from[0].data;
        for (const Block& b : to) {
            copies.push_back(copy_of(dense(data, b, from[0].copier), b, stores));
            data += b.bytes();
        }
        return;
    }
    if (to.size() == 1 && to[0].contiguous()) {
        std::byte* data = to[0].data;
        for (const Block& b : from) {
            copies.push_back(copy_of(b, dense(data, b, to[0].copier), stores));
            data += b.bytes();
        }
        return;
    }
    for (const RunPair& run : common_runs(from, to, std::size_t{1} << 24))
        copies.push_back(copy_of(buffer_block(run.here, run.bytes, run.copier_here),
                                 buffer_block(run.there, run.bytes, run.copier_there), stores));
}

}  // namespace tradewind::mpi
