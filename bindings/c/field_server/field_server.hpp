// Output and input of a model in C or Fortran by the servers that `tradewind serve` has started beside it.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "../objects.hpp"
#include "input_side.hpp"
#include "model_side.hpp"
#include "mpi/error.hpp"

namespace tradewind::c {

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
    void start(const char* name, const tw_field* values, Index step, Index level);
    // The arrays of a field are the model's again, or of all fields where there is no name.
    void wait(const char* name);
    void end_step(Index step);
    void prefetch(Index count, const char* const* paths);
    void read(const char* name, const tw_field* values, const char* path);
    void finish();
    void close();

  private:
    template <typename Work>
    void telling(Work work);
    void add_field(const std::string& name, DefinedField field, Json::Object said);
    std::string geometry_name(Json::Object& said) const;
    void check_once();
    const DefinedField& field_at(const std::string& name) const;
    std::vector<Index> checked_places(const std::string& name, const DefinedField& field, Index step, Index level);
    // Does `hand_over` with a field, when `check` and this have found nothing wrong with it.
    template <typename Check, typename HandOver>
    void hand(const std::string& call, const char* name, const tw_field* values, Index step, Index level, Check check,
              HandOver hand_over);
    void check_owners(const std::string& name, const FieldForm& form) const;
    void mark_alike(FieldForm& form) const;

    MPI_Comm model_ = MPI_COMM_NULL;
    OutputPlan plan_;
    std::unique_ptr<Agreement> agreement_;
    DefinedFields fields_;
    std::unique_ptr<ModelSide> side_;
    std::unique_ptr<InputSide> input_;
    std::map<Index, std::set<std::pair<std::string, Index>>> written_;  // by step
    std::map<std::string, std::vector<ModelSide::Sent>> started_;       // by field
    std::set<std::string> geometries_;                                  // names of those that servers know
    Index last_step_ = -1;                                              // that has ended
    bool checked_ = false, closed_ = false;
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
