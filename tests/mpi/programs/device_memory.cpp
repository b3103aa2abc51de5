// Plans on arrays in a memory that only its copier may touch, beside the same plans on the host's memory.
//   device_memory equal    every algorithm, transport and packing that go together: the same bytes must come out
//   device_memory forget   the same with a copier that never finishes what it has begun: they must not
//   device_memory mixed    arrays of two memories in one plan, which is refused
//   device_memory touch    reads such an array itself, which must end the process
#include <mpi.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "algorithm/registry.hpp"
#include "layout/blocks.hpp"
#include "mpi/packing/copier.hpp"
#include "mpi/plan.hpp"
#include "pattern/allreduce.hpp"
#include "pattern/fetch_adjoint.hpp"
#include "pattern/halo.hpp"
#include "pattern/transpose.hpp"
#include "schedule/transport.hpp"

using namespace tradewind;
using namespace tradewind::mpi;

namespace {

[[noreturn]] void fail(const std::string& what) {
    std::printf("wrong: %s\n", what.c_str());
    std::fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::exit(1);
}

// Its pages may be neither read nor written but while it copies. Copies are begun, and carried out when it is asked to
// finish them, as those of a GPU's stream may be.
class FakeDevice : public Copier {
  public:
    explicit FakeDevice(std::string name, bool forgets = false) : name_(std::move(name)), forgets_(forgets) {}
    ~FakeDevice() override {
        for (const Region& region : regions_) munmap(region.begin, region.bytes);
    }

    std::byte* allocate(std::size_t bytes) {
        bytes = (bytes + 4095) / 4096 * 4096 + 4096;
        void* mapped = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED) fail("no memory");
        regions_.push_back({static_cast<std::byte*>(mapped), bytes});
        return regions_.back().begin;
    }
    void write(std::byte* to, const std::vector<std::byte>& from) {
        open(PROT_READ | PROT_WRITE);
        std::memcpy(to, from.data(), from.size());
        open(PROT_NONE);
    }
    std::vector<std::byte> read(const std::byte* from, std::size_t bytes) {
        open(PROT_READ);
        std::vector<std::byte> all(from, from + bytes);
        open(PROT_NONE);
        return all;
    }

    std::string memory() const override { return name_; }
    void compile(StridedCopy& copy) override {
        if (copy.from_host == holds(copy.from) || copy.to_host == holds(copy.to))
            fail("a copy that does not say in which memory its ends lie");
        StridedCopy& own = kept_.emplace_back(copy);
        host_copier().compile(own);
        copy.kept = &own;
        copy.execute = [](const StridedCopy& c) {
            static_cast<FakeDevice*>(c.copier)->begun_.push_back(static_cast<const StridedCopy*>(c.kept));
        };
    }
    void finish() override {
        if (!forgets_ && !begun_.empty()) {
            open(PROT_READ | PROT_WRITE);
            for (const StridedCopy* copy : begun_) copy->execute(*copy);
            open(PROT_NONE);
        }
        begun_.clear();
    }
    bool idle() const { return begun_.empty(); }

  private:
    struct Region {
        std::byte* begin;
        std::size_t bytes;
    };
    bool holds(const std::byte* place) const {
        for (const Region& region : regions_)
            if (place >= region.begin && place < region.begin + region.bytes) return true;
        return false;
    }
    void open(int how) {
        for (const Region& region : regions_)
            if (mprotect(region.begin, region.bytes, how) != 0) fail("mprotect");
    }

    const std::string name_;
    const bool forgets_;
    std::vector<Region> regions_;
    std::deque<StridedCopy> kept_;
    std::vector<const StridedCopy*> begun_;
};

using PatternPtr = std::shared_ptr<const pattern::Pattern>;

PatternPtr fetch_of_both() {
    // Runs of several lengths, single points, a point twice, and points of the rank itself.
    const std::vector<Index> owned{40, 30};
    pattern::FetchList first, second;
    for (const Index i : {3, 4, 5, 6, 9, 11, 12, 20, 20}) first.owner.push_back(1), first.index.push_back(i);
    for (const Index i : {7, 8, 30}) first.owner.push_back(0), first.index.push_back(i);
    for (const Index i : {0, 1, 2, 39, 37, 35, 33, 10, 11}) second.owner.push_back(0), second.index.push_back(i);
    second.owner.push_back(1), second.index.push_back(29);
    for (auto* list : {&first, &second}) list->target = static_cast<Index>(list->owner.size());
    return pattern::Fetch(owned, {first, second}).with_levels({3, 2});
}

std::vector<PatternPtr> patterns() {
    const layout::Grid grid(24, 18, 5);
    const layout::Blocks columns(grid, {2, 1}), rows(grid, {1, 2});
    const auto fetch = std::static_pointer_cast<const pattern::Fetch>(fetch_of_both());
    return {
        std::make_shared<pattern::Halo>(columns, 3, std::array{true, false}),
        std::make_shared<pattern::Halo>(rows, 2, std::array{true, true}),
        std::make_shared<pattern::Transpose>(columns, layout::Blocks(grid, {2, 1}, "zy")),
        fetch,
        std::make_shared<pattern::FetchAdjoint>(fetch),
        std::make_shared<pattern::AllReduce>(2, 1000),
    };
}

// Fields of a side: the first stored x fastest, the second z fastest.
struct Side {
    std::vector<std::vector<std::byte>> values;
    std::vector<Field> fields;

    Side(const layout::Box& box, int rank, int count, double offset, const std::shared_ptr<FakeDevice>& device)
        : device_(device) {
        const std::array<Index, 3> shape{box.width(0), box.width(1), box.width(2)};
        for (int f = 0; f < count; ++f) {
            const Index points = shape[0] * shape[1] * shape[2];
            auto& bytes = values.emplace_back(static_cast<std::size_t>(points) * sizeof(double));
            for (Index i = 0; i < points; ++i) {
                const double value = offset + 1e5 * rank + 1e4 * f + 0.1 * static_cast<double>(i);
                std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof value, &value, sizeof value);
            }
            const Index unit = sizeof(double);
            const std::array<Index, 3> stride = f == 0 ? std::array{unit, unit * shape[0], unit * shape[0] * shape[1]}
                                                       : std::array{unit * shape[2] * shape[1], unit * shape[2], unit};
            std::byte* data = bytes.data();
            if (device) {
                data = device->allocate(bytes.size());
                device->write(data, bytes);
            }
            fields.push_back({data, shape, stride, device});
        }
    }
    std::vector<std::vector<std::byte>> now() const {
        if (!device_) return values;
        std::vector<std::vector<std::byte>> all;
        for (std::size_t f = 0; f < fields.size(); ++f) all.push_back(device_->read(fields[f].data, values[f].size()));
        return all;
    }

  private:
    std::shared_ptr<FakeDevice> device_;
};

// The arrays after two calls of a plan, one by start and wait.
std::vector<std::vector<std::byte>> result(const pattern::Pattern& pattern, const std::string& algorithm,
                                           PlanRequest request, int fields, const std::shared_ptr<FakeDevice>& device) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Side source(pattern.source_box(rank), rank, fields, 0, device);
    Side target(pattern.target_box(rank), rank, fields, 0.5, device);
    request.source = source.fields;
    request.target = pattern.in_place() ? source.fields : target.fields;
    std::unique_ptr<Plan> plan;
    if (algorithm == "native") {
        plan = make_native_plan(pattern, MPI_COMM_WORLD, request);
    } else {
        // The schedule asks for the pattern to be shared, and does not outlive it here.
        const PatternPtr shared(PatternPtr(), &pattern);
        plan = make_plan(*algorithm::make_schedule(shared, algorithm), MPI_COMM_WORLD, request);
    }
    plan->run();
    plan->start();
    plan->wait();
    if (device && !device->idle()) fail("copies were begun and not finished: " + plan->describe());
    return pattern.in_place() ? source.now() : target.now();
}

bool same(const pattern::Pattern& pattern, const std::string& algorithm, const PlanRequest& request, int fields,
          bool forgets) {
    const auto device = std::make_shared<FakeDevice>("fake:0", forgets);
    return result(pattern, algorithm, request, fields, nullptr) == result(pattern, algorithm, request, fields, device);
}

int compare(bool forgets) {
    int plans = 0, different = 0;
    const auto count = [&](const pattern::Pattern& pattern, const std::string& algorithm, const PlanRequest& request) {
        ++plans;
        if (same(pattern, algorithm, request, 1 + plans % 2, forgets)) return;
        ++different;
        if (!forgets) fail(pattern.describe() + ", " + algorithm + ", " + request.transport + ", " + request.packing);
    };
    for (const PatternPtr& pattern : patterns()) {
        for (const algorithm::AlgorithmEntry& entry : algorithm::algorithms()) {
            if (entry.pattern != pattern->name()) continue;
            std::string name = entry.name;
            if (entry.has_radix) name.back() = entry.radices(*pattern)[1] < 2 ? '1' : '2';
            const auto schedule = algorithm::make_schedule(pattern, name);
            for (const schedule::TransportEntry& transport : schedule::transports())
                for (const schedule::PackingEntry& packing : schedule::packings()) {
                    if (!schedule::transport_refusal(*schedule, transport.name, packing.name).empty()) continue;
                    PlanRequest request;
                    request.transport = transport.name;
                    request.packing = packing.name;
                    request.check = plans % 3 == 1 && !forgets;  // checksums would see it, too
                    request.pack_ahead = plans % 4 != 2;
                    request.largest_message = Bytes{plans % 5 == 3 ? 512 : 1 << 30};
                    count(*pattern, name, request);
                }
        }
        if (pattern->collective() == pattern::Collective::reduction) count(*pattern, "native", {});
    }
    int everywhere = 0;
    MPI_Allreduce(&different, &everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::printf("%d plans, %d different\n", plans, everywhere);
    return 0;
}

int mixed() {
    const auto halo = patterns()[2];
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const auto one = std::make_shared<FakeDevice>("fake:0"), other = std::make_shared<FakeDevice>("fake:1");
    for (const auto& target_in : {other, std::shared_ptr<FakeDevice>()}) {
        Side source(halo->source_box(rank), rank, 1, 0, one), target(halo->target_box(rank), rank, 1, 0, target_in);
        PlanRequest request;
        request.source = source.fields;
        request.target = target.fields;
        try {
            make_plan(*algorithm::make_schedule(halo, "burst"), MPI_COMM_WORLD, request);
            fail("arrays of two memories were taken");
        } catch (const InputError& error) {
            if (rank == 0) std::printf("%s\n", error.what());
        }
    }
    return 0;
}

int touch() {
    FakeDevice device("fake:0");
    const std::byte* place = device.allocate(8);
    std::printf("%d\n", static_cast<int>(*const_cast<const volatile std::byte*>(place)));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "touch") return touch();
    MPI_Init(&argc, &argv);
    const int code = what == "mixed" ? mixed() : compare(what == "forget");
    MPI_Finalize();
    return code;
}
