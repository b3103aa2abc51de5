// The spherical-harmonics transform of a rank: the two stages of computing, and the exchanges between them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "spectral/distribution.hpp"
#include "spectral/fourier_stage.hpp"
#include "spectral/legendre_stage.hpp"

namespace tradewind::spectral {

// Makes what carries out a pattern from one array of this rank to another. All ranks make the same ones, in one order.
using Exchange = std::function<void()>;
using MakeExchange = std::function<Exchange(std::shared_ptr<const pattern::Redistribution>, bool complex,
                                            const void* source, void* target)>;

// Which transform: the derivation, the way, and whether it is the adjoint of the other way, whose products count
// coefficients of m > 0 `weight` times.
struct Operation {
    Derived derived = Derived::none;
    bool to_grid = true;
    bool adjoint = false;
    double weight = 2;
};

// The points of each field of this rank: of one or two variables [level][point], `stride` numbers from level to level.
template <class Real>
struct GridFields {
    std::array<Real*, 2> values;
    std::array<Index, 2> stride;
};

template <class Real>
class Transform {
  public:
    // `make` is not called where there is one rank.
    Transform(std::shared_ptr<const Distribution> distribution, Rank rank, int threads, double radius,
              MakeExchange make);

    const Distribution& distribution() const { return *distribution_; }
    const LegendreStage<Real>& legendre() const { return legendre_; }

    // The transform of fields of `levels` levels; in spectral space this rank has those of its level set. What stays
    // for the next call with as many: the exchanges, and their arrays. Collective.
    void run(const Operation& operation, Index levels, const SpectralFields<Real>& spectral,
             const GridFields<Real>& grid);

  private:
    // The arrays of a number of fields in their layouts, and the exchanges between them.
    struct Workspace {
        std::vector<Real> points, rows;                        // [field][point]
        std::vector<std::complex<Real>> fourier, wavenumbers;  // [m, row][field]
        Exchange to_rows, to_points, to_wavenumbers, to_fourier;
    };

    Workspace& workspace(Fields fields);
    void run_alone(const Operation& operation, const SpectralFields<Real>& spectral, const GridFields<Real>& grid);
    RowFactors factors(const Operation& operation) const;
    // The arrays of the caller, in the order of `points`.
    std::vector<Real*> caller_lines(Fields fields, const GridFields<Real>& grid) const;

    std::shared_ptr<const Distribution> distribution_;
    std::shared_ptr<const Truncation> truncation_;
    Rank rank_;
    kernel::Team team_;
    FourierStage<Real> fourier_;
    LegendreStage<Real> legendre_;
    MakeExchange make_;
    std::map<Fields, Workspace> workspaces_;
    std::vector<std::complex<Real>> between_;  // of one rank
};

}  // namespace tradewind::spectral
