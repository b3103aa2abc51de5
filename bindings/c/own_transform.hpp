// A transform of this rank, and the fields of its calls.
#pragma once

#include <variant>
#include <vector>

#include "mpi/communicator.hpp"
#include "mpi/prepare.hpp"
#include "objects.hpp"
#include "spectral/transform.hpp"

namespace tradewind::c {

// A field of a call, with its name.
struct NamedField {
    const char* name;
    const tw_field* field;
};

// A transform of either precision, and the communicator on which its exchanges are made.
class OwnTransform {
  public:
    // Collective; all arguments are checked, and alike on all ranks.
    OwnTransform(MPI_Comm comm, std::shared_ptr<const spectral::Distribution> distribution,
                 const tw_transform_options& options);
    OwnTransform(const OwnTransform&) = delete;
    OwnTransform& operator=(const OwnTransform&) = delete;

    MPI_Comm comm() const { return communicator_.handle(); }
    const spectral::Distribution& distribution() const { return *distribution_; }
    double limit_s() const { return mpi::limit_of(watchdog_s_); }
    void require_usable() const { communicator_.require_usable(); }

    // The share of this rank.
    Index coefficients() const;
    layout::Run points() const { return distribution_->points_of(communicator_.rank()); }
    layout::Run levels(Index levels) const { return distribution_->levels_of(communicator_.rank(), levels); }
    const std::vector<Index>& wavenumbers() const { return distribution_->wavenumbers_of(communicator_.rank()); }

    // The levels of a call. Throws InputError where its fields do not fit the transform, or each other.
    Index check(const spectral::Operation& operation, const std::vector<NamedField>& spectral,
                const std::vector<NamedField>& grid) const;
    // Collective, on checked fields.
    void run(const spectral::Operation& operation, Index levels, const std::vector<NamedField>& spectral,
             const std::vector<NamedField>& grid);

  private:
    spectral::MakeExchange maker();
    bool is_single() const { return element_ == mpi::Element::f4; }

    mpi::Communicator communicator_;
    std::shared_ptr<const spectral::Distribution> distribution_;
    mpi::Element element_;
    double watchdog_s_;
    std::variant<std::monostate, spectral::Transform<float>, spectral::Transform<double>> made_;
};

Handles<OwnTransform>& transforms();

}  // namespace tradewind::c
