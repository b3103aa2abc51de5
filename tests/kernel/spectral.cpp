// Fourier transforms of rows against the sums that define them, and matrix products against plain loops.
#include <cmath>
#include <complex>
#include <numbers>

#include "kernel/spectral/products.hpp"
#include "kernel/spectral/row_transform.hpp"
#include "testing/testing.hpp"

namespace testing::kernel_spectral {

using namespace tradewind;
using namespace tradewind::kernel;

constexpr double pi = std::numbers::pi;

// Random fields of a row, and their Fourier coefficients by sums.
template <class Real>
struct Drawn {
    Drawn(Draw& draw, Index points_, Index fields) : points(points_), kept(points_ / 2 + 1) {
        for (Index field = 0; field < fields; ++field) {
            values.emplace_back();
            for (Index k = 0; k < points; ++k) values.back().push_back(static_cast<Real>(draw.real(-1, 1)));
        }
        for (auto& line : values) lines.push_back(line.data());
        for (Index m = 0; m < kept; ++m) places.push_back(2 * m + 1);
        coefficients.resize(static_cast<std::size_t>(2 * kept * fields));
    }

    std::complex<double> sum(std::size_t field, Index m) const {
        std::complex<double> out;
        for (Index k = 0; k < points; ++k)
            out += static_cast<double>(values[field][static_cast<std::size_t>(k)]) *
                   std::polar(1.0, -2 * pi * static_cast<double>(m * k % points) / static_cast<double>(points));
        return out;
    }
    RowCoefficients<Real> by(Real mean_factor, Real factor) {
        return {coefficients.data(), places.data(), static_cast<Index>(values.size()), kept, mean_factor, factor};
    }
    std::complex<double> coefficient(std::size_t field, Index m) const {
        return std::complex<double>(coefficients[static_cast<std::size_t>(2 * m + 1) * values.size() + field]);
    }

    Index points, kept;
    std::vector<std::vector<Real>> values;
    std::vector<Real*> lines;
    std::vector<Index> places;
    std::vector<std::complex<Real>> coefficients;
};

template <class Real>
void check_row(Draw& draw, Index points) {
    const double bound = std::numeric_limits<Real>::epsilon() * 4 * std::sqrt(static_cast<double>(points));
    Drawn<Real> row(draw, points, draw.integer(1, 19));
    const RowTransform<Real> transform(points);
    std::vector<Real> scratch(static_cast<std::size_t>(transform.scratch()));
    const auto before = row.values;
    transform.to_fourier(std::vector<const Real*>(row.lines.begin(), row.lines.end()).data(), row.by(2, 0.5),
                         scratch.data());
    for (std::size_t field = 0; field < before.size(); ++field)
        for (Index m = 0; m < row.kept; ++m)
            CHECK(std::abs(row.coefficient(field, m) - (m ? 0.5 : 2) * row.sum(field, m)) < bound * 8);
    // Back, each coefficient is again what it was.
    transform.to_points(row.by(Real{0.5}, 2), row.lines.data(), scratch.data());
    for (std::size_t field = 0; field < before.size(); ++field)
        for (Index k = 0; k < points; ++k) {
            const auto at = static_cast<std::size_t>(k);
            const double found = static_cast<double>(row.values[field][at]) / static_cast<double>(points);
            CHECK(std::abs(found - static_cast<double>(before[field][at])) < bound * 8);
        }
}

PROPERTY("rows of any number of points are transformed as the sums are", 60) {
    const auto points =
        draw.from<Index>({2, 3, 4, 5, 7, 9, 20, 24, 30, 36, 49, 83, 97, 166, 202, draw.integer(2, 300)});
    draw.note(std::to_string(points) + " points");
    check_row<double>(draw, points);
    check_row<float>(draw, points);
}

PROPERTY("products are those of a plain loop, to the last bit", 60) {
    const Index rows = draw.integer(1, 110), columns = draw.integer(0, 420), width = draw.integer(1, 40);
    const bool turned = draw.boolean();
    std::vector<double> a, b, c(static_cast<std::size_t>(rows * width), 7);
    for (Index i = 0; i < rows * columns; ++i) a.push_back(draw.real(-1, 1));
    for (Index i = 0; i < columns * width; ++i) b.push_back(draw.real(-1, 1));
    const Index a_row = turned ? 1 : columns, a_column = turned ? rows : 1;
    multiply(Product<double>{rows, columns, width, a.data(), a_row, a_column, b.data(), width, c.data(), width});
    for (Index i = 0; i < rows; ++i)
        for (Index w = 0; w < width; ++w) {
            double sum = 0;
            for (Index k = 0; k < columns; ++k)
                sum = std::fma(a[static_cast<std::size_t>(i * a_row + k * a_column)],
                               b[static_cast<std::size_t>(k * width + w)], sum);
            CHECK_EQUAL(c[static_cast<std::size_t>(i * width + w)], sum);
        }
}

}  // namespace testing::kernel_spectral
