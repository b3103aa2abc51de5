/* Fields of every layout given to servers, and read again from a file that they wrote.
 *
 *     mpiexec -n 3 field_servers_c STEPS [FOLDER|- [start|write [WAKE]]] : -n 1 tradewind serve plan.toml
 *
 * A value is 1e6 * step + 1000 * level + point, so that readers of the files can distinguish them. With a FOLDER the
 * files FOLDER/NAME/000.nc are read, too, and compared. With "start" fields go without a copy. A rank that fails says
 * why in failed-RANK, and goes on after what could not be written. Before it closes, the first makes the file WAKE
 * (go).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tradewind/tradewind.h>

enum { NX = 8, NY = 6, LEVELS = 3, GAUSSIAN_ROWS = 4, POINTS = NX * NY, GAUSSIAN_POINTS = 88, TRUNCATION = 3 };

static int rank, ranks;
static tw_field_server server;

/* What is printed just before MPI_Abort may not arrive: it is written into a file of the rank, too. */
static void check(tw_status status) {
    if (status == TW_OK) return;
    char path[32];
    snprintf(path, sizeof path, "failed-%d", rank);
    FILE* file = fopen(path, "a");
    if (file) {
        fprintf(file, "status %d: %s\n", (int)status, tw_last_error());
        fclose(file);
    }
    if (status == TW_ERROR_WRITE) return;
    printf("rank %d: status %d: %s\n", rank, (int)status, tw_last_error());
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static double value(int step, int64_t level, int64_t point) {
    return 1e6 * step + 1e3 * (double)level + (double)point;
}

/* A field of the model: an array, and the level and point that each of its elements is. */
typedef struct {
    const char* name;
    tw_field field;
    int64_t count;
    int64_t *level, *point, *place;
    int by_level;
    void* spare; /* the array that the field had before, and will have next */
} part;

static part new_part(const char* name, int64_t count) {
    part p = {
        name, {0}, count, malloc(8 * (size_t)count + 8), malloc(8 * (size_t)count + 8), malloc(8 * (size_t)count + 8),
        0,    NULL};
    return p;
}

static void fill(const part* p, int step, int64_t level) {
    for (int64_t i = 0; i < p->count; ++i) {
        const double v = value(step, p->by_level ? level : p->level[i], p->point[i]);
        if (p->field.element == TW_F4)
            ((float*)p->field.data)[p->place[i]] = (float)v;
        else
            ((double*)p->field.data)[p->place[i]] = v;
    }
}

/* The array is the model's again when this returns; with `started` when it is waited for. */
static void hand_over(part* p, int step, int level, int started) {
    const int64_t place = p->by_level ? level : -1;
    if (rank == 1) { /* ranks need not keep the same arrays */
        void* before = p->field.data;
        p->field.data = p->spare;
        p->spare = before;
    }
    fill(p, step, level);
    const tw_field nothing = {0}, *given = p->count ? &p->field : &nothing;
    if (!started) {
        check(tw_field_server_write(server, p->name, given, step, place));
        fill(p, 900, 0);
        return;
    }
    check(tw_field_server_start(server, p->name, given, step, place));
    if (!p->by_level && step % 4 != 0) return; /* all are waited for together */
    check(tw_field_server_wait(server, p->name));
    fill(p, 900, 0);
}

static int wrong(const part* p, int step) {
    int count = 0;
    for (int64_t i = 0; i < p->count; ++i) {
        const double v = p->field.element == TW_F4 ? (double)((float*)p->field.data)[p->place[i]]
                                                   : ((double*)p->field.data)[p->place[i]];
        count += v != value(step, p->level[i], p->point[i]);
    }
    return count;
}

/* A box of a grid of NX x NY, in an array with a gap of one point on every side. */
static part box_part(const char* name, tw_layout layout, int element) {
    int64_t b[3], e[3], k = 0;
    check(tw_layout_box(layout, rank, b, e));
    const int64_t nx = e[0] - b[0], ny = e[1] - b[1], nz = e[2] - b[2], wide = nx + 2;
    const int64_t bytes = element == TW_F4 ? 4 : 8;
    part p = new_part(name, nx * ny * nz);
    char* data = calloc((size_t)(wide * (ny + 2) * nz), (size_t)bytes);
    p.field = tw_dense(data + bytes * (wide + 1), element, nx, ny, nz);
    p.spare = (char*)calloc((size_t)(wide * (ny + 2) * nz), (size_t)bytes) + bytes * (wide + 1);
    p.field.strides[1] = bytes * wide;
    p.field.strides[2] = bytes * wide * (ny + 2);
    for (int64_t z = 0; z < nz; ++z)
        for (int64_t y = 0; y < ny; ++y)
            for (int64_t x = 0; x < nx; ++x, ++k) {
                p.level[k] = b[2] + z;
                p.point[k] = b[0] + x + NX * (b[1] + y);
                p.place[k] = x + wide * (y + (ny + 2) * z);
            }
    return p;
}

/* Points by number, [level][point] or [point][level]. */
static part listed_part(const char* name, int64_t own, const int64_t* ids, int axis) {
    int64_t k = 0;
    part p = new_part(name, own * LEVELS);
    double* data = calloc((size_t)(own * LEVELS + 1), 8);
    p.field = axis == 0 ? tw_dense(data, TW_F8, own, LEVELS, 1) : tw_dense(data, TW_F8, LEVELS, own, 1);
    p.spare = calloc((size_t)(own * LEVELS + 1), 8);
    for (int64_t z = 0; z < LEVELS; ++z)
        for (int64_t i = 0; i < own; ++i, ++k) {
            p.level[k] = z;
            p.point[k] = ids[i];
            p.place[k] = axis == 0 ? i + own * z : z + LEVELS * i;
        }
    return p;
}

/* All points along x, of bands or lists of wavenumbers: those from `begin` on, with a stride. */
static part row_part(const char* name, int64_t begin, int64_t step, int64_t count, int64_t levels) {
    int64_t k = 0;
    part p = new_part(name, count * levels);
    p.field = tw_dense(calloc((size_t)(count * levels + 1), 8), TW_F8, count, 1, levels);
    p.spare = calloc((size_t)(count * levels + 1), 8);
    for (int64_t z = 0; z < levels; ++z)
        for (int64_t i = 0; i < count; ++i, ++k) {
            p.level[k] = z;
            p.point[k] = begin + step * i;
            p.place[k] = k;
        }
    return p;
}

int main(int argc, char** argv) {
    const int steps = argc > 1 ? atoi(argv[1]) : 1, started = argc > 3 && strcmp(argv[3], "start") == 0;
    const int64_t grid[3] = {NX, NY, LEVELS}, surface[3] = {NX, NY, 1};
    const int64_t rows[GAUSSIAN_ROWS] = {20, 24, 24, 20};
    const double pressures[LEVELS] = {1000, 850, 500};
    tw_layout blocks, columns, flat, bands, waves;
    MPI_Comm comm;
    part parts[7];
    int64_t b[3], e[3];
    MPI_Init(&argc, &argv);
    check(tw_field_server_open(MPI_COMM_WORLD, &server));
    check(tw_field_server_comm(server, &comm));
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const int64_t split[2] = {1, ranks}, across[2] = {ranks, 1};
    const tw_geometry regular = tw_regular(NX, NY, 0, -50, 45, 20), gaussian = tw_gaussian(GAUSSIAN_ROWS, rows);
    const tw_geometry spectral = tw_spectral(TRUNCATION), rotated = tw_rotated(NX, NY, -10, -5, 2, 1.5, -170, 40);
    tw_geometry lambert = tw_lambert(NX, NY, 3, 50, 2e4, 3e4, 10, 60, 50);
    lambert.radius = 6371000;

    tw_description about = tw_default_description();
    about.units = "degC";
    about.grib = "t"; /* in kelvin */
    about.long_name = "temperature \"of blocks\"";
    about.level = pressures;
    about.level_type = "pressure";
    about.levels = LEVELS;
    check(tw_blocks(grid, split, "xy", &blocks));
    check(tw_field_server_define(server, "t", blocks, &regular, &about));
    parts[0] = box_part("t", blocks, TW_F8);

    about = tw_default_description();
    about.element = TW_F4;
    check(tw_blocks(grid, across, "xy", &columns));
    check(tw_field_server_define(server, "u", columns, &lambert, &about));
    parts[1] = box_part("u", columns, TW_F4);

    about = tw_default_description();
    about.levels = LEVELS;
    check(tw_blocks(surface, split, "xy", &flat));
    check(tw_field_server_define(server, "q", flat, &rotated, &about));
    parts[2] = box_part("q", flat, TW_F8);
    parts[2].by_level = 1;

    check(tw_bands(GAUSSIAN_ROWS, rows, LEVELS, ranks, 1, 1, &bands));
    check(tw_field_server_define(server, "o", bands, &gaussian, NULL));
    check(tw_layout_box(bands, rank, b, e));
    parts[3] = row_part("o", b[0], 1, e[0] - b[0], LEVELS);

    /* Coefficients are dealt to the ranks one by one. */
    enum { COEFFICIENTS = (TRUNCATION + 1) * (TRUNCATION + 2) };
    const int64_t coefficients[3] = {COEFFICIENTS, 1, 1};
    int owners[COEFFICIENTS], own = 0;
    for (int i = 0; i < COEFFICIENTS; ++i) {
        owners[i] = i % ranks;
        own += owners[i] == rank;
    }
    check(tw_wavenumbers(coefficients, ranks, owners, 1, &waves));
    check(tw_field_server_define(server, "s", waves, &spectral, NULL));
    parts[4] = row_part("s", rank, ranks, own, 1);

    /* Points of a mesh, from the last one on; the last rank has none. */
    int64_t ids[POINTS], count = 0;
    double longitudes[POINTS], latitudes[POINTS];
    for (int i = 0; i < POINTS; ++i) {
        longitudes[i] = 2 * i;
        latitudes[i] = i - 20;
    }
    const int owning = ranks > 1 ? ranks - 1 : 1;
    for (int64_t i = POINTS - 1; i >= 0; --i)
        if (i * 7 % owning == rank) ids[count++] = i;
    const double *east = rank == 0 ? longitudes : NULL, *north = rank == 0 ? latitudes : NULL;
    tw_geometry mesh = tw_unstructured(POINTS, east, north);
    const tw_geometry curved = tw_curvilinear(NX, NY, east, north);
    mesh.uuid = "12345678-9abc-def0-1234-56789abcdef0";
    mesh.grid_number = 42;
    mesh.grid_in_reference = 1;
    about = tw_default_description();
    about.levels = LEVELS;
    check(tw_field_server_define_points(server, "m", count, ids, &mesh, &about));
    parts[5] = listed_part("m", count, ids, 0);
    about.axis = 1;
    check(tw_field_server_define_points(server, "n", count, ids, &curved, &about));
    parts[6] = listed_part("n", count, ids, 1);

    for (int step = 0; step <= steps; ++step) {
        for (int i = 0; i < 7; ++i) {
            int wants = 0;
            check(tw_field_server_wants(server, parts[i].name, step, &wants));
            if (wants != (step % 2 == 0)) printf("wants %s at %d: %d\n", parts[i].name, step, wants);
            for (int level = 0; level < (parts[i].by_level ? LEVELS : 1); ++level)
                hand_over(&parts[i], step, level, started);
        }
        check(tw_field_server_end_step(server, step));
        if (started) check(tw_field_server_wait(server, NULL));
        for (int i = 0; i < 7; ++i) fill(&parts[i], 900, 0);
    }
    check(tw_field_server_finish(server));
    if (argc > 2 && strcmp(argv[2], "-") != 0) {
        static char text[7][1000];
        const char* paths[7];
        for (int i = 0; i < 7; ++i) {
            snprintf(text[i], sizeof text[i], "%s/%s/000.nc", argv[2], parts[i].name);
            paths[i] = text[i];
        }
        check(tw_field_server_prefetch(server, 7, paths));
        for (int i = 0; i < 7; ++i) {
            if (parts[i].by_level) continue; /* a model reads all levels of a layout */
            for (int again = 0; again < 2; ++again) {
                fill(&parts[i], 900, 0);
                check(tw_field_server_read(server, parts[i].name, &parts[i].field, paths[i]));
                const int count = wrong(&parts[i], 0);
                if (count) printf("rank %d: %d wrong values of %s\n", rank, count, parts[i].name);
            }
        }
    }
    if (rank == 0) fclose(fopen(argc > 4 ? argv[4] : "go", "w"));
    check(tw_field_server_close(server));
    MPI_Barrier(comm);
    if (rank == 0) printf("all right\n");
    MPI_Finalize();
    return 0;
}
