/* Wrong lists, points and fields of fetches on two ranks. Each rank writes "case|status|text" for every case into
 * FOLDER/RANK.
 *
 *     mpiexec -n 2 fetch_refusals_c FOLDER
 */
#include <stdio.h>
#include <stdlib.h>
#include <tradewind/tradewind.h>

enum { OWN = 5 };

static FILE* out;
static int rank;
static int64_t ids[OWN];   /* 0..4 on rank 0, 10..14 on rank 1 */
static int64_t other[OWN]; /* those of the other rank */
static tw_layout blocks, levels_divided, alone;
static tw_points named, plain, columns;
static tw_pattern fetch, halo, adjoint, structured;
static double memory[200];

static void met(const char* name, tw_status status) {
    fprintf(out, "%s|%d|%s\n", name, (int)status, status == TW_OK ? "" : tw_last_error());
}

/* Lists of rank 1; rank 0 wants nothing. */
static int64_t at_1(int64_t count) {
    return rank == 1 ? count : 0;
}

static void point_sets(void) {
    tw_points points = {17};
    tw_layout nothing = TW_NULL;
    const int64_t bad[2] = {3, -3}, twice[2] = {7, 8}, same[3] = {9, 8, 9};
    met("null_communicator", tw_points_of_ids(MPI_COMM_NULL, OWN, ids, &points));
    if (points.id != 0) met("refused points have a handle", TW_OK);
    met("points_null_pointer", tw_points_of_ids(MPI_COMM_WORLD, OWN, ids, NULL));
    met("ids_null_pointer", tw_points_of_ids(MPI_COMM_WORLD, OWN, rank == 1 ? NULL : ids, &points));
    met("ids_negative", tw_points_of_ids(MPI_COMM_WORLD, -1, ids, &points));
    met("id_negative", tw_points_of_ids(MPI_COMM_WORLD, at_1(2), bad, &points));
    met("owned_twice", tw_points_of_ids(MPI_COMM_WORLD, 2, twice, &points));
    met("owned_twice_by_one", tw_points_of_ids(MPI_COMM_WORLD, at_1(3), same, &points));
    met("count_negative", tw_points_of_count(MPI_COMM_WORLD, rank == 1 ? -4 : 4, &points));
    met("layout_null", tw_points_of_layout(MPI_COMM_WORLD, nothing, &points));
    met("layout_null_on_one_rank", tw_points_of_layout(MPI_COMM_WORLD, rank == 1 ? nothing : blocks, &points));
    met("layout_divides_z", tw_points_of_layout(MPI_COMM_WORLD, levels_divided, &points));
    met("layout_of_one_rank", tw_points_of_layout(MPI_COMM_WORLD, alone, &points));
    met("no_points", tw_points_of_count(MPI_COMM_WORLD, 0, &points));
    met("free_points", tw_points_free(points));
    met("free_points_twice", tw_points_free(points));
}

static void wanted(void) {
    tw_pattern pattern = {17};
    const int64_t unowned[1] = {5}, negative[1] = {-1}, column[1] = {12 * 8};
    int owner[1];
    int64_t index[1], count = 0;
    met("unowned", tw_points_fetch(named, at_1(1), unowned, TW_ANY_PEERS, NULL, &pattern));
    if (pattern.id != 0) met("a refused fetch has a handle", TW_OK);
    met("wanted_negative", tw_points_halo(named, at_1(1), negative, TW_ANY_PEERS, NULL, &pattern));
    met("no_such_column", tw_points_fetch(columns, at_1(1), column, TW_ANY_PEERS, NULL, &pattern));
    met("no_ids", tw_points_fetch(plain, 1, unowned, TW_ANY_PEERS, NULL, &pattern));
    met("wanted_null_pointer", tw_points_fetch(named, at_1(2), NULL, TW_ANY_PEERS, NULL, &pattern));
    met("wanted_count", tw_points_fetch(named, rank == 1 ? -2 : 0, ids, TW_ANY_PEERS, NULL, &pattern));
    met("pattern_null_pointer", tw_points_fetch(named, OWN, other, TW_ANY_PEERS, NULL, NULL));
    met("locate_unowned", tw_points_locate(named, at_1(1), unowned, owner, index));
    met("locate_null_pointer", tw_points_locate(named, 1, ids, NULL, index));
    met("count_null_pointer", tw_points_count(named, NULL));
    met("points_null", tw_points_count((tw_points)TW_NULL, &count));
    met("fetch_of_points_null", tw_points_fetch((tw_points)TW_NULL, OWN, ids, TW_ANY_PEERS, NULL, &pattern));
}

/* Lists of rank 1 alone. */
static void refuse_list(const char* name,
                        tw_status (*make)(tw_points, int64_t, const int*, int64_t, const int64_t*, int64_t,
                                          const int64_t*, int, const int*, tw_pattern*),
                        int64_t owners, const int* owner, int64_t indices, const int64_t* index, int64_t places,
                        const int64_t* place) {
    tw_pattern pattern = TW_NULL;
    met(name, make(plain, at_1(owners), owner, at_1(indices), index, at_1(places), rank == 1 ? place : NULL,
                   TW_ANY_PEERS, NULL, &pattern));
}

static void lists(void) {
    const int first[2] = {0, 0}, absent[1] = {2};
    const int64_t index[2] = {1, 2}, beyond[1] = {OWN}, negative[1] = {-5}, same[2] = {1, 1}, far[2] = {9, 1};
    refuse_list("fewer_indices", tw_points_fetch_listed, 2, first, 1, index, 0, NULL);
    refuse_list("fewer_places", tw_points_halo_listed, 2, first, 2, index, 1, index);
    refuse_list("owner", tw_points_fetch_listed, 1, absent, 1, index, 0, NULL);
    refuse_list("index_negative", tw_points_fetch_listed, 1, first, 1, negative, 0, NULL);
    refuse_list("index", tw_points_fetch_listed, 1, first, 1, beyond, 0, NULL);
    refuse_list("place_twice", tw_points_fetch_listed, 2, first, 2, index, 2, same);
    refuse_list("place", tw_points_halo_listed, 2, first, 2, index, 2, far);
    refuse_list("place_negative", tw_points_fetch_listed, 1, first, 1, index, 1, negative);
    refuse_list("place_of_another", tw_points_halo_listed, 1, first, 1, index, 0, NULL); /* this one is right */
    tw_pattern pattern = TW_NULL;
    met("ghost_point",
        tw_points_halo_listed(plain, 1, first, 1, index, 1, index, TW_ANY_PEERS, NULL, &pattern)); /* 1 of rank 0 */
}

static void peers(void) {
    tw_pattern pattern = TW_NULL;
    const int one[1] = {1 - rank}, absent[1] = {2};
    met("peers_negative", tw_points_fetch(named, 0, NULL, -7, NULL, &pattern));
    met("peers_on_one_rank", tw_points_fetch(named, OWN, other, rank == 1 ? 1 : TW_ANY_PEERS, one, &pattern));
    met("peer", tw_points_fetch(named, 0, NULL, rank == 1, absent, &pattern));
    met("peer_null_pointer", tw_points_fetch(named, 0, NULL, rank == 1, NULL, &pattern));
    met("not_each_other", tw_points_fetch(named, 0, NULL, rank == 1, one, &pattern));
    met("no_peer", tw_points_fetch(named, at_1(1), other, 0, NULL, &pattern));
}

static void orders(void) {
    const int64_t own[2] = {10 * rank, 10 * rank + 1}, same[2] = {3, 3}, shared[1] = {4}, negative[1] = {-2};
    const int64_t unowned[1] = {7};
    int64_t new_own[2], interior = 0, new_halo[2], halos = 0;
    met("renumbered_null_communicator",
        tw_renumbered(MPI_COMM_NULL, 2, own, 0, NULL, new_own, &interior, new_halo, &halos));
    met("renumbered_own_null", tw_renumbered(MPI_COMM_WORLD, at_1(2), NULL, 0, NULL, new_own, &interior, NULL, &halos));
    met("renumbered_halo_null",
        tw_renumbered(MPI_COMM_WORLD, 2, own, at_1(1), NULL, new_own, &interior, new_halo, &halos));
    met("renumbered_new_own_null",
        tw_renumbered(MPI_COMM_WORLD, 2, own, 0, NULL, rank == 1 ? NULL : new_own, &interior, NULL, &halos));
    met("renumbered_new_halo_null",
        tw_renumbered(MPI_COMM_WORLD, 2, own, at_1(1), other, new_own, &interior, NULL, &halos));
    met("renumbered_interior_null",
        tw_renumbered(MPI_COMM_WORLD, 2, own, 0, NULL, new_own, rank == 1 ? NULL : &interior, NULL, &halos));
    met("renumbered_halos_null", tw_renumbered(MPI_COMM_WORLD, 2, own, 0, NULL, new_own, &interior, NULL, NULL));
    met("renumbered_count",
        tw_renumbered(MPI_COMM_WORLD, rank == 1 ? -2 : 2, own, 0, NULL, new_own, &interior, NULL, &halos));
    met("renumbered_unowned",
        tw_renumbered(MPI_COMM_WORLD, 2, own, at_1(1), unowned, new_own, &interior, new_halo, &halos));
    met("renumbered_twice", tw_renumbered(MPI_COMM_WORLD, 1, shared, 0, NULL, new_own, &interior, NULL, &halos));
    met("renumbered_twice_by_one",
        tw_renumbered(MPI_COMM_WORLD, at_1(2), same, 0, NULL, new_own, &interior, NULL, &halos));
    met("renumbered_negative",
        tw_renumbered(MPI_COMM_WORLD, at_1(1), negative, 0, NULL, new_own, &interior, NULL, &halos));
    met("renumbered", tw_renumbered(MPI_COMM_WORLD, 2, own, 1, other, new_own, &interior, new_halo, &halos));
}

static void patterns(void) {
    tw_pattern pattern = TW_NULL;
    const int64_t negative[2] = {1, -1};
    int64_t begin[3], end[3], begins[4][3], ends[4][3];
    int boxes;
    met("adjoint_of_halo", tw_adjoint(structured, &pattern));
    met("adjoint_of_adjoint", tw_adjoint(adjoint, &pattern));
    met("adjoint_of_null", tw_adjoint((tw_pattern)TW_NULL, &pattern));
    met("adjoint_null_pointer", tw_adjoint(fetch, NULL));
    met("levels_of_halo", tw_fetch_levels(structured, negative, &pattern));
    met("levels_negative", tw_fetch_levels(fetch, negative, &pattern));
    met("levels_null_pointer", tw_fetch_levels(fetch, NULL, &pattern));
    met("box_of_another", tw_pattern_box(fetch, TW_TARGET, 1 - rank, begin, end));
    met("interior_of_fetch", tw_halo_interior(fetch, 0, 1, begin, end));
    met("interior_reach", tw_halo_interior(structured, 0, 3, begin, end));
    met("interior_rank", tw_halo_interior(structured, 2, 1, begin, end));
    met("rim_null_pointer", tw_halo_rim(structured, 0, 1, NULL, begins, ends));
    met("rim_reach", tw_halo_rim(structured, 0, -1, &boxes, begins, ends));
    met("widened_by", tw_halo_widened(structured, 0, 3, begin, end));
    met("known_to_all_adjoint", tw_points_known_to_all(named, adjoint, &pattern));
    met("known_to_all_null_on_one_rank",
        tw_points_known_to_all(named, rank == 1 ? (tw_pattern)TW_NULL : fetch, &pattern));
}

static void refuse(const char* name, tw_pattern pattern, tw_field source, const tw_field* target,
                   const tw_options* options) {
    tw_plan plan = {17};
    met(name, tw_plan_make(pattern, MPI_COMM_WORLD, 1, &source, target != NULL, target, options, &plan));
    if (plan.id != 0) met("a refused plan has a handle", TW_OK);
}

static void plans(void) {
    double* behind = memory + 100;
    tw_field own = tw_vector(memory, TW_F8, OWN), there = tw_vector(behind, TW_F8, OWN);
    tw_field deep = tw_dense(behind, TW_F8, OWN, 3, 1), flat = tw_dense(memory, TW_F8, OWN, 0, 1);
    tw_field other_type = tw_vector(behind, TW_I8, OWN), touching = tw_vector(memory + 2, TW_F8, OWN);
    tw_field unset = tw_vector(NULL, TW_F8, OWN), fewer = tw_vector(behind, TW_F8, OWN - rank);
    tw_options o = tw_default_options();
    tw_plan plan = TW_NULL;
    const tw_field sources[2] = {tw_dense(memory, TW_F8, OWN, 2 - rank, 1),
                                 tw_dense(memory + 20, TW_F8, OWN, 1 + rank, 1)};
    const tw_field targets[2] = {tw_dense(behind, TW_F8, OWN, 2 - rank, 1),
                                 tw_dense(behind + 20, TW_F8, OWN, 1 + rank, 1)};
    refuse("no_target", fetch, own, NULL, NULL);
    refuse("fewer_points", fetch, own, &fewer, NULL);
    refuse("halo_points", halo, own, NULL, NULL);
    refuse("levels", fetch, own, &deep, NULL);
    refuse("zero_levels", fetch, flat, &there, NULL);
    refuse("levels_of_ranks", fetch, tw_dense(memory, TW_F8, OWN, 2 + rank, 1),
           &(tw_field){behind, {OWN, 2 + rank, 1}, {8, 8 * OWN, 0}, TW_F8, 2}, NULL);
    met("levels_by_field", tw_plan_make(fetch, MPI_COMM_WORLD, 2, sources, 2, targets, NULL, &plan));
    refuse("types", fetch, own, &other_type, NULL);
    refuse("overlap", fetch, own, &touching, NULL);
    refuse("no_memory", fetch, own, &unset, NULL);
    o.axis = 3;
    refuse("axis", fetch, own, &there, &o);
    o.axis = 1;
    refuse("axis_of_vector", fetch, own, &there, &o);
    o = tw_default_options();
    o.algorithm = "two-level-9";
    refuse("radix", fetch, own, &there, &o);
    o.algorithm = rank == 1 ? "direct" : "two-level-2";
    refuse("passed_on_by_rank_0", fetch, own, &there, &o);
    o.algorithm = rank == 1 ? "two-level-2" : "direct";
    refuse("passed_on_by_rank_1", fetch, own, &there, &o);
    o.algorithm = "sweep";
    refuse("algorithm", fetch, own, &there, &o);
    o.algorithm = "native";
    refuse("native", fetch, own, &there, &o);
    setenv("TRADEWIND_FETCH", "direct,shared,datatype", 1);
    refuse("environment", fetch, own, &there, NULL);
    unsetenv("TRADEWIND_FETCH");
    met("other_ranks", tw_plan_make(fetch, MPI_COMM_SELF, 1, &own, 1, &there, NULL, &plan));
}

static void use(void) {
    tw_points gone = TW_NULL;
    tw_pattern pattern = TW_NULL;
    tw_plan plan = TW_NULL;
    int64_t count = 0, index[OWN];
    int owner[OWN];
    const tw_field own = tw_vector(memory, TW_I8, OWN), there = tw_vector(memory + 100, TW_I8, OWN);
    int64_t *source = own.data, *target = there.data;
    met("of_ids", tw_points_of_ids(MPI_COMM_WORLD, OWN, ids, &gone));
    met("fetch", tw_points_fetch(gone, OWN, other, TW_ANY_PEERS, NULL, &pattern));
    met("free", tw_points_free(gone));
    met("count_freed", tw_points_count(gone, &count));
    met("locate_freed", tw_points_locate(gone, OWN, ids, owner, index));
    met("fetch_freed", tw_points_fetch(gone, OWN, ids, TW_ANY_PEERS, NULL, &pattern));
    met("free_freed", tw_points_free(gone));
    met("halo_freed", tw_points_halo(gone, OWN, other, TW_ANY_PEERS, NULL, &pattern));
    met("pattern_after_failure", tw_pattern_free(pattern));

    met("of_ids_again", tw_points_of_ids(MPI_COMM_WORLD, OWN, ids, &gone));
    met("fetch_again", tw_points_fetch(gone, OWN, other, TW_ANY_PEERS, NULL, &pattern));
    met("free_again", tw_points_free(gone));
    met("plan_of_fetch_that_outlives", tw_plan_make(pattern, MPI_COMM_WORLD, 1, &own, 1, &there, NULL, &plan));
    met("free_pattern", tw_pattern_free(pattern));
    met("adjoint_of_freed", tw_adjoint(pattern, &pattern));
    for (int i = 0; i < OWN; ++i) source[i] = ids[i];
    met("start", tw_plan_start(plan));
    met("free_while_started", tw_plan_free(plan));
    met("wait", tw_plan_wait(plan));
    for (int i = 0; i < OWN; ++i)
        if (target[i] != other[i]) met("something else has arrived", TW_ERROR_INTERNAL);
    met("free_plan", tw_plan_free(plan));
    met("call_freed", tw_plan_call(plan));
}

int main(int count, char** arguments) {
    char path[4096], text[256];
    tw_points early = TW_NULL;
    tw_pattern late = TW_NULL;
    const int64_t points[3] = {12, 8, 3}, two[2] = {2, 1}, one[2] = {1, 1};
    const int periodic[2] = {1, 1};
    if (count != 2) return 2;
    const tw_status before = tw_points_of_ids_f(0, 0, NULL, &early);
    snprintf(text, sizeof text, "%s", tw_last_error());

    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s/%d", arguments[1], rank);
    out = fopen(path, "w");
    if (!out) return 3;
    for (int i = 0; i < OWN; ++i) {
        ids[i] = 10 * rank + i;
        other[i] = 10 * (1 - rank) + i;
    }
    fprintf(out, "before_init|%d|%s\n", (int)before, text);
    met("all_that_is_right", tw_blocks(points, two, "xy", &blocks));
    tw_blocks(points, two, "zx", &levels_divided);
    tw_blocks(points, one, "xy", &alone);
    tw_halo(blocks, 2, periodic, &structured);
    tw_points_of_ids(MPI_COMM_WORLD, OWN, ids, &named);
    tw_points_of_count(MPI_COMM_WORLD, OWN, &plain);
    tw_points_of_layout(MPI_COMM_WORLD, blocks, &columns);
    tw_points_fetch(named, OWN, other, TW_ANY_PEERS, NULL, &fetch);
    tw_points_halo(named, OWN, other, TW_ANY_PEERS, NULL, &halo);
    tw_adjoint(fetch, &adjoint);
    point_sets();
    wanted();
    lists();
    peers();
    orders();
    patterns();
    plans();
    use();
    MPI_Finalize();
    met("after_finalize", tw_points_fetch(named, OWN, other, TW_ANY_PEERS, NULL, &late));
    met("free_after_finalize", tw_points_free(named));
    return fclose(out) != 0;
}
