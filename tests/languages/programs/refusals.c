/* Wrong input and wrong use on two ranks. Each rank writes "case|status|text" for every case into FOLDER/RANK.
 *
 *     mpiexec -n 2 refusals_c FOLDER
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tradewind/tradewind.h>

enum {
    WIDTH = 2,
    NX = 12,
    NY = 8,
    NZ = 3,
    PART = NX / 2 + 2 * WIDTH,
    ROWS = NY + 2 * WIDTH,
    POINTS = PART * ROWS * NZ
};

static const int64_t points[3] = {NX, NY, NZ}, split[2] = {2, 1};
static const int periodic[2] = {1, 1};
static FILE* out;
static int rank;
static tw_layout blocks, pencils;
static tw_pattern halo, move;
static double memory[3 * POINTS + 1];

static void met(const char* name, tw_status status) {
    fprintf(out, "%s|%d|%s\n", name, (int)status, status == TW_OK ? "" : tw_last_error());
}

static tw_field part(void) {
    return tw_dense(memory, TW_F8, PART, ROWS, NZ);
}

/* A plan of the halo that must be refused. */
static void refuse(const char* name, tw_field field, const tw_options* options) {
    tw_plan plan = {17};
    met(name, tw_plan_make(halo, MPI_COMM_WORLD, 1, &field, 0, NULL, options, &plan));
    if (plan.id != 0) met("a refused plan has a handle", TW_OK);
}

static tw_plan made(tw_field field) {
    tw_plan plan = TW_NULL;
    const tw_status status = tw_plan_make(halo, MPI_COMM_WORLD, 1, &field, 0, NULL, NULL, &plan);
    if (status != TW_OK) met("a plan that should be", status);
    return plan;
}

static void layouts(void) {
    tw_layout layout = TW_NULL;
    tw_pattern pattern = TW_NULL;
    const int64_t many[2] = {20, 1}, nothing[3] = {12, 0, 3};
    tw_layout bands = TW_NULL;
    const int strange[12] = {0, 1, 2};
    const int64_t lengths[3] = {2, 0, 2}, none[3] = {0, 0, 0}, cuts[2] = {0, 1};
    const int list[3] = {0, 1, 0};
    int64_t begin[3], end[3];
    met("layout_null_pointer", tw_blocks(points, split, "xy", NULL));
    met("points_null_pointer", tw_blocks(NULL, split, "xy", &layout));
    met("split", tw_blocks(points, many, "xy", &layout));
    met("points", tw_blocks(nothing, split, NULL, &layout));
    met("axes", tw_blocks(points, split, "xx", &layout));
    met("along", tw_pencils(points, split, 'w', &layout));
    met("rows", tw_bands(0, NULL, 1, 2, 1, 1, &layout));
    met("level_sets", tw_bands(3, points, 4, 2, 3, 1, &layout));
    met("servers", tw_whole(points, 2, 3, &layout));
    met("owner", tw_wavenumbers(points, 2, strange, 1, &layout));
    const int64_t few[3] = {2, 2, 3}, ends[3] = {0, 1, 2};
    met("lines_cut", tw_lines(few, none, lengths, 1, NULL, 1, cuts, 1, &layout));
    met("lines_divided", tw_lines(few, none, lengths, 2, list, 2, ends, 2, &layout));
    met("lines_too_long", tw_lines(few, none, points, 2, list, 1, NULL, 1, &layout));
    met("placed", tw_placed(blocks, 1, 2, &layout));
    met("bands", tw_bands(3, points, 4, 2, 1, 1, &bands));
    met("halo_of_bands", tw_halo(bands, 1, periodic, &pattern));
    met("transpose_of_other_grids", tw_transpose(blocks, bands, &pattern));
    tw_layout_free(bands);
    met("layout_null", tw_halo(layout, 1, periodic, &pattern));
    met("rank", tw_layout_box(blocks, 2, begin, end));
    met("side", tw_pattern_box(halo, 7, 0, begin, end));
    met("width", tw_halo(blocks, -1, periodic, &pattern));
    met("ranks", tw_allreduce(0, 3, &pattern));
    met("blocks", tw_blocks(points, split, "xy", &layout));
    met("free", tw_layout_free(layout));
    met("free_twice", tw_layout_free(layout));
    met("layout_freed", tw_halo(layout, 1, periodic, &pattern));
}

static void fields(void) {
    tw_field f = part();
    f.data = NULL;
    refuse("no_memory", f, NULL);
    f = part();
    f.points[1] = 0;
    refuse("zero_extent", f, NULL);
    f = part();
    f.dimensions = 4;
    refuse("four_dimensions", f, NULL);
    refuse("vector", tw_vector(memory, TW_F8, POINTS), NULL);
    refuse("element", tw_dense(memory, 9, PART, ROWS, NZ), NULL);
    f = part();
    f.strides[2] = 0;
    refuse("stride_zero", f, NULL);
    f = part();
    f.strides[0] = 12;
    refuse("stride_odd", f, NULL);
    f = part();
    f.data = (char*)memory + 3;
    refuse("unaligned", f, NULL);
    refuse("shape", tw_dense(memory, TW_F8, PART, ROWS - 1, NZ), NULL);
    refuse("shape_on_one_rank", tw_dense(memory, TW_F8, PART, ROWS - rank, NZ), NULL);
}

static void several(void) {
    tw_plan plan = TW_NULL;
    const tw_field same[2] = {part(), part()};
    const tw_field mixed[2] = {part(), tw_dense(memory + POINTS, TW_I8, PART, ROWS, NZ)};
    const tw_field touching[2] = {part(), tw_dense(memory + POINTS - 1, TW_F8, PART, ROWS, NZ)};
    const tw_field narrow = tw_dense(memory, TW_F8, NX / 2, NY, NZ), lines = tw_dense(memory + 1, TW_F8, NX, NY, NZ);
    const tw_field two[2] = {narrow, narrow};
    met("same_array_twice", tw_plan_make(halo, MPI_COMM_WORLD, 2, same, 0, NULL, NULL, &plan));
    met("types", tw_plan_make(halo, MPI_COMM_WORLD, 2, mixed, 0, NULL, NULL, &plan));
    met("overlap", tw_plan_make(halo, MPI_COMM_WORLD, 2, touching, 0, NULL, NULL, &plan));
    met("no_field", tw_plan_make(halo, MPI_COMM_WORLD, 0, same, 0, NULL, NULL, &plan));
    met("fields_null_pointer", tw_plan_make(halo, MPI_COMM_WORLD, 1, NULL, 0, NULL, NULL, &plan));
    met("target_in_place", tw_plan_make(halo, MPI_COMM_WORLD, 1, same, 1, same, NULL, &plan));
    met("target_missing", tw_plan_make(move, MPI_COMM_WORLD, 1, &narrow, 0, NULL, NULL, &plan));
    met("fewer_targets", tw_plan_make(move, MPI_COMM_WORLD, 2, two, 1, &lines, NULL, &plan));
    met("target_overlaps", tw_plan_make(move, MPI_COMM_WORLD, 1, &narrow, 1, &lines, NULL, &plan));
    met("plan_null_pointer", tw_plan_make(halo, MPI_COMM_WORLD, 1, same, 0, NULL, NULL, NULL));
    met("null_communicator", tw_plan_make(halo, MPI_COMM_NULL, 1, same, 0, NULL, NULL, &plan));
    met("other_ranks", tw_plan_make(halo, MPI_COMM_SELF, 1, same, 0, NULL, NULL, &plan));
}

static void options(void) {
    tw_options o = tw_default_options();
    o.transport = "isend-irevc";
    refuse("transport", part(), &o);
    o = tw_default_options();
    o.algorithm = "swep";
    refuse("algorithm", part(), &o);
    o.algorithm = "native";
    refuse("native", part(), &o);
    o.algorithm = rank == 0 ? "sweep" : "direct";
    refuse("different_plans", part(), &o);
    o.algorithm = rank == 0 ? "sweep" : "sweeep";
    refuse("algorithm_on_one_rank", part(), &o);
    o = tw_default_options();
    o.transport = "shared";
    o.packing = "datatype";
    refuse("packing", part(), &o);
    o = tw_default_options();
    o.watchdog_s = -1;
    refuse("watchdog", part(), &o);
    o = tw_default_options();
    o.record = 5;
    refuse("record", part(), &o);
    setenv("TRADEWIND_HALO", "sweep,neighbor", 1);
    refuse("environment", part(), NULL);
    setenv("TRADEWIND_HALO", "a,b,c,d", 1);
    refuse("environment_parts", part(), NULL);
    unsetenv("TRADEWIND_HALO");
}

static void use(void) {
    tw_plan plan = TW_NULL, other;
    const char* text = NULL;
    int64_t messages = 0, bytes = 0;
    met("plan_null", tw_plan_call(plan));
    plan = made(part());
    met("wait_first", tw_plan_wait(plan));
    met("poke_first", tw_plan_poke(plan, NULL));
    met("pokes_null_pointer", tw_plan_pokes(plan, NULL));
    met("start", tw_plan_start(plan));
    met("start_twice", tw_plan_start(plan));
    met("call_while_started", tw_plan_call(plan));
    met("free_while_started", tw_plan_free(plan));
    met("poke", tw_plan_poke(plan, NULL));
    met("wait", tw_plan_wait(plan));
    met("text_null_pointer", tw_plan_text(plan, NULL));
    met("free_plan", tw_plan_free(plan));
    other = made(part()); /* in the place of the first */
    met("plan_freed", tw_plan_call(plan));
    met("text_freed", tw_plan_text(plan, &text));
    met("origin_freed", tw_plan_origin(plan, &text));
    met("traffic_freed", tw_plan_traffic(plan, &messages, &bytes));
    met("the_next_plan", tw_plan_call(other));
    met("free_plan_twice", tw_plan_free(plan));
    met("free_other", tw_plan_free(other));
    plan.id = 0xfffffffffffffULL;
    met("no_handle_at_all", tw_plan_call(plan));
}

static void communicators(void) {
    MPI_Comm own;
    tw_plan plan = TW_NULL;
    const tw_field field = part();
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    met("on_own_communicator", tw_plan_make_f(halo, MPI_Comm_c2f(own), 1, &field, 0, NULL, NULL, &plan));
    MPI_Comm_free(&own);
    met("communicator_gone", tw_plan_call(plan));
    met("free_after_communicator", tw_plan_free(plan));
}

/* Memory of tw_empty: released while a plan is bound to it, it stays until the plan is freed. */
static void shared(void) {
    tw_field field, nothing;
    tw_options o = tw_default_options();
    tw_plan plan = TW_NULL;
    met("empty_side", tw_empty(halo, 3, rank, TW_F8, &nothing));
    met("empty_rank", tw_empty(halo, TW_SOURCE, 5, TW_F8, &nothing));
    met("empty_element", tw_empty(halo, TW_SOURCE, rank, -1, &nothing));
    met("empty", tw_empty(halo, TW_SOURCE, rank, TW_F8, &field));
    o.transport = "shared";
    o.packing = "direct";
    met("shared", tw_plan_make(halo, MPI_COMM_WORLD, 1, &field, 0, NULL, &o, &plan));
    double* u = field.data; /* [z][y][x] */
    for (int x = WIDTH; x < PART - WIDTH; ++x) u[WIDTH * PART + x] = 100 * rank + x;
    met("release", tw_release(field.data));
    met("release_twice", tw_release(field.data));
    met("call_after_release", tw_plan_call(plan));
    if (u[WIDTH * PART] != 100 * (1 - rank) + PART - 2 * WIDTH) met("something else has arrived", TW_ERROR_INTERNAL);
    met("free_shared", tw_plan_free(plan));
    met("release_foreign", tw_release(memory));
}

/* Rank 0 exchanges alone. */
static void alone(void) {
    tw_plan plan = TW_NULL;
    tw_options o = tw_default_options();
    const tw_field field = part();
    o.watchdog_s = 0.5;
    met("guarded", tw_plan_make(halo, MPI_COMM_WORLD, 1, &field, 0, NULL, &o, &plan));
    if (rank == 0) {
        met("alone", tw_plan_call(plan));
        met("call_after_failure", tw_plan_call(plan));
        met("free_after_failure", tw_plan_free(plan));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    plan = made(field); /* after one that was abandoned on rank 0, and not on rank 1 */
    met("another", tw_plan_call(plan));
}

/* Rank 0 makes a plan alone. */
static void made_alone(void) {
    MPI_Comm own;
    tw_plan plan = TW_NULL;
    tw_options o = tw_default_options();
    const tw_field field = part();
    o.watchdog_s = 0.3;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    if (rank == 0) met("made_alone", tw_plan_make(halo, own, 1, &field, 0, NULL, &o, &plan));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void patterns(void) {
    tw_pattern gone = TW_NULL;
    tw_plan plan = TW_NULL;
    const tw_field field = part();
    met("halo", tw_halo(blocks, WIDTH, periodic, &gone));
    if (rank == 1) tw_pattern_free(gone);
    met("pattern_freed_on_one_rank", tw_plan_make(gone, MPI_COMM_WORLD, 1, &field, 0, NULL, NULL, &plan));
    if (rank == 0) tw_pattern_free(gone);
    met("pattern_freed", tw_plan_make(gone, MPI_COMM_WORLD, 1, &field, 0, NULL, NULL, &plan));
    plan = made(field);
    met("free_pattern", tw_pattern_free(halo));
    met("plan_outlives_pattern", tw_plan_call(plan));
    met("start_last", tw_plan_start(plan)); /* and no wait before MPI is finalized */
}

static void recordings(void) {
    const char* const file = "/nowhere/at/all/step.toml";
    tw_plan plan = made(part());
    met("record_end_first", tw_record_end(file));
    met("record_null_communicator", tw_record_begin(MPI_COMM_NULL));
    met("record_begin", tw_record_begin(MPI_COMM_WORLD));
    met("record_begin_twice", tw_record_begin(MPI_COMM_WORLD));
    tw_plan_start(plan);
    met("record_open", tw_record_end(file));
    tw_plan_wait(plan);
    tw_record_begin(MPI_COMM_WORLD);
    met("record_no_path", tw_record_end(rank == 1 ? "" : file));
    tw_record_begin(MPI_COMM_WORLD);
    tw_plan_call(plan);
    met("record_no_folder", tw_record_end(file));
    tw_plan_free(plan);
}

int main(int count, char** arguments) {
    char path[4096];
    tw_plan early = TW_NULL, late = TW_NULL;
    if (count != 2) return 2;
    tw_blocks(points, split, "xy", &blocks);
    tw_pencils(points, split, 'x', &pencils);
    tw_halo(blocks, WIDTH, periodic, &halo);
    tw_transpose(blocks, pencils, &move);
    const tw_field field = part();
    const tw_status before = tw_plan_make_f(halo, 0, 1, &field, 0, NULL, NULL, &early);
    char text[256];
    snprintf(text, sizeof text, "%s", tw_last_error());

    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s/%d", arguments[1], rank);
    out = fopen(path, "w");
    if (!out) return 3;
    fprintf(out, "before_init|%d|%s\n", (int)before, text);
    layouts();
    fields();
    several();
    options();
    use();
    communicators();
    shared();
    alone();
    made_alone();
    late = made(field);
    recordings();
    patterns();
    MPI_Finalize();
    met("after_finalize", tw_plan_call(late));
    return fclose(out) != 0;
}
