#include "kernel/nekbone/elements.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace tradewind::kernel {

namespace {

void check_size(const char* what, std::size_t size, std::size_t wanted) {
    if (size != wanted)
        throw InputError(std::string(what) + ": " + std::to_string(size) + " values: " + std::to_string(wanted) +
                         " are allowed");
}

// Values at the corners of a cube to coefficients of products of coordinates, which are -1 and 1 there.
void to_coefficients(const double* vertices, double* out) {
    constexpr int corners = Elements::corners, directions = Elements::directions;
    for (int q = 0; q < corners * directions; ++q) out[q] = vertices[q] / corners;
    for (int side = 1; side < corners; side *= 2)
        for (int q = 0; q < corners; ++q) {
            if (q & side) continue;
            for (int d = 0; d < directions; ++d) {
                double &low = out[q * directions + d], &high = out[(q + side) * directions + d];
                const double sum = low + high;
                high -= low;
                low = sum;
            }
        }
}

std::vector<float> rounded(const std::vector<double>& values) {
    std::vector<float> found;
    for (const double value : values) found.push_back(static_cast<float>(value));
    return found;
}

}  // namespace

Elements::Elements(std::span<const double> nodes, std::span<const double> weights, std::span<const double> derivative,
                   std::span<const double> vertices, std::span<const std::uint8_t> open)
    : points_(static_cast<int>(nodes.size())), open_(open.begin(), open.end()) {
    const std::size_t n = nodes.size();
    if (n < minimum_points || n > maximum_points)
        throw InputError("points " + std::to_string(n) + ": " + std::to_string(minimum_points) + ".." +
                         std::to_string(maximum_points) + " in each direction of an element are allowed");
    check_size("weights", weights.size(), n);
    check_size("derivative", derivative.size(), n * n);
    check_size("vertices", vertices.size(), open.size() * corners * directions);
    auto& [whole, single] = tables_;
    whole.nodes.assign(nodes.begin(), nodes.end());
    whole.weights.assign(weights.begin(), weights.end());
    whole.derivative.assign(derivative.begin(), derivative.end());
    whole.transposed.resize(derivative.size());
    whole.coefficients.resize(vertices.size());
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t m = 0; m < n; ++m) whole.transposed[m * n + i] = derivative[i * n + m];
    for (std::size_t e = 0; e < open.size(); ++e)
        to_coefficients(vertices.data() + e * corners * directions,
                        whole.coefficients.data() + e * corners * directions);
    single = {rounded(whole.nodes), rounded(whole.weights), rounded(whole.derivative), rounded(whole.transposed),
              rounded(whole.coefficients)};
    check_volumes();
}

// The determinant at each of the points of quadrature, which are all that the loops know of an element.
void Elements::check_volumes() const {
    std::vector<double> mass(static_cast<std::size_t>(count() * volume()));
    Team alone(1);
    element_mass(*this, mass.data(), alone);
    const auto bad = std::find_if(mass.begin(), mass.end(), [](double value) { return !(value > 0); });
    if (bad != mass.end())
        throw InputError("element " + std::to_string((bad - mass.begin()) / volume()) +
                         " has no volume, or is inside out, at its point " +
                         std::to_string((bad - mass.begin()) % volume()) +
                         ": vertices in the order of x, then y, then z are allowed, deformed less than that");
}

template <class Real>
void Elements::shares(Index element, Real* row, Real* plane) const {
    const int n = points();
    const unsigned open = open_[static_cast<std::size_t>(element)];
    const auto share = [&](int direction, int at) {
        const bool low = at == 0 && (open >> (2 * direction) & 1U),
                   high = at == n - 1 && (open >> (2 * direction + 1) & 1U);
        return low || high ? Real(0.5) : Real(1);
    };
    for (int i = 0; i < n; ++i) row[i] = share(0, i);
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j) plane[k * n + j] = share(1, j) * share(2, k);
}
template void Elements::shares(Index, float*, float*) const;
template void Elements::shares(Index, double*, double*) const;

}  // namespace tradewind::kernel
