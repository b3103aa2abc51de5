// Gaussian grids: full, octahedral, and any other with symmetric rows.
#pragma once

#include <string>
#include <vector>

#include "base/units.hpp"
#include "kernel/spectral/legendre.hpp"

namespace tradewind::spectral {

class GaussianGrid {
  public:
    // The points of each row from north to south. Throws InputError for rows that are odd in number, differ between the
    // hemispheres or have fewer than 2 points.
    explicit GaussianGrid(std::vector<Index> rows);
    // "O80", the octahedral grid with 80 latitudes in a hemisphere; "F80", the full one of 160 x 320 points. Throws
    // InputError for another name.
    explicit GaussianGrid(const std::string& name);

    const std::string& name() const { return name_; }
    bool is_octahedral() const { return name_[0] == 'O'; }
    bool is_full() const;
    Index half() const { return gaussian_.latitudes(); }
    Index points() const { return first_.back(); }
    const std::vector<Index>& rows() const { return rows_; }
    // [row + 1] the first point of each.
    const std::vector<Index>& first() const { return first_; }
    const kernel::Gaussian& gaussian() const { return gaussian_; }
    // The latitude of a row in degrees, positive in the north; its cosine; the share of a row in the mean over the
    // sphere.
    double latitude(Index row) const;
    double cosine(Index row) const;
    double weight(Index row) const;

  private:
    std::size_t north_of(Index row) const;  // the place in the northern hemisphere of a row or of its mirror image

    std::vector<Index> rows_, first_;
    std::string name_;
    kernel::Gaussian gaussian_;
};

}  // namespace tradewind::spectral
