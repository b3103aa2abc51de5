// Who owns what in a transform on many ranks: grid points, rows, wavenumbers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "layout/product.hpp"
#include "pattern/redistribution.hpp"
#include "spectral/truncation.hpp"

namespace tradewind::spectral {

// The number V of level sets: the smallest of 4 or more that divides the ranks with V <= ranks / V. Where there is
// none, of the divisors the one that makes W x V nearest to a square, V the smaller. No more sets than there are
// levels, and where that can be, no more than `most` sets of wavenumbers.
Index default_level_sets(Index ranks, Index levels, Index most);

// The numbers of fields of a transform: those of a level set lie one after another, all its levels of the first
// variable before those of the next.
struct Fields {
    Index levels, variables;
    Index count() const { return levels * variables; }
    friend auto operator<=>(const Fields&, const Fields&) = default;
};

// ranks = W x V: rank p has the wavenumber set w = p / V and the level set v = p % V.
//
//     points        bands of equal numbers of grid points by all ranks, a row may be shared; all fields
//     rows          whole rows by w, fields by v; FFT
//     wavenumbers   lists of wavenumbers by w, fields by v; Legendre transform
//
// This is the distribution of ecTrans (Barros et al. 1995, "The IFS model: A parallel production weather code"), but
// for what is made even; and that of python/tradewind/spectral/distribution.py, where no wavenumber is split.
class Distribution {
  public:
    // level_sets: V, 0 for the default. dealt: "packed" or "snake". Throws InputError where V does not divide the
    // ranks, where there are more sets than rows or wavenumbers, and more ranks than points.
    Distribution(std::shared_ptr<const Truncation> truncation, Rank ranks, Index level_sets, const std::string& dealt);

    const Truncation& truncation() const { return *truncation_; }
    Rank ranks() const { return ranks_; }
    Index level_sets() const { return level_sets_; }
    Index sets() const { return ranks_ / level_sets_; }
    // A rank's wavenumbers, ascending; its rows, its grid points, and its share of a number of levels.
    const std::vector<Index>& wavenumbers_of(Rank rank) const { return lists_[set_of(rank)]; }
    layout::Run rows_of(Rank rank) const { return {row_cuts_[set_of(rank)], row_cuts_[set_of(rank) + 1]}; }
    layout::Run points_of(Rank rank) const;
    layout::Run levels_of(Rank rank, Index levels) const;
    Index first_level(Index level_set, Index levels) const;

    // Grid points from bands to whole rows; Fourier coefficients from rows to wavenumbers. And the ways back.
    std::shared_ptr<const pattern::Redistribution> to_rows(Fields fields, bool back) const;
    std::shared_ptr<const pattern::Redistribution> to_wavenumbers(Fields fields, bool back) const;

  private:
    std::size_t set_of(Rank rank) const { return static_cast<std::size_t>(rank / level_sets_); }
    void check() const;
    layout::Parts field_parts(Fields fields) const;
    layout::Product in_lines(Fields fields, std::array<layout::Parts, 2> parts, std::array<int, 3> coordinates,
                             const std::string& name) const;

    std::shared_ptr<const Truncation> truncation_;
    Rank ranks_;
    Index level_sets_;
    std::vector<std::vector<Index>> lists_;
    std::vector<std::int32_t> owners_;  // [m]
    std::vector<Index> row_cuts_;
};

}  // namespace tradewind::spectral
