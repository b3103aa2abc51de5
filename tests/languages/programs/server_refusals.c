/* Wrong input and wrong use of a field server on two ranks. Each rank writes "case|status|text" for every case into
 * FOLDER/RANK.
 *
 *     mpiexec -n 2 server_refusals_c FOLDER KIND : -n 1 tradewind serve plan.toml
 *
 * KIND: "open", where opening is refused; "all", what all ranks meet; "one", what one meets alone; "order", calls in
 * another order; "write", what a server cannot write; "finalize": no call of close.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tradewind/tradewind.h>

enum { NX = 8, NY = 6, LEVELS = 2 };

static FILE* out;
static int rank;
static tw_field_server server;
static tw_layout layout;
static double memory[NX * NY * LEVELS];

static void met(const char* name, tw_status status) {
    char text[2000] = "";
    if (status != TW_OK) snprintf(text, sizeof text, "%s", tw_last_error());
    for (char* c = text; *c; ++c)
        if (*c == '\n') *c = ' ';
    fprintf(out, "%s|%d|%s\n", name, (int)status, text);
    fflush(out);
}

static tw_field part(void) {
    return tw_dense(memory, TW_F8, NX, NY / 2, LEVELS);
}

static void met_by_all(const tw_geometry* grid) {
    const tw_geometry other = tw_regular(NX, 3, 0, 0, 1, 1), nowhere = tw_regular(NX, NY, 0, 80, 1, 20);
    tw_geometry strange = *grid;
    tw_description about = tw_default_description();
    tw_field field = part(), small = tw_dense(memory, TW_F8, NX, 2, LEVELS),
             single = tw_dense(memory, TW_F4, NX, 3, LEVELS);
    const char* paths[2] = {"none.grib", "\xb0.grib"};
    int64_t ids[NX * NY / 2], twice[NX * NY / 2], negative[NX * NY / 2];
    const int64_t count = NX * NY / 2;
    const tw_geometry no_rows = tw_gaussian(8, NULL);
    for (int i = 0; i < count; ++i) ids[i] = twice[i] = negative[i] = 2 * i + rank;
    if (rank == 1) twice[0] = 0, negative[0] = -1;
    tw_layout null = TW_NULL;
    int wants;
    met("define_twice", tw_field_server_define(server, "t", layout, grid, NULL));
    met("define_other_grid", tw_field_server_define(server, "u", layout, &other, NULL));
    met("define_outside", tw_field_server_define(server, "u", layout, &nowhere, NULL));
    strange.kind = 9;
    met("define_kind", tw_field_server_define(server, "u", layout, &strange, NULL));
    met("define_layout", tw_field_server_define(server, "u", null, grid, NULL));
    met("define_no_geometry", tw_field_server_define(server, "u", layout, NULL, NULL));
    met("define_name", tw_field_server_define(server, "a/b", layout, grid, NULL));
    about.levels = 5;
    met("define_levels", tw_field_server_define(server, "u", layout, grid, &about));
    about = tw_default_description();
    about.element = TW_C8;
    met("define_element", tw_field_server_define(server, "u", layout, grid, &about));
    about.element = TW_F8;
    about.level_type = "presure";
    met("define_level_type", tw_field_server_define(server, "u", layout, grid, &about));
    met("define_ids", tw_field_server_define_points(server, "u", -1, NULL, grid, NULL));
    met("define_no_rows", tw_field_server_define_points(server, "p", count, ids, &no_rows, NULL));
    met("define_points_twice", tw_field_server_define_points(server, "p", count, twice, grid, NULL));
    met("define_points_outside", tw_field_server_define_points(server, "p", count, negative, grid, NULL));
    met("define_points_missing", tw_field_server_define_points(server, "p", count - rank, ids, grid, NULL));
    about = tw_default_description();
    about.units =
        "\xb0"
        "C";
    met("define_units", tw_field_server_define(server, "u", layout, grid, &about));
    met("write_unknown", tw_field_server_write(server, "v", &field, 0, -1));
    met("write_null", tw_field_server_write(server, "t", NULL, 0, -1));
    met("write_shape", tw_field_server_write(server, "t", &small, 0, -1));
    met("write_type", tw_field_server_write(server, "t", &single, 0, -1));
    single.dimensions = 4;
    met("write_dimensions", tw_field_server_write(server, "t", &single, 0, -1));
    met("write_level", tw_field_server_write(server, "t", &field, 0, 1));
    met("write_step", tw_field_server_write(server, "t", &field, -3, -1));
    met("write_far_step", tw_field_server_write(server, "t", &field, INT64_MAX, -1));
    met("write_low_level", tw_field_server_write(server, "t", &field, 0, -5));
    met("end_far_step", tw_field_server_end_step(server, INT64_MAX));
    met("write", tw_field_server_write(server, "t", &field, 2, -1));
    met("write_twice", tw_field_server_write(server, "t", &field, 2, -1));
    met("end_step", tw_field_server_end_step(server, 2));
    met("define_late", tw_field_server_define(server, "manifest", layout, grid, NULL));
    met("write_ended", tw_field_server_write(server, "t", &field, 2, -1));
    met("end_again", tw_field_server_end_step(server, 1));
    met("read_not_named", tw_field_server_read(server, "t", &field, "none.grib"));
    met("prefetch_nothing", tw_field_server_prefetch(server, 0, NULL));
    met("prefetch", tw_field_server_prefetch(server, 2, paths));
    met("read_missing", tw_field_server_read(server, "t", &field, "none.grib"));
    met("read_latin", tw_field_server_read(server, "t", &field, "\xb0.grib"));
    met("wants_null", tw_field_server_wants(server, "t", 0, NULL));
    met("wants", tw_field_server_wants(server, "t", 0, &wants));
}

int main(int argc, char** argv) {
    char path[1000];
    MPI_Comm comm = MPI_COMM_NULL;
    const int64_t points[3] = {NX, NY, LEVELS}, split[2] = {1, 2};
    const tw_geometry grid = tw_regular(NX, NY, 0, -50, 45, 20);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 1);
    const char* kind = argv[2];
    snprintf(path, sizeof path, "%s/%d", argv[1], rank);
    out = fopen(path, "w");
    if (!out) MPI_Abort(MPI_COMM_WORLD, 1);

    met("open_null_communicator", tw_field_server_open(MPI_COMM_NULL, &server));
    met("open", tw_field_server_open(MPI_COMM_WORLD, &server));
    if (strcmp(kind, "open") != 0) {
        const tw_field field = part(), wrong = tw_dense(memory, TW_F8, NX, 1, LEVELS);
        met("comm", tw_field_server_comm(server, &comm));
        MPI_Comm_rank(comm, &rank);
        met("layout", tw_blocks(points, split, "xy", &layout));
        met("define", tw_field_server_define(server, "t", layout, &grid, NULL));
        if (strcmp(kind, "all") == 0) met_by_all(&grid);
        if (strcmp(kind, "one") == 0) {
            met("write", tw_field_server_write(server, "t", rank == 1 ? &wrong : &field, 0, -1));
            met("end_step", tw_field_server_end_step(server, 0));
            met("write_again", tw_field_server_write(server, "t", &field, 2, -1));
        }
        if (strcmp(kind, "order") == 0) {
            met("write", tw_field_server_write(server, "t", &field, rank == 1 ? 4 : 2, -1));
            met("end_step", tw_field_server_end_step(server, 4));
        }
        if (strcmp(kind, "write") == 0) {
            memory[3] = 0.0 / (double)(rank - rank); /* GRIB has no NaN */
            met("write", tw_field_server_write(server, "t", &field, 0, -1));
            met("end_step", tw_field_server_end_step(server, 0));
            met("finish", tw_field_server_finish(server));
            memory[3] = 0;
            met("write_next", tw_field_server_write(server, "t", &field, 2, -1));
            met("end_next", tw_field_server_end_step(server, 2));
        }
        if (strcmp(kind, "finalize") == 0) {
            met("write", tw_field_server_write(server, "t", &field, 0, -1));
            met("end_step", tw_field_server_end_step(server, 0));
            fclose(out);
            MPI_Finalize();
            return 0;
        }
        met("close", tw_field_server_close(server));
    }
    met("closed", tw_field_server_end_step(server, 9));
    fclose(out);
    MPI_Finalize();
    return 0;
}
