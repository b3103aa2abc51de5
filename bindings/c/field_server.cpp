// The functions of field servers.
#include "fieldserver/field_server.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <initializer_list>
#include <set>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "communicator.hpp"
#include "field.hpp"
#include "mpi/device/transfer.hpp"
#include "mpi/memory.hpp"
#include "mpi/packing/copy.hpp"
#include "objects.hpp"

using namespace tradewind;
using namespace tradewind::c;
using fieldserver::FieldForm;
using fieldserver::FieldServer;
using fieldserver::Json;

namespace {

Handles<FieldServer>& servers() {
    static Handles<FieldServer>& all = *new Handles<FieldServer>("field server");
    return all;
}

std::string text(const char* given, const char* what) {
    require(given, what);
    return given;
}

template <typename Work>
tw_status with_server(tw_field_server server, Work work) noexcept {
    return guarded([&] {
        require_mpi();
        const auto found = servers().at(server.id);
        work(*found);
    });
}

// The handles of those that are open.
std::set<std::uint64_t>& open_ones() {
    static std::set<std::uint64_t>& all = *new std::set<std::uint64_t>;
    return all;
}

void close(tw_field_server server) {
    open_ones().erase(server.id);
    const auto found = servers().remove(server.id);
    found->close();
}

// MPI calls this as it begins to finalize: servers would wait for a model that has ended without close, and MPI for
// them.
int close_all(MPI_Comm, int, void*, void*) {
    while (!open_ones().empty()) {
        if (guarded([] { close({*open_ones().begin()}); }) != TW_OK)
            std::fprintf(stderr, "tradewind: %s\n", tw_last_error());
    }
    return MPI_SUCCESS;
}

void close_before_finalize() {
    static const int key = [] {
        int made = MPI_KEYVAL_INVALID;
        mpi::check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_all, &made, nullptr),
                   [] { return std::string("opening the field server"); });
        return made;
    }();
    mpi::check(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), [] { return std::string("opening the field server"); });
}

void open(MPI_Comm comm, const char* plan, tw_field_server* server) {
    require(server, "server");
    require_communicator(comm);
    if (open_ones().empty()) close_before_finalize();
    server->id = servers().add(std::make_shared<FieldServer>(fieldserver::open_servers(comm, plan ? plan : "")));
    open_ones().insert(server->id);
}

// Doubles in base64: as text in decimals the points of a mesh would take ten times as long.
Json numbers(const double* values, Index count) {
    if (!values || count <= 0) return Json::Array();
    static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const auto* bytes = reinterpret_cast<const unsigned char*>(values);
    const std::size_t size = static_cast<std::size_t>(count) * sizeof(double);
    std::string text;
    text.reserve(size / 3 * 4 + 4);
    for (std::size_t i = 0; i < size; i += 3) {
        const std::size_t there = std::min<std::size_t>(size - i, 3);
        unsigned three = 0;
        for (std::size_t k = 0; k < 3; ++k) three = three << 8 | (k < there ? bytes[i + k] : 0u);
        for (std::size_t k = 0; k < 4; ++k) text += k <= there ? digits[three >> (18 - 6 * k) & 63] : '=';
    }
    return text;
}

std::vector<std::int64_t> rows_of(const tw_geometry& g) {
    if (g.ny > 0) require(g.rows, "rows");
    return {g.rows, g.rows + std::max<Index>(g.ny, 0)};
}

// Points of a level.
Index points_of(const tw_geometry& g) {
    if (g.nx < 0 || g.ny < 0)
        throw InputError("a grid of " + std::to_string(g.nx) + " x " + std::to_string(g.ny) +
                         ": 0 or more are allowed");
    const auto product = [&](Index x, Index y) { return checked_product({x, y}, max_points, "a grid", "points"); };
    if (g.kind == TW_SPECTRAL) return g.nx < max_points ? product(g.nx + 1, g.nx + 2) : product(g.nx, g.nx);
    if (g.kind == TW_UNSTRUCTURED) return g.nx;
    if (g.kind != TW_GAUSSIAN) return product(g.nx, g.ny);
    Index sum = 0;
    for (const Index row : rows_of(g)) add_checked(sum, row, "a grid", "points");
    return sum;
}

// The numbers of a grid in rows, and of the map or sphere that it lies on.
Json::Object in_rows(const char* kind, const tw_geometry& g, std::initializer_list<const char*> of_projection) {
    Json::Object found{{"kind", kind},           {"nx", g.nx}, {"ny", g.ny}, {"longitude", g.longitude},
                       {"latitude", g.latitude}, {"dx", g.dx}, {"dy", g.dy}};
    const double* number = g.projection;
    for (const char* name : of_projection) found.emplace_back(name, *number++);
    return found;
}

Json::Object on_map(Json::Object grid, double radius) {
    if (radius != 0) grid.emplace_back("radius", radius);
    return grid;
}

// The attributes of the classes of python/tradewind/fieldserver/plan/geometry.py.
Json to_json(const tw_geometry& g) {
    switch (g.kind) {
        case TW_REGULAR: return in_rows("regular", g, {});
        case TW_GAUSSIAN: return Json::Object{{"kind", "gaussian"}, {"rows", Json::list(rows_of(g))}};
        case TW_SPECTRAL: return Json::Object{{"kind", "spectral"}, {"truncation", g.nx}};
        case TW_LAMBERT: return on_map(in_rows("lambert", g, {"orientation", "parallel", "second_parallel"}), g.radius);
        case TW_POLAR_STEREOGRAPHIC:
            return on_map(in_rows("polar_stereographic", g, {"orientation", "true_latitude"}), g.radius);
        case TW_ROTATED: return in_rows("rotated", g, {"pole_longitude", "pole_latitude"});
        case TW_CURVILINEAR:
            return Json::Object{{"kind", "curvilinear"},
                                {"nx", g.nx},
                                {"ny", g.ny},
                                {"longitudes", numbers(g.longitudes, points_of(g))},
                                {"latitudes", numbers(g.latitudes, points_of(g))}};
        case TW_UNSTRUCTURED: {
            Json::Object found{{"kind", "unstructured"},
                               {"count", g.nx},
                               {"longitudes", numbers(g.longitudes, g.nx)},
                               {"latitudes", numbers(g.latitudes, g.nx)},
                               {"grid_number", g.grid_number},
                               {"grid_in_reference", g.grid_in_reference}};
            if (g.uuid && *g.uuid) found.emplace_back("uuid", g.uuid);
            return found;
        }
        default: throw InputError("grid of kind " + std::to_string(g.kind) + ": 0..7 of tw_grid_kind is allowed");
    }
}

// A field whose arrays have `lying` levels (0: those of its description), in the order that `form` describes.
FieldServer::Definition defined(const std::string& name, const tw_geometry* geometry, FieldForm form, Index lying,
                                const tw_description& about) {
    require(geometry, "geometry");
    form.element = element_of(about.element);
    form.axis = about.axis;
    if (about.levels < 0) throw InputError(std::to_string(about.levels) + " levels: 0 or more are allowed");
    const Index levels = about.levels ? about.levels : std::max<Index>(lying, 1);
    form.levels = lying ? lying : levels;
    if (about.axis != 0 && about.axis != 1)
        throw InputError("axis " + std::to_string(about.axis) + " over points: 0 and 1 are allowed");
    std::vector<double> level;
    for (Index i = 0; i < levels; ++i) level.push_back(about.level ? about.level[i] : static_cast<double>(i + 1));
    Json::Object field{{"name", name}, {"levels", Json::list(level)}, {"dtype", mpi::name_of(form.element)}};
    const auto add = [&](const char* key, const char* value) {
        if (value && *value) field.emplace_back(key, value);
    };
    add("level_type", about.level_type);
    add("units", about.units);
    add("long_name", about.long_name);
    add("standard_name", about.standard_name);
    add("grib", about.grib);
    const std::string grid = to_json(*geometry).text();
    return {name,
            {std::move(form), level},
            Json::list(level).text(),
            std::move(field),
            std::to_string(fnv1a(grid)) + " " + std::to_string(grid.size()),
            Json::written(grid)};
}

tw_description described_or_default(const tw_description* description) {
    return description ? *description : tw_default_description();
}

// An array of the caller's on a device, and room for it on the host, where servers take it.
class Staged {
  public:
    Staged(const mpi::Field& there, mpi::Element element)
        : there_(there), element_(element), here_(there.shape[0] * there.shape[1] * there.shape[2] * bytes()) {}

    void copy_to_host() const { mpi::copy_to_host(there_, element_, here_.data()); }
    void copy_from_host() const { mpi::copy_from_host(here_.data(), there_, element_); }
    // That on the host, which `staged` has: this.
    fieldserver::ModelArray array(std::shared_ptr<const Staged> staged) const {
        return {here_.data(), element_, there_.shape, mpi::dense_strides(there_.shape, bytes()), std::move(staged)};
    }

  private:
    Index bytes() const { return mpi::bytes_of(element_); }

    const mpi::Field there_;
    const mpi::Element element_;
    const mpi::Memory here_;
};

// An array of the caller; null where that is in the host's memory.
std::shared_ptr<const Staged> staged(const tw_field& values) {
    const std::optional<mpi::Field> there = on_device("values", values);
    return there ? std::make_shared<const Staged>(*there, element_of(values.element)) : nullptr;
}

// An array of the caller in the host's memory, or of what is staged there.
fieldserver::ModelArray array_of(const tw_field& values, const std::shared_ptr<const Staged>& on_host) {
    if (on_host) return on_host->array(on_host);
    const auto three = [](const int64_t* of) { return std::array<Index, 3>{of[0], of[1], of[2]}; };
    return {static_cast<std::byte*>(values.data), element_of(values.element), three(values.points),
            three(values.strides), memory_of(values.data)};
}

// Whether there is an array of points.
bool has_points(const tw_field* values) {
    require(values, "values");
    if (values->dimensions < 0 || values->dimensions > 3)
        throw InputError("values have " + std::to_string(values->dimensions) + " dimensions: 0 to 3 are allowed");
    return values->dimensions > 0;
}

// Throws InputError within the call, so that all ranks learn it.
FieldServer::Arguments<FieldServer::Written> written(const char* name, const tw_field* values) {
    return [=]() -> FieldServer::Written {
        const std::string field = text(name, "name");
        if (!has_points(values)) return {field, {}};
        const std::shared_ptr<const Staged> on_host = staged(*values);
        if (on_host) on_host->copy_to_host();
        return {field, array_of(*values, on_host)};
    };
}

FieldForm laid_out(tw_layout layout, int ranks) {
    const auto found = layouts().at(layout.id);
    const auto* product = dynamic_cast<const layout::Product*>(found.get());
    return fieldserver::form_of(product ? *product : layout::Product(*blocks_of(layout, "a field")), ranks);
}

// A grid of a kind of which nothing else is known yet.
tw_geometry of_kind(tw_grid_kind kind, int64_t nx, int64_t ny) {
    tw_geometry geometry{};
    geometry.kind = kind;
    geometry.nx = nx;
    geometry.ny = ny;
    return geometry;
}

tw_geometry with_steps(tw_geometry geometry, double longitude, double latitude, double dx, double dy,
                       const std::array<double, 3>& projection = {}) {
    geometry.longitude = longitude;
    geometry.latitude = latitude;
    geometry.dx = dx;
    geometry.dy = dy;
    std::copy(projection.begin(), projection.end(), geometry.projection);
    return geometry;
}

tw_geometry with_points(tw_geometry geometry, const double* longitudes, const double* latitudes) {
    geometry.longitudes = longitudes;
    geometry.latitudes = latitudes;
    return geometry;
}

}  // namespace

tw_geometry tw_regular(int64_t nx, int64_t ny, double longitude, double latitude, double dx, double dy) {
    return with_steps(of_kind(TW_REGULAR, nx, ny), longitude, latitude, dx, dy);
}

tw_geometry tw_gaussian(int64_t count, const int64_t* rows) {
    tw_geometry geometry = of_kind(TW_GAUSSIAN, 0, count);
    geometry.rows = rows;
    return geometry;
}

tw_geometry tw_spectral(int64_t truncation) {
    return of_kind(TW_SPECTRAL, truncation, 0);
}

tw_geometry tw_unstructured(int64_t count, const double* longitudes, const double* latitudes) {
    return with_points(of_kind(TW_UNSTRUCTURED, count, 0), longitudes, latitudes);
}

tw_geometry tw_lambert(int64_t nx, int64_t ny, double longitude, double latitude, double dx, double dy,
                       double orientation, double parallel, double second_parallel) {
    return with_steps(of_kind(TW_LAMBERT, nx, ny), longitude, latitude, dx, dy,
                      {orientation, parallel, second_parallel});
}

tw_geometry tw_polar_stereographic(int64_t nx, int64_t ny, double longitude, double latitude, double dx, double dy,
                                   double orientation, double true_latitude) {
    return with_steps(of_kind(TW_POLAR_STEREOGRAPHIC, nx, ny), longitude, latitude, dx, dy,
                      {orientation, true_latitude});
}

tw_geometry tw_rotated(int64_t nx, int64_t ny, double longitude, double latitude, double dx, double dy,
                       double pole_longitude, double pole_latitude) {
    return with_steps(of_kind(TW_ROTATED, nx, ny), longitude, latitude, dx, dy, {pole_longitude, pole_latitude});
}

tw_geometry tw_curvilinear(int64_t nx, int64_t ny, const double* longitudes, const double* latitudes) {
    return with_points(of_kind(TW_CURVILINEAR, nx, ny), longitudes, latitudes);
}

tw_description tw_default_description(void) {
    return {0, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, TW_F8, 0};
}

tw_status tw_field_server_open(MPI_Comm comm, tw_field_server* server) {
    if (server) server->id = 0;
    return guarded([&] { open(comm, nullptr, server); });
}

tw_status tw_field_server_open_f(MPI_Fint comm, tw_field_server* server) {
    if (server) server->id = 0;
    return guarded([&] {
        require_mpi();
        open(MPI_Comm_f2c(comm), nullptr, server);
    });
}

tw_status tw_field_server_open_plan(MPI_Comm comm, const char* plan, tw_field_server* server) {
    if (server) server->id = 0;
    return guarded([&] { open(comm, plan, server); });
}

tw_status tw_field_server_open_plan_f(MPI_Fint comm, const char* plan, tw_field_server* server) {
    if (server) server->id = 0;
    return guarded([&] {
        require_mpi();
        open(MPI_Comm_f2c(comm), plan, server);
    });
}

tw_status tw_field_server_comm(tw_field_server server, MPI_Comm* comm) {
    return with_server(server, [&](const FieldServer& found) {
        require(comm, "comm");
        *comm = found.comm();
    });
}

tw_status tw_field_server_comm_f(tw_field_server server, MPI_Fint* comm) {
    return with_server(server, [&](const FieldServer& found) {
        require(comm, "comm");
        *comm = MPI_Comm_c2f(found.comm());
    });
}

tw_status tw_field_server_define(tw_field_server server, const char* name, tw_layout layout,
                                 const tw_geometry* geometry, const tw_description* description) {
    return with_server(server, [&](FieldServer& found) {
        found.define([&] {
            const std::string field = text(name, "name");
            FieldForm form = laid_out(layout, found.ranks());
            const Index lying = form.levels;
            return defined(field, geometry, std::move(form), lying, described_or_default(description));
        });
    });
}

tw_status tw_field_server_define_points(tw_field_server server, const char* name, int64_t points, const int64_t* ids,
                                        const tw_geometry* geometry, const tw_description* description) {
    return with_server(server, [&](FieldServer& found) {
        found.define([&] {
            const std::string field = text(name, "name");
            if (points < 0) throw InputError(std::to_string(points) + " entries in ids: 0 or more are allowed");
            if (points > 0) require(ids, "ids");
            require(geometry, "geometry");
            FieldForm form;
            form.own.assign(ids, ids + points);
            form.points = points_of(*geometry);
            return defined(field, geometry, std::move(form), 0, described_or_default(description));
        });
    });
}

tw_status tw_field_server_wants(tw_field_server server, const char* name, int64_t step, int* wants) {
    return with_server(server, [&](const FieldServer& found) {
        require(wants, "wants");
        *wants = found.wants(text(name, "name"), step);
    });
}

tw_status tw_field_server_write(tw_field_server server, const char* name, const tw_field* values, int64_t step,
                                int64_t level) {
    return with_server(server, [&](FieldServer& found) { found.write(written(name, values), step, level); });
}

tw_status tw_field_server_start(tw_field_server server, const char* name, const tw_field* values, int64_t step,
                                int64_t level) {
    return with_server(server, [&](FieldServer& found) { found.start(written(name, values), step, level); });
}

tw_status tw_field_server_wait(tw_field_server server, const char* name) {
    return with_server(server,
                       [&](FieldServer& found) { found.wait(name ? std::optional<std::string>(name) : std::nullopt); });
}

tw_status tw_field_server_end_step(tw_field_server server, int64_t step) {
    return with_server(server, [&](FieldServer& found) { found.end_step(step); });
}

tw_status tw_field_server_prefetch(tw_field_server server, int64_t count, const char* const* paths) {
    return with_server(server, [&](FieldServer& found) {
        found.prefetch([&] {
            if (count < 1) throw InputError("prefetch of " + std::to_string(count) + " files: one or more are allowed");
            require(paths, "paths");
            std::vector<std::string> found_paths;
            for (Index i = 0; i < count; ++i) found_paths.push_back(text(paths[i], "a path"));
            return found_paths;
        });
    });
}

tw_status tw_field_server_read(tw_field_server server, const char* name, const tw_field* values, const char* path) {
    return with_server(server, [&](FieldServer& found) {
        std::shared_ptr<const Staged> on_host;
        found.read([&]() -> FieldServer::Read {
            if (has_points(values)) on_host = staged(*values);
            return {text(name, "name"), text(path, "path"),
                    values->dimensions > 0 ? array_of(*values, on_host) : fieldserver::ModelArray{}};
        });
        if (on_host) on_host->copy_from_host();
    });
}

tw_status tw_field_server_finish(tw_field_server server) {
    return with_server(server, [&](FieldServer& found) { found.finish(); });
}

tw_status tw_field_server_close(tw_field_server server) {
    return guarded([&] {
        require_mpi();
        close(server);
    });
}
