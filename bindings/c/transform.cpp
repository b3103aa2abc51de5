// Transforms of spherical harmonics.
#include <algorithm>

#include "base/error.hpp"
#include "communicator.hpp"
#include "own_transform.hpp"

using namespace tradewind;
using namespace tradewind::c;

namespace {

constexpr mpi::Task make_a_transform{"make this transform", "making a transform", "make it"};
constexpr mpi::Task carry_it_out{"carry out this transform", "carrying out a transform", "carry it out"};

std::string named(const char* given) {
    return given ? given : "";
}

void check(const tw_transform_options& o) {
    if (o.element != TW_F8 && o.element != TW_F4)
        throw InputError("element type " + std::to_string(o.element) + " of a transform: TW_F8 and TW_F4 are allowed");
    if (!(o.radius >= 1e-10 && o.radius <= 1e15))
        throw InputError("radius " + std::to_string(o.radius) + ": 1e-10 to 1e15 metres are allowed");
    if (o.threads < 1 || o.threads > 1024)
        throw InputError("threads " + std::to_string(o.threads) + ": 1..1024 are allowed");
    mpi::check_watchdog(o.watchdog_s);
}

std::string dealt_of(const tw_transform_options& o) {
    return named(o.dealt).empty() ? "packed" : o.dealt;
}

std::string settings(const spectral::Distribution& d, const tw_transform_options& o) {
    const spectral::Truncation& t = d.truncation();
    std::uint64_t mark = 0;
    for (const Index row : t.grid->rows()) mark = mark * 31 + static_cast<std::uint64_t>(row);
    return "a transform " + t.text() + ", " + t.rule + ", rows " + std::to_string(mark) + ", dealt " + dealt_of(o) +
           ", " + std::to_string(d.level_sets()) + " level sets, element " + std::to_string(o.element) + ", radius " +
           std::to_string(o.radius);
}

// `make_grid`: the grid of the caller, checked.
template <class MakeGrid>
void make(MPI_Comm comm, MakeGrid make_grid, const tw_transform_options* options, tw_transform* transform) {
    require_communicator(comm);
    const tw_transform_options o = options ? *options : tw_default_transform_options();
    const double limit_s = mpi::limit_of(o.watchdog_s);
    auto distribution = raise_collectively(
        comm,
        [&] {
            require(transform, "transform");
            check(o);
            int ranks = 0;
            MPI_Comm_size(comm, &ranks);
            auto truncation = std::make_shared<const spectral::Truncation>(make_grid(), o.degree, named(o.rule));
            return std::make_shared<const spectral::Distribution>(std::move(truncation), ranks, o.level_sets,
                                                                  dealt_of(o));
        },
        limit_s);
    mpi::agree(comm, settings(*distribution, o), "", {}, limit_s, make_a_transform);
    auto made = raise_collectively(  // there may be no memory for the functions
        comm, [&] { return std::make_shared<OwnTransform>(comm, std::move(distribution), o); }, limit_s);
    go_on(comm, limit_s);
    transform->id = transforms().add(std::move(made));
}

void check_product(int product) {
    if (product != TW_WEIGHTED && product != TW_PLAIN)
        throw InputError("product " + std::to_string(product) + " of an adjoint: TW_WEIGHTED and TW_PLAIN are allowed");
}

tw_status carry_out(tw_transform transform, const char* what, spectral::Operation operation,
                    const std::vector<NamedField>& spectral, const std::vector<NamedField>& grid,
                    int product = TW_WEIGHTED) {
    return guarded([&] {
        const auto found = transforms().at(transform.id);
        found->require_usable();
        Index levels = 0;
        raise_collectively(
            found->comm(),
            [&] {
                check_product(product);
                return levels = found->check(operation, spectral, grid);
            },
            found->limit_s());
        mpi::agree(found->comm(),
                   std::string(what) + " of " + std::to_string(levels) + " levels, product " + std::to_string(product),
                   "", {}, found->limit_s(), carry_it_out);
        found->run(operation, levels, spectral, grid);
    });
}

// The same for an adjoint.
tw_status carry_out_adjoint(tw_transform transform, const char* what, int product, spectral::Operation operation,
                            const std::vector<NamedField>& spectral, const std::vector<NamedField>& grid) {
    operation.adjoint = true;
    operation.weight = product == TW_PLAIN ? 1 : 2;
    return carry_out(transform, what, operation, spectral, grid, product);
}

using spectral::Derived;
constexpr bool forth = true, back = false;  // to the grid, from it

}  // namespace

tw_transform_options tw_default_transform_options(void) {
    return {nullptr, nullptr, -1, 0, 6371229, 0, TW_F8, 1};
}

tw_status tw_transform_make(MPI_Comm comm, const char* grid, const tw_transform_options* options,
                            tw_transform* transform) {
    if (transform) transform->id = 0;
    return guarded([&] {
        const auto by_name = [&] { return std::make_shared<const spectral::GaussianGrid>(named(grid)); };
        make(comm, by_name, options, transform);
    });
}

tw_status tw_transform_make_rows(MPI_Comm comm, int64_t rows, const int64_t* lengths,
                                 const tw_transform_options* options, tw_transform* transform) {
    if (transform) transform->id = 0;
    return guarded([&] {
        const auto listed = [&] {
            if (rows > 0) require(lengths, "lengths");
            return std::make_shared<const spectral::GaussianGrid>(
                std::vector<Index>(lengths, lengths + std::max<int64_t>(rows, 0)));
        };
        make(comm, listed, options, transform);
    });
}

tw_status tw_transform_make_f(MPI_Fint comm, const char* grid, const tw_transform_options* options,
                              tw_transform* transform) {
    const tw_status status = guarded([] { require_mpi(); });
    return status == TW_OK ? tw_transform_make(MPI_Comm_f2c(comm), grid, options, transform) : status;
}

tw_status tw_transform_make_rows_f(MPI_Fint comm, int64_t rows, const int64_t* lengths,
                                   const tw_transform_options* options, tw_transform* transform) {
    const tw_status status = guarded([] { require_mpi(); });
    return status == TW_OK ? tw_transform_make_rows(MPI_Comm_f2c(comm), rows, lengths, options, transform) : status;
}

tw_status tw_transform_sizes(tw_transform transform, int64_t* degree, int64_t* first, int64_t* points,
                             int64_t* coefficients) {
    return guarded([&] {
        const auto found = transforms().at(transform.id);
        require(degree, "degree");
        require(first, "first");
        require(points, "points");
        require(coefficients, "coefficients");
        const layout::Run own = found->points();
        *degree = found->distribution().truncation().degree;
        *first = own.begin;
        *points = own.length();
        *coefficients = found->coefficients();
    });
}

tw_status tw_transform_levels(tw_transform transform, int64_t levels, int64_t* first, int64_t* count) {
    return guarded([&] {
        const auto found = transforms().at(transform.id);
        require(first, "first");
        require(count, "count");
        if (levels < 1) throw InputError(std::to_string(levels) + " levels: one or more are allowed");
        const layout::Run own = found->levels(levels);
        *first = own.begin;
        *count = own.length();
    });
}

tw_status tw_transform_coordinates(tw_transform transform, double* longitude, double* latitude) {
    return guarded([&] {
        const auto found = transforms().at(transform.id);
        require(longitude, "longitude");
        require(latitude, "latitude");
        const spectral::GaussianGrid& grid = *found->distribution().truncation().grid;
        const layout::Run own = found->points();
        for (std::size_t row = 0; row < grid.rows().size(); ++row) {
            const Index begin = grid.first()[row], points = grid.rows()[row];
            for (Index p = std::max(begin, own.begin); p < std::min(begin + points, own.end); ++p) {
                longitude[p - own.begin] = 360 * static_cast<double>(p - begin) / static_cast<double>(points);
                latitude[p - own.begin] = grid.latitude(static_cast<Index>(row));
            }
        }
    });
}

tw_status tw_transform_numbers(tw_transform transform, int64_t* m, int64_t* n) {
    return guarded([&] {
        const auto found = transforms().at(transform.id);
        require(m, "m");
        require(n, "n");
        for (const Index own : found->wavenumbers())
            for (Index degree = own; degree <= found->distribution().truncation().degree; ++degree) {
                *m++ = own;
                *n++ = degree;
            }
    });
}

tw_status tw_transform_to_grid(tw_transform transform, const tw_field* spectral, const tw_field* grid) {
    return carry_out(transform, "to_grid", {Derived::none, forth}, {{"spectral", spectral}}, {{"grid", grid}});
}

tw_status tw_transform_to_spectral(tw_transform transform, const tw_field* grid, const tw_field* spectral) {
    return carry_out(transform, "to_spectral", {Derived::none, back}, {{"spectral", spectral}}, {{"grid", grid}});
}

tw_status tw_transform_wind(tw_transform transform, const tw_field* vorticity, const tw_field* divergence,
                            const tw_field* u, const tw_field* v) {
    return carry_out(transform, "wind", {Derived::wind, forth}, {{"vorticity", vorticity}, {"divergence", divergence}},
                     {{"u", u}, {"v", v}});
}

tw_status tw_transform_vorticity_divergence(tw_transform transform, const tw_field* u, const tw_field* v,
                                            const tw_field* vorticity, const tw_field* divergence) {
    return carry_out(transform, "vorticity_divergence", {Derived::curl, back},
                     {{"vorticity", vorticity}, {"divergence", divergence}}, {{"u", u}, {"v", v}});
}

tw_status tw_transform_gradient(tw_transform transform, const tw_field* spectral, const tw_field* east,
                                const tw_field* north) {
    return carry_out(transform, "gradient", {Derived::gradient, forth}, {{"spectral", spectral}},
                     {{"east", east}, {"north", north}});
}

tw_status tw_transform_to_grid_adjoint(tw_transform transform, int product, const tw_field* grid,
                                       const tw_field* spectral) {
    return carry_out_adjoint(transform, "to_grid_adjoint", product, {Derived::none, back}, {{"spectral", spectral}},
                             {{"grid", grid}});
}

tw_status tw_transform_to_spectral_adjoint(tw_transform transform, int product, const tw_field* spectral,
                                           const tw_field* grid) {
    return carry_out_adjoint(transform, "to_spectral_adjoint", product, {Derived::none, forth},
                             {{"spectral", spectral}}, {{"grid", grid}});
}

tw_status tw_transform_wind_adjoint(tw_transform transform, int product, const tw_field* u, const tw_field* v,
                                    const tw_field* vorticity, const tw_field* divergence) {
    return carry_out_adjoint(transform, "wind_adjoint", product, {Derived::wind, back},
                             {{"vorticity", vorticity}, {"divergence", divergence}}, {{"u", u}, {"v", v}});
}

tw_status tw_transform_vorticity_divergence_adjoint(tw_transform transform, int product, const tw_field* vorticity,
                                                    const tw_field* divergence, const tw_field* u, const tw_field* v) {
    return carry_out_adjoint(transform, "vorticity_divergence_adjoint", product, {Derived::curl, forth},
                             {{"vorticity", vorticity}, {"divergence", divergence}}, {{"u", u}, {"v", v}});
}

tw_status tw_transform_gradient_adjoint(tw_transform transform, int product, const tw_field* east,
                                        const tw_field* north, const tw_field* spectral) {
    return carry_out_adjoint(transform, "gradient_adjoint", product, {Derived::gradient, back},
                             {{"spectral", spectral}}, {{"east", east}, {"north", north}});
}

tw_status tw_transform_free(tw_transform transform) {
    return guarded([&] { transforms().remove(transform.id); });
}
