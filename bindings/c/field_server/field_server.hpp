// Output and input of a model in C or Fortran by the servers that `tradewind serve` has started beside it.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "../objects.hpp"
#include "channel.hpp"
#include "mpi/error.hpp"

namespace tradewind::c {

// A field of the model. `axis`: of listed points, the direction of its arrays that is over points.
struct DefinedField {
    FieldForm form;
    std::vector<double> levels;  // their numbers
    int axis = 0;
    FieldForm single{};  // one level of it, where levels go by themselves
};

// All functions are collective over the ranks of the model. Where a rank throws InputError, the others throw PlanError.
class FieldServer {
  public:
    // Collective over `comm`, which has the ranks of the model and the servers. Throws InputError on all of them.
    explicit FieldServer(MPI_Comm comm);

    MPI_Comm comm() const { return model_; }
    int ranks() const { return agreement_->ranks(); }
    // `make` returns the field as far as this rank knows it alone, and what servers are told of it.
    template <typename Make>
    void define(const char* name, Make make);
    bool wants(const std::string& name, Index step) const { return !plan_.files(name, step).empty(); }
    void write(const char* name, const tw_field* values, Index step, Index level);
    void end_step(Index step);
    void prefetch(Index count, const char* const* paths);
    void read(const char* name, const tw_field* values, const char* path);
    void finish();
    void close();

  private:
    struct Delivery {
        PartMemory part;
        std::unique_ptr<mpi::Plan> plan;
    };
    using Delivered = std::pair<int, std::string>;

    template <typename Work>
    void telling(Work work);
    void add_field(const std::string& name, DefinedField field, Json::Object said);
    void check_once();
    const DefinedField& field_at(const std::string& name) const;
    std::vector<Index> checked_places(const std::string& name, const DefinedField& field, Index step, Index level);
    void write_files(const std::string& name, const DefinedField& field, const FieldForm& form, Index step,
                     const std::vector<Index>& places, const std::vector<OutputFile>& files, const ModelPart& values);
    void give(const FieldForm& form, const Entry& entry, const std::vector<std::string>& paths,
              const ModelPart& values);
    void mark_alike(FieldForm& form) const;
    Index bytes_of(const std::string& path, Index step) const;
    void exchange_news(bool wait);
    void apply_news();
    void raise_errors();
    void wait_for_steps();
    void refuse_lost();
    std::string with_known(const std::string& what, const std::string& name,
                           const std::vector<std::string>& known) const;

    MPI_Comm model_ = MPI_COMM_NULL;
    OutputPlan plan_;
    ServerMethod method_;
    std::unique_ptr<Agreement> agreement_;
    std::vector<std::unique_ptr<Channel>> channels_;
    Dealing dealing_;
    std::map<std::string, DefinedField> fields_;
    std::map<Index, std::set<std::pair<std::string, Index>>> written_;  // by step
    Index last_step_ = -1;                                              // that has ended
    bool checked_ = false, closed_ = false;
    std::map<std::string, int> readers_;  // by file
    Index asked_ = 0;
    std::map<Delivered, Delivery> deliveries_;
    std::vector<Index> news_;  // under way to all ranks
    MPI_Request coming_ = MPI_REQUEST_NULL;
    Index told_errors_ = 0, raised_errors_ = 0;
    std::deque<std::string> errors_;  // on the first rank
    Index heard_errors_ = 0;          // there
};

// Does what a rank does alone or together with the others; what goes wrong on this rank, the others hear of.
template <typename Work>
void FieldServer::telling(Work work) {
    if (closed_) throw mpi::PlanError("the field server is closed");
    agreement_->require_whole();
    try {
        work();
    } catch (const WriteError&) {  // all know
        throw;
    } catch (const std::exception& error) {
        agreement_->fail(error.what());
        throw;
    }
}

template <typename Make>
void FieldServer::define(const char* name, Make make) {
    telling([&] {
        require(name, "name");
        auto [field, said] = make();
        add_field(name, std::move(field), std::move(said));
    });
}

}  // namespace tradewind::c
