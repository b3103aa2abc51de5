// The plan of a schedule: its stages one after another, carried by a transport, with what a rank does alone before,
// meanwhile and after.
#include <array>
#include <functional>

#include "mpi/carrier.hpp"
#include "mpi/checksums.hpp"
#include "mpi/device/staging.hpp"
#include "mpi/error.hpp"
#include "mpi/gather_scatter.hpp"
#include "mpi/prepare.hpp"
#include "schedule/transport.hpp"

namespace tradewind::mpi {

namespace {

class StagedPlan : public Plan {
  public:
    StagedPlan(const schedule::Schedule& schedule, MPI_Comm comm, const PlanRequest& request)
        : Plan(comm, schedule.pattern(), schedule.algorithm(), request),
          work_(std::make_unique<Work>(Work{request, communicator_, Program(), recorder_, describe()})),
          schedule_adds_(schedule.adds()),
          combine_(schedule.pattern().reduces() ? combine_function(request.element, request.operation) : nullptr) {
        const auto transport = make_transport(request.transport);
        const Buffering buffering = transport->buffering(communicator_, request);
        std::unique_ptr<Compiler> compiler;
        const std::array<std::function<void()>, 4> steps{
            [&] { compiler = std::make_unique<Compiler>(schedule, communicator_.rank(), request, buffering); },
            [&] {
                const Index out = compiler->outgoing_bytes(), in = compiler->incoming_bytes();
                if (request.source[0].copier)
                    buffers_ = staging_.buffers(*transport, communicator_, request, out, in);
                else
                    buffers_ = transport->buffers(communicator_, request, out, in);
            },
            [&] {
                work_->program = compiler->compile(buffers_->outgoing, buffers_->incoming, staging_.direct(),
                                                   [&](int peer) { return transport->reaches(peer); });
            },
            [&] {
                carrier_ = transport->carrier(*work_, schedule, *buffers_);
                if (request.check) checksums_ = std::make_unique<Checksums>(*work_);
            },
        };
        if (transport->alone(request))
            collectively([&] {
                for (const auto& step : steps) step();
            });
        else
            for (const auto& step : steps) collectively(step);
        messages_ = carrier_->messages();
        staged_ = staging_.text();
        if (request.carried_by().one_stage) any_local_ = find_any_local();
        for (const StageProgram& stage : work_->program.stages)
            for (const End& end : stage.sends) bytes_sent_ += Bytes{end.bytes};
    }

    // Memory on which MPI or peers still work is never freed: nothing else is safe. On a device only copies that were
    // begun do.
    ~StagedPlan() override {
        if (settled()) {
            if (program().copier) program().copier->wait_at_the_end();
            return;
        }
        carrier_.release();
        staging_.release();
        buffers_.release();
        checksums_.release();
        work_.release();
    }

    bool pokes() const override { return carrier_->pokes(); }
    std::vector<Sent> sent() const override {
        std::vector<Sent> all;
        for (std::size_t s = 0; s < work_->program.stages.size(); ++s)
            for (const End& end : work_->program.stages[s].sends)
                all.push_back({static_cast<int>(s), end.peer, Bytes{end.bytes}, end.tag, end.parity});
        return all;
    }
    void copy_only() override {
        enter();
        for (int s = 0; s < stages(); ++s) {
            for (const End& end : work_->stage(s).sends) program().gather(end);
            program().copy(work_->stage(s).local);
            deliver(s);
            program().finish_copies();
        }
        leave();
    }

  protected:
    void begin() override {
        enter();
        carrier_->overlap(true);
        posted_ = 0;
        if (stages() > 0) post(0);
    }
    void finish() override {
        for (int s = posted_; s < stages(); ++s) {
            if (s > posted_) post(s);
            complete(s);
        }
        leave();
    }
    // Stages that are over have been left when the next one is posted, so that wait() goes on from there.
    bool go_on() override {
        while (posted_ < stages() && carrier_->test(posted_)) {
            end(posted_);
            if (++posted_ < stages()) post(posted_);
        }
        return posted_ >= stages();
    }
    void whole() override {
        enter();
        carrier_->overlap(false);
        for (int s = 0; s < stages(); ++s) {
            gather(s);
            if (exchange(s))
                end(s);
            else
                start(s), complete(s);
        }
        leave();
    }

  private:
    // All ranks go on, or none.
    template <typename Step>
    void collectively(Step step) {
        const auto work = [&] { return step(), true; };
        prepare(communicator_.handle(), "", work, limit_of(work_->request.watchdog_s));
    }

    // Finds whether any rank copies within itself while messages are under way; for collectives of MPI, whose plans
    // have one stage. A blocking collective on some ranks does not match a non-blocking one on others.
    bool find_any_local() const {
        int any = has_local(0);
        check(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_LOR, communicator_.handle()),
              [] { return std::string("making a plan"); });
        return any != 0;
    }
    bool has_local(int s) const { return s < stages() && work_->stage(s).local.size() > 0; }

    // The order of a call with the caller's own work on a device.
    void enter() const {
        if (program().copier) program().copier->enter();
    }
    void leave() const {
        if (program().copier) program().copier->leave();
    }

    int stages() const { return work_->stages(); }
    const Program& program() const { return work_->program; }

    void post(int s) {
        gather(s);
        start(s);
    }
    void gather(int s) {
        if (s == 0 && schedule_adds_) program().scratch.clear();
        if (checksums_) checksums_->before(s);
        for (const End& end : work_->stage(s).sends)
            if (!(end.ahead && packed_ahead_ == s)) pack(s, end);
        packed_ahead_ = -1;
        if (program().copier && !carrier_->after_copies())
            recorder_.during(Activity::pack, s, -1, 0, [&] { program().finish_copies(); });
    }
    void start(int s) {
        recorder_.during(Activity::post, s, -1, 0, [&] { carrier_->post(s); });
        copy_local(s);
    }
    bool exchange(int s) {
        bool done = false;
        if (any_local_ || has_local(s)) return false;  // which then has company
        recorder_.during(Activity::wait, s, -1, 0, [&] { done = carrier_->exchange(s); });
        return done;
    }
    void complete(int s) {
        if (s + 1 < stages()) pack_ahead(s + 1);
        waiting(s, [&] { carrier_->arrive(s); });
        end(s);
    }
    void end(int s) {
        if (checksums_) checksums_->arrived(s);
        deliver(s);
        waiting(s, [&] { carrier_->leave(s); });
        if (checksums_) checksums_->after(s);
    }
    template <typename Wait>
    void waiting(int s, Wait wait) {
        if (carrier_->records())
            wait();
        else
            recorder_.during(Activity::wait, s, -1, 0, wait);
    }

    // A message that is sent from where it lies is recorded, too, so that a time line shows where it begins and ends; a
    // carrier that records does so itself.
    void pack(int s, const End& end) {
        if (end.copies.size() == 0 && carrier_->records()) return;
        recorder_.during(Activity::pack, s, end.peer, end.bytes, [&] { program().gather(end); });
    }
    void pack_ahead(int s) {
        for (const End& end : work_->stage(s).sends)
            if (end.ahead) pack(s, end);
        packed_ahead_ = s;
    }
    void copy_local(int s) {
        const Range local = work_->stage(s).local;
        if (local.size() > 0) recorder_.during(Activity::copy, s, -1, 0, [&] { program().copy(local); });
    }
    void deliver(int s) {
        const StageProgram& stage = work_->stage(s);
        for (const End& end : stage.receives)
            if (end.copies.size() > 0 || end.staged() || (!carrier_->records() && stage.combinations.empty()))
                recorder_.during(Activity::unpack, s, end.peer, end.bytes, [&] { program().scatter(end); });
        if (!stage.combinations.empty()) recorder_.during(Activity::unpack, s, -1, 0, [&] { combine(stage); });
    }
    void combine(const StageProgram& stage) const {
        for (const Combination& c : stage.combinations) {
            program().copy(c.fetch);
            // Into the first part until the own one is reached, from then on into that one.
            std::byte* result = c.parts[0];
            for (std::size_t i = 1; i < c.parts.size(); ++i) {
                std::byte* into = i == c.own ? c.parts[i] : result;
                combine(into, result, c.parts[i], c.count);
                result = into;
            }
            program().copy(c.store);
        }
    }

    void combine(std::byte* into, const std::byte* left, const std::byte* right, Index count) const {
        if (Copier* const device = program().copier.get())
            device->combine(work_->request.element, work_->request.operation, into, left, right, count);
        else
            combine_(into, left, right, count);
    }

    std::unique_ptr<Work> work_;
    const bool schedule_adds_;
    Combine combine_;
    std::unique_ptr<Buffers> buffers_;
    Staging staging_;
    std::unique_ptr<Carrier> carrier_;
    std::unique_ptr<Checksums> checksums_;
    bool any_local_ = false;
    int posted_ = 0;         // of a plan that is under way: the first stage that is not over
    int packed_ahead_ = -1;  // the stage that has been gathered while the one before was under way
};

}  // namespace

std::unique_ptr<Plan> make_plan(const schedule::Schedule& schedule, MPI_Comm comm, const PlanRequest& request,
                                Mismatch mismatch) {
    if (const auto whole = std::dynamic_pointer_cast<const pattern::GatherScatter>(schedule.shared_pattern()))
        return make_gather_scatter_plan(schedule, whole, comm, request, mismatch);
    const auto check = [&] {
        check_request(schedule.pattern(), comm, request);
        if (const std::string refusal = schedule::transport_refusal(schedule, request.transport, request.packing);
            !refusal.empty())
            throw InputError(refusal);
        if (schedule.pattern().reduces()) combine_function(request.element, request.operation);  // which may refuse
    };
    if (!prepared(comm, identity(schedule.pattern(), schedule.algorithm(), request), mismatch,
                  limit_of(request.watchdog_s), check))
        return nullptr;
    return std::make_unique<StagedPlan>(schedule, comm, request);
}

}  // namespace tradewind::mpi
