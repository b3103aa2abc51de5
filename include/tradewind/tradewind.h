/* Tradewind for C: the exchanges of weather and climate models on MPI.
 *
 * A layout names the owner of each point, a pattern the points that must move; a plan binds a pattern to arrays and a
 * communicator. Grids have the directions x, y, z, always in this order. Indices of points begin at 0. "begin" and
 * "end" are indices of the whole grid; the end is excluded.
 *
 * Every function that can fail returns a status; tw_last_error() returns the text of the error. No function aborts,
 * exits or prints. A handle is a number: copies are the same object, TW_NULL is no object, and a handle that has been
 * freed is refused. Several threads may use handles, but only one at a time the same plan.
 */
#ifndef TRADEWIND_TRADEWIND_H
#define TRADEWIND_TRADEWIND_H

/* For C++ programs: skip the C++ bindings that were removed from MPI; they are a separate library. */
#if defined(__cplusplus) && !defined(OMPI_SKIP_MPICXX)
#define OMPI_SKIP_MPICXX 1
#endif

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TW_API __attribute__((visibility("default")))
#else
#define TW_API
#endif

/* Status that a function returns. */
typedef enum tw_status {
    TW_OK = 0,
    TW_ERROR_INPUT = 1,    /* an argument that is not allowed */
    TW_ERROR_PLAN = 2,     /* another rank refused, a plan was used in the wrong order, or MPI failed */
    TW_ERROR_HANDLE = 3,   /* a handle that was never made, or has been freed */
    TW_ERROR_MEMORY = 4,   /* no memory left */
    TW_ERROR_INTERNAL = 5, /* an error in Tradewind: please report it */
    TW_ERROR_WRITE = 6,    /* a field server or a recording could not be written, or the disk has no room */
} tw_status;

/* Return the text of this thread's last error; "" if there was none. Valid until the thread's next error. */
TW_API const char* tw_last_error(void);
/* Return the version, such as "0.1.0". */
TW_API const char* tw_version(void);

/* --- handles --- */

typedef struct tw_layout {
    uint64_t id;
} tw_layout;
typedef struct tw_pattern {
    uint64_t id;
} tw_pattern;
typedef struct tw_points {
    uint64_t id;
} tw_points;
typedef struct tw_plan {
    uint64_t id;
} tw_plan;
typedef struct tw_transform {
    uint64_t id;
} tw_transform;
typedef struct tw_field_server {
    uint64_t id;
} tw_field_server;
/* Initialises a handle of no object. */
#define TW_NULL {0}

/* --- layouts --- */

/* A grid of `points` divided among split[0] x split[1] ranks along the two directions that `axes` names ("xy" where it
 * is NULL); rank i + j * split[0] has part i of the first and part j of the second. */
TW_API tw_status tw_blocks(const int64_t points[3], const int64_t split[2], const char* axes, tw_layout* layout);
/* Whole lines along a direction, 'x', 'y' or 'z'; the other two directions are divided. Between blocks over "xy" and x
 * pencils of the same split a rank keeps its row, between x pencils and y pencils its column. */
TW_API tw_status tw_pencils(const int64_t points[3], const int64_t split[2], char along, tw_layout* layout);
/* Bands of a grid of `rows` rows, of lengths[i] points each, that lie one after another along x, with
 * `levels` levels along z. Of equal numbers of points, where ranks share rows, or (shared 0) of whole rows. The levels
 * are divided among `level_sets` sets of ranks; rank i + j * ranks / level_sets has band i and set j. */
TW_API tw_status tw_bands(int64_t rows, const int64_t* lengths, int64_t levels, int ranks, int64_t level_sets,
                          int shared, tw_layout* layout);
/* Lists of wavenumbers: points[0] of them along x, owners[m] is the list of m, 0..lists - 1; y stays whole. Rank
 * i + j * lists has list i, ascending in its array, and set j of the levels along z. */
TW_API tw_status tw_wavenumbers(const int64_t points[3], int64_t lists, const int* owners, int64_t level_sets,
                                tw_layout* layout);
/* Lines of different lengths, such as the latitudes that keep each wavenumber, or its degrees: points[0] fields along
 * x, points[1] places along y, points[2] lines along z, of which line l has the places begins[l]..ends[l] - 1. The
 * points of all lines follow each other: an array is (fields, 1, points of its lines). Divided are at most two of:
 * lines, in `lists` lists, owners[l] is that of line l; places, in `parts` parts, part p from cuts[p] to
 * cuts[p + 1] - 1; fields, in `field_sets` sets. With NULL for `owners` or `cuts` lines or places stay whole. Rank i +
 * j * n has part i of the n of the first of them, in this order, and part j of the second. */
TW_API tw_status tw_lines(const int64_t points[3], const int64_t* begins, const int64_t* ends, int64_t lists,
                          const int* owners, int64_t parts, const int64_t* cuts, int64_t field_sets, tw_layout* layout);
/* Whole levels or fields, along z, distributed one by one to the last `servers` of all ranks; the others own nothing.
 */
TW_API tw_status tw_whole(const int64_t points[3], int ranks, int servers, tw_layout* layout);
/* A layout on the ranks from `first` on, of `ranks` in total; the others own nothing. */
TW_API tw_status tw_placed(tw_layout layout, int first, int ranks, tw_layout* placed);
/* The box of points that a rank owns; without points, a box from 0 to 0. Refused if there are several boxes. */
TW_API tw_status tw_layout_box(tw_layout layout, int rank, int64_t begin[3], int64_t end[3]);
/* Free a layout. Patterns that were made from it remain. */
TW_API tw_status tw_layout_free(tw_layout layout);

/* --- patterns --- */

/* A halo: `width` points on every side of each rank's own in x and y, with the corners; in place. A direction with
 * non-zero `periodic` is periodic; along others the cells beyond the grid are not touched. */
TW_API tw_status tw_halo(tw_layout layout, int64_t width, const int periodic[2], tw_pattern* pattern);
/* A transposition from one layout of a grid to another, of any two kinds. If one of them is bands, whose rows follow
 * each other along x, blocks of whole rows are treated as bands: their arrays are (nx * ny, 1, nz). The box
 * of an array whose points are several runs has as many points along each direction, from its first one on. */
TW_API tw_status tw_transpose(tw_layout from, tw_layout to, tw_pattern* pattern);
/* A reduction: the sum, or another operation, over all ranks of a vector of `count` elements; in place. */
TW_API tw_status tw_allreduce(int ranks, int64_t count, tw_pattern* pattern);
/* The adjoint of a fetch (see points): source and target are exchanged, and the values of the target arrays are added
 * to the points that they were fetched from, in an order that does not depend on the arrival of messages. A
 * gather-scatter that adds is its own adjoint. */
TW_API tw_status tw_adjoint(tw_pattern of, tw_pattern* pattern);

/* The two arrays of a pattern; in place they are the same. (Functions take it, and a tw_element, as int, so that they
 * can refuse other values.) */
typedef enum tw_side { TW_SOURCE = 0, TW_TARGET = 1 } tw_side;
/* The points that a rank's array holds, its halo included: begin may be negative. For a fetch and its adjoint: points
 * along x, from 0, and levels along y and z; each rank can ask only for its own. */
TW_API tw_status tw_pattern_box(tw_pattern pattern, int side, int rank, int64_t begin[3], int64_t end[3]);
/* Parts of a rank's array around a halo exchange, for stencils that reach `reach` points, 0 to the width, to every
 * side. The own points that need no point of the halo, to be computed between start and wait; there may be none. Where
 * the grid ends nothing is exchanged: there they reach to its edge. */
TW_API tw_status tw_halo_interior(tw_pattern halo, int rank, int64_t reach, int64_t begin[3], int64_t end[3]);
/* The other own points: `boxes` boxes, at most four, that do not overlap. Further entries are not touched. */
TW_API tw_status tw_halo_rim(tw_pattern halo, int rank, int64_t reach, int* boxes, int64_t begin[4][3],
                             int64_t end[4][3]);
/* The own points, and `by` more on every side that the exchange fills, for steps that compute a part of the halo. */
TW_API tw_status tw_halo_widened(tw_pattern halo, int rank, int64_t by, int64_t begin[3], int64_t end[3]);
/* Free a pattern. Plans that were made from it remain. */
TW_API tw_status tw_pattern_free(tw_pattern pattern);

/* --- gather-scatter --- */

/* Each value of all ranks becomes the combination ("add", "mul", "min" or "max") of all values of its id, on its own
 * rank and on others. `ids`: those of this rank's values, in the order of its array, up to 2^63 - 1; values with ids
 * below 1 take no part. Collective: a rank whose arguments do not fit returns TW_ERROR_INPUT, and all others
 * TW_ERROR_PLAN. In place; fields have one to three dimensions, of which the option `axis` is over values, the others
 * over levels. */
TW_API tw_status tw_gather_scatter(MPI_Comm comm, int64_t values, const int64_t* ids, const char* operation,
                                   tw_pattern* pattern);
/* The same with a communicator of Fortran's. */
TW_API tw_status tw_gather_scatter_f(MPI_Fint comm, int64_t values, const int64_t* ids, const char* operation,
                                     tw_pattern* pattern);
/* The same of hexahedral elements in a brick of ranks: `elements` of each rank, `points` of an element along each
 * direction, `split` ranks, all (x, y, z) and x fastest; directions with non-zero `periodic` are periodic. The values
 * of a rank lie element by element. Who shares what is computed: no communication, and the algorithm "cartesian"
 * besides the others. */
TW_API tw_status tw_brick_gather_scatter(const int64_t elements[3], int64_t points, const int64_t split[3],
                                         const int periodic[3], const char* operation, tw_pattern* pattern);

/* --- points --- */

/* The points that this rank owns, among those of all ranks: each rank knows its own alone. From them come fetches, in
 * which each rank lists what it wants from wherever it lies: halos of unstructured meshes, and points on demand.
 *
 * All functions of points but tw_points_count are collective: a rank whose arguments do not fit returns TW_ERROR_INPUT,
 * and all others TW_ERROR_PLAN. (A rank whose tw_points is no handle cannot inform the others.)
 *
 * `ids`: the global numbers of the rank's points, of 0 and more, each once among all ranks, in the order of its array.
 */
TW_API tw_status tw_points_of_ids(MPI_Comm comm, int64_t count, const int64_t* ids, tw_points* points);
/* So many points that have no ids: who wants one names its owner and its index in the owner's array. */
TW_API tw_status tw_points_of_count(MPI_Comm comm, int64_t count, tw_points* points);
/* The columns of a layout that divides x, y or both: (x, y) has the id x + nx * y; a rank's array has its own row by
 * row. Who owns one is computed, not looked up. */
TW_API tw_status tw_points_of_layout(MPI_Comm comm, tw_layout layout, tw_points* points);
/* The same for Fortran: with a communicator of Fortran's; and indices, places and the ids of a layout, which is
 * (x - 1) + nx * (y - 1) + 1, begin at 1. Ids that the caller gives are names, and stay as they are. */
TW_API tw_status tw_points_of_ids_f(MPI_Fint comm, int64_t count, const int64_t* ids, tw_points* points);
TW_API tw_status tw_points_of_count_f(MPI_Fint comm, int64_t count, tw_points* points);
TW_API tw_status tw_points_of_layout_f(MPI_Fint comm, tw_layout layout, tw_points* points);
/* The number of points that this rank owns. */
TW_API tw_status tw_points_count(tw_points points, int64_t* count);
/* The owners of `wanted` ids, and the indices in the arrays of the owners. */
TW_API tw_status tw_points_locate(tw_points points, int64_t wanted, const int64_t* ids, int* owner, int64_t* index);

/* As the number of peers: find the ranks with which this one exchanges, by a sparse exchange. */
#define TW_ANY_PEERS (-1)
/* A fetch into a target array: the points that this rank wants, by their ids, each as often as it is wanted; in this
 * order they lie in the array. `peer`: the ranks that own what this one wants, or want what it owns, where all ranks
 * know that beforehand; a rank that names another is named by it. */
TW_API tw_status tw_points_fetch(tw_points points, int64_t wanted, const int64_t* ids, int peers, const int* peer,
                                 tw_pattern* pattern);
/* The same of points index[k] in the arrays of the ranks owner[k], as many of both. They go to place[k] of the target
 * array, which ends with the last of them; `place` NULL: one after another. */
TW_API tw_status tw_points_fetch_listed(tw_points points, int64_t owners, const int* owner, int64_t indices,
                                        const int64_t* index, int64_t places, const int64_t* place, int peers,
                                        const int* peer, tw_pattern* pattern);
/* An unstructured halo: one array holds the rank's own points, and behind them those that it wants. */
TW_API tw_status tw_points_halo(tw_points points, int64_t wanted, const int64_t* ids, int peers, const int* peer,
                                tw_pattern* pattern);
/* The same of listed points. With places the array has as many points as the rank, and those places of it are the halo,
 * which no rank may fetch; `place` NULL: the halo lies behind the rank's own points. */
TW_API tw_status tw_points_halo_listed(tw_points points, int64_t owners, const int* owner, int64_t indices,
                                       const int64_t* index, int64_t places, const int64_t* place, int peers,
                                       const int* peer, tw_pattern* pattern);
/* A fetch with what all ranks want, known to each of them, for algorithms that pass points on from rank to rank
 * ("two-level-k", "leaders-k"). Takes 24 bytes per point that any rank wants, on every rank. A plan that such an
 * algorithm is chosen for does it by itself; who makes several plans of one fetch does it once. */
TW_API tw_status tw_points_known_to_all(tw_points points, tw_pattern fetch, tw_pattern* pattern);
/* The same fetch, or adjoint, with levels along y and z, as tw_pattern_box and tw_empty return them. (A plan takes the
 * levels from its fields.) Not collective. */
TW_API tw_status tw_fetch_levels(tw_pattern fetch, const int64_t levels[2], tw_pattern* pattern);
/* An order of a rank's points in which an array of own and halo points is three runs, so that messages are long ones:
 * first the own points that no other rank wants, `interior` of them, then those that others do, rank by rank, and
 * behind them the halo, owner by owner. `own` and `halo`: ids in any order; the same in the new order are written to
 * `new_own` and `new_halo`. What stands in `halo` several times comes once: `new_halos` is their number. */
TW_API tw_status tw_renumbered(MPI_Comm comm, int64_t owns, const int64_t* own, int64_t halos, const int64_t* halo,
                               int64_t* new_own, int64_t* interior, int64_t* new_halo, int64_t* new_halos);
TW_API tw_status tw_renumbered_f(MPI_Fint comm, int64_t owns, const int64_t* own, int64_t halos, const int64_t* halo,
                                 int64_t* new_own, int64_t* interior, int64_t* new_halo, int64_t* new_halos);
/* Free points. Collective. Fetches that were made from them remain. */
TW_API tw_status tw_points_free(tw_points points);

/* --- arrays --- */

/* Types of elements: 32- and 64-bit reals, integers, and complex numbers of two such reals. */
typedef enum tw_element { TW_F4 = 0, TW_F8 = 1, TW_I4 = 2, TW_I8 = 3, TW_C8 = 4, TW_C16 = 5 } tw_element;

/* An array of one rank. `data` may point into the memory of a device, of CUDA or ROCm, as OpenACC's host_data and
 * OpenMP's use_device_addr give it: plans find out where it is. All fields of a plan are in the host's memory, or on
 * one device. Field servers copy what is on a device, in the order of the default stream. Transforms take the host's
 * memory alone.
 */
typedef struct tw_field {
    void* data;         /* its element at the lowest x, y and z */
    int64_t points[3];  /* along x, y, z */
    int64_t strides[3]; /* bytes from a point to the next along x, y, z; any, also negative */
    int32_t element;    /* a tw_element */
    int32_t dimensions; /* 1, 2 or 3; with fewer than 3 the last directions have one point */
} tw_field;

/* An array [z][y][x] without gaps: x is fastest. */
TW_API tw_field tw_dense(void* data, int element, int64_t nx, int64_t ny, int64_t nz);
/* A vector without gaps, for reductions and fetches. */
TW_API tw_field tw_vector(void* data, int element, int64_t count);
/* The same for Fortran, of any strides in bytes, as bindings/fortran/descriptor.c reads them. What plans do not take,
 * be it the element or the number of dimensions, is refused where the field is used. */
TW_API tw_field tw_field_f(int element, int dimensions, const int64_t points[3], const int64_t strides[3], void* data);
/* An array of zeros for a pattern's source or target on a rank, which this process must be, in memory that the ranks of
 * its node share: plans with transport "shared" and packing "direct" take messages from there without a copy in
 * between. Not collective. tw_release gives it back. */
TW_API tw_status tw_empty(tw_pattern pattern, int side, int rank, int element, tw_field* field);
/* `data` of a field of tw_empty. The memory goes when also the plans that are bound to it are freed. */
TW_API tw_status tw_release(void* data);

/* --- plans --- */

/* Records of a plan. */
typedef enum tw_record { TW_RECORD_NOTHING = 0, TW_RECORD_TOTALS = 1 } tw_record;

/* Options of a plan. The first three are chosen at run time if they are NULL or "": by the environment variable
 * of the pattern as rank 0 sees it (TRADEWIND_HALO=sweep,isend-irecv,buffer, TRADEWIND_TRANSPOSE, TRADEWIND_FETCH,
 * TRADEWIND_ALLREDUCE; parts may be empty), or else by default. */
typedef struct tw_options {
    const char* algorithm;   /* "sweep", "ring-4", "native", ... */
    const char* transport;   /* "isend-irecv", "shared", ... */
    const char* packing;     /* "buffer", "datatype", "direct" */
    const char* operation;   /* of a reduction: "sum" (NULL), "min", "max", "prod" */
    int64_t largest_message; /* maximum bytes of an MPI message; longer messages are divided */
    double watchdog_s;       /* maximum seconds of waiting; then the error names the peers; 0: no limit */
    int32_t pack_ahead;      /* gather a stage's messages during the stage before */
    int32_t synchronous;     /* a send ends only when it is received */
    int32_t check;           /* compare a checksum of every message at its two ends */
    int32_t record;          /* a tw_record */
    int32_t ranks_per_node;  /* transport shared: consecutive ranks per assumed node; 0: the real nodes */
    int32_t axis;            /* of a fetch or a gather-scatter: the direction over points, 0, 1, 2: x, y, z */
    const void* stream;      /* of fields on a device: that of the caller's work (a CUstream, cudaStream_t or
                                hipStream_t); NULL: the default stream. A call reads what was written before in it, and
                                returns before its copies into the fields are over: later work in it waits for them */
} tw_options;
/* Return the default options. */
TW_API tw_options tw_default_options(void);

/* Bind a pattern to arrays; several arrays travel in one message. Collective over `comm`. `target`: as many as
 * `source`; none (0, NULL) where the pattern is in place, or an unstructured halo, or the adjoint of one. The fields of
 * a fetch have one to three dimensions, of which `axis` of the options is the one over points and the others are
 * levels, the same ones in all fields; a rank without points has fields without any. `options`: NULL for the default
 * ones. A rank whose arguments do not fit returns TW_ERROR_INPUT or TW_ERROR_HANDLE, and all others TW_ERROR_PLAN. The
 * arrays, except those of tw_empty, must outlive the plan; after an exchange that failed, MPI. */
TW_API tw_status tw_plan_make(tw_pattern pattern, MPI_Comm comm, int sources, const tw_field* source, int targets,
                              const tw_field* target, const tw_options* options, tw_plan* plan);
/* The same, with a communicator of Fortran's. */
TW_API tw_status tw_plan_make_f(tw_pattern pattern, MPI_Fint comm, int sources, const tw_field* source, int targets,
                                const tw_field* target, const tw_options* options, tw_plan* plan);
/* Carry out the exchange. All ranks call it. */
TW_API tw_status tw_plan_call(tw_plan plan);
/* Start and finish the exchange. In between the fields may be read but not written, and received points are undefined.
 */
TW_API tw_status tw_plan_start(tw_plan plan);
TW_API tw_status tw_plan_wait(tw_plan plan);
/* Between start and wait: complete a stage whose messages have come, and post the next one; never waits. `over`: 1 if
 * the wait will return at once; may be NULL. It does nothing with a transport that cannot progress without waiting: see
 * tw_plan_pokes. */
TW_API tw_status tw_plan_poke(tw_plan plan, int* over);
/* `pokes`: 1 if the transport of the plan can progress in a poke, else 0. */
TW_API tw_status tw_plan_pokes(tw_plan plan, int* pokes);
/* Pattern and algorithm, in one line. Valid until the plan is freed. */
TW_API tw_status tw_plan_text(tw_plan plan, const char** text);
/* The chosen method, as "sweep,isend-irecv,buffer". Valid until the plan is freed. */
TW_API tw_status tw_plan_way(tw_plan plan, const char** text);
/* Origins of its parts, such as "algorithm: tuning.toml, transport: TRADEWIND_HALO, packing: default": argument,
 * variable, tuning file, or default; and the differences, if the entry of the file was tuned on another host. Valid
 * until the plan is freed. */
TW_API tw_status tw_plan_origin(tw_plan plan, const char** text);
/* Path of messages between fields on a device and MPI, such as "staged through pinned memory of the host (...)"; "" for
 * fields in the host's memory. Valid until the plan is freed. */
TW_API tw_status tw_plan_staging(tw_plan plan, const char** text);
/* MPI messages and bytes that this rank sends in one call. */
TW_API tw_status tw_plan_traffic(tw_plan plan, int64_t* messages, int64_t* bytes);
/* Seconds of this rank since the plan was made, by activity: pack, post, copy, wait, unpack; 0 unless it records. */
TW_API tw_status tw_plan_seconds(tw_plan plan, double seconds[5]);
/* Free a plan. Collective. Refused between start and wait. */
TW_API tw_status tw_plan_free(tw_plan plan);

/* --- transforms --- */

/* The spherical-harmonics transform of a model, between the points of a Gaussian grid and spectral coefficients. A real
 * field is the sum over m = -T..T and n = |m|..T of c(m, n) P(n, m)(sin phi) exp(i m lambda), where the mean over the
 * sphere of |P exp(i m lambda)|^2 is 1, as in ecTrans. Coefficients of m < 0 are not stored: they are the complex
 * conjugates of those of -m.
 *
 * Ranks are W x V: a rank has a list of wavenumbers and, in spectral space, a set of the levels; on the grid it has a
 * band of points, and all levels. Arrays are fields:
 *
 *   on the grid   (points, levels), 64- or 32-bit reals: the rank's points of each level one after another; also
 *                 (points, levels, variables), all of which count as levels
 *   spectral      (levels, coefficients), complex numbers of two such reals: the rank's levels of each coefficient one
 *                 after another
 *
 * Fields are transformed together: 64 of them are much cheaper per field than one. All functions but those that only
 * return sizes and numbers are collective. A rank whose arguments do not fit returns TW_ERROR_INPUT, and all others
 * TW_ERROR_PLAN. What is not finite goes through: its field is not finite after it. */

/* Options of a transform. */
typedef struct tw_transform_options {
    const char* rule;   /* "linear", "quadratic", "cubic": which degrees a grid holds; NULL or "": as the degree asks */
    const char* dealt;  /* wavenumbers to ranks: "packed" (NULL), evenly; "snake", as ecTrans */
    int64_t degree;     /* T; -1: the largest of the rule, which for an octahedral grid is cubic, else linear */
    int64_t level_sets; /* V; 0: the smallest of 4 or more with V <= W that divides the ranks */
    double radius;      /* of the sphere, metres: of winds and gradients */
    double watchdog_s;  /* an exchange that waits longer fails; 0: no limit */
    int32_t element;    /* of grid points: TW_F8 or TW_F4 */
    int32_t threads;    /* share out rows and wavenumbers of this rank; results do not depend on their number */
} tw_transform_options;
/* Return the default options. */
TW_API tw_transform_options tw_default_transform_options(void);

/* The transform on a grid by its name: "O80", the octahedral grid with 80 latitudes in a hemisphere, or "F80", the full
 * one. Computes the Legendre functions of the rank's wavenumbers, and keeps them. `options`: NULL for the default ones.
 */
TW_API tw_status tw_transform_make(MPI_Comm comm, const char* grid, const tw_transform_options* options,
                                   tw_transform* transform);
/* The same on a Gaussian grid of `rows` rows of lengths[i] points, from north to south, alike in both hemispheres. */
TW_API tw_status tw_transform_make_rows(MPI_Comm comm, int64_t rows, const int64_t* lengths,
                                        const tw_transform_options* options, tw_transform* transform);
/* The same with a communicator of Fortran's. */
TW_API tw_status tw_transform_make_f(MPI_Fint comm, const char* grid, const tw_transform_options* options,
                                     tw_transform* transform);
TW_API tw_status tw_transform_make_rows_f(MPI_Fint comm, int64_t rows, const int64_t* lengths,
                                          const tw_transform_options* options, tw_transform* transform);

/* The truncation's degree T; the rank's first point in the order of the grid, rows from the north, each from the
 * Greenwich meridian to the east; the number of its points; that of its coefficients. */
TW_API tw_status tw_transform_sizes(tw_transform transform, int64_t* degree, int64_t* first, int64_t* points,
                                    int64_t* coefficients);
/* The levels of the rank in spectral space, of `levels` in all: the first, and how many. */
TW_API tw_status tw_transform_levels(tw_transform transform, int64_t levels, int64_t* first, int64_t* count);
/* Longitude and latitude of each point of the rank, in degrees. */
TW_API tw_status tw_transform_coordinates(tw_transform transform, double* longitude, double* latitude);
/* m and n of each coefficient of the rank: for each of its wavenumbers the degrees m..T. */
TW_API tw_status tw_transform_numbers(tw_transform transform, int64_t* m, int64_t* n);

/* The inverse and the direct transform. */
TW_API tw_status tw_transform_to_grid(tw_transform transform, const tw_field* spectral, const tw_field* grid);
TW_API tw_status tw_transform_to_spectral(tw_transform transform, const tw_field* grid, const tw_field* spectral);
/* The wind to the east and to the north, m/s, from vorticity and divergence, 1/s; and back. */
TW_API tw_status tw_transform_wind(tw_transform transform, const tw_field* vorticity, const tw_field* divergence,
                                   const tw_field* u, const tw_field* v);
TW_API tw_status tw_transform_vorticity_divergence(tw_transform transform, const tw_field* u, const tw_field* v,
                                                   const tw_field* vorticity, const tw_field* divergence);
/* The gradient to the east and to the north, per metre. */
TW_API tw_status tw_transform_gradient(tw_transform transform, const tw_field* spectral, const tw_field* east,
                                       const tw_field* north);

/* How an adjoint multiplies spectral coefficients: those of m > 0 count twice, as they stand for those of -m, too; or
 * as the real numbers that are stored. On the grid it sums over points. */
typedef enum tw_product { TW_WEIGHTED = 0, TW_PLAIN = 1 } tw_product;
/* The adjoints of all of these: from what they return to what they take. */
TW_API tw_status tw_transform_to_grid_adjoint(tw_transform transform, int product, const tw_field* grid,
                                              const tw_field* spectral);
TW_API tw_status tw_transform_to_spectral_adjoint(tw_transform transform, int product, const tw_field* spectral,
                                                  const tw_field* grid);
TW_API tw_status tw_transform_wind_adjoint(tw_transform transform, int product, const tw_field* u, const tw_field* v,
                                           const tw_field* vorticity, const tw_field* divergence);
TW_API tw_status tw_transform_vorticity_divergence_adjoint(tw_transform transform, int product,
                                                           const tw_field* vorticity, const tw_field* divergence,
                                                           const tw_field* u, const tw_field* v);
TW_API tw_status tw_transform_gradient_adjoint(tw_transform transform, int product, const tw_field* east,
                                               const tw_field* north, const tw_field* spectral);
/* Free a transform. */
TW_API tw_status tw_transform_free(tw_transform transform);

/* --- recording --- */

/* Record what all plans of this process do, most often in a time step: their calls in order, with the messages that
 * they send; the time between them is computation. Collective over `comm`, the ranks of the program. Ranks with equal
 * calls are one group of it. */
TW_API tw_status tw_record_begin(MPI_Comm comm);
/* The same with a communicator of Fortran's. */
TW_API tw_status tw_record_begin_f(MPI_Fint comm);
/* End the recording, and write it to `path`, from rank 0, as a program file: `tradewind verify program PATH` proves it,
 * `tradewind simulate program PATH --machine fugaku` computes its time elsewhere. Collective. TW_ERROR_INPUT for
 * an exchange that was started in the recording and not awaited, or the reverse, and where the ranks of a plan do not
 * carry it out as often; TW_ERROR_WRITE, on all ranks, where the file cannot be written. */
TW_API tw_status tw_record_end(const char* path);

/* --- field server --- */

/* Output and input that do not stop the model: servers beside it encode, write and read ahead. They are Python, started
 * in the same job: mpiexec -n 12 ./model : -n 1 tradewind serve plan.toml; or, where no rank of the job serves, by the
 * library, as processes beside ranks of the model. The plan file lists what is written when.
 *
 * All functions but tw_field_server_wants are collective over the ranks of the model, in the same order on all. An
 * error of one rank is TW_ERROR_INPUT there and TW_ERROR_PLAN on the others, after which the field server can only be
 * closed; an error that all ranks meet leaves it as it was.
 *
 * Where a server raises an error, or stops, and gives no sign of life for the `patience` of the plan file, another one
 * writes and reads what it was to. Where none is left the ranks get TW_ERROR_PLAN. */

/* The horizontal grid of a field, as files describe it; see the functions that make one. */
typedef enum tw_grid_kind {
    TW_REGULAR = 0,
    TW_GAUSSIAN = 1,
    TW_SPECTRAL = 2,
    TW_UNSTRUCTURED = 3,
    TW_LAMBERT = 4,
    TW_POLAR_STEREOGRAPHIC = 5,
    TW_ROTATED = 6,
    TW_CURVILINEAR = 7
} tw_grid_kind;
typedef struct tw_geometry {
    int32_t kind;        /* a tw_grid_kind */
    int64_t nx, ny;      /* Gaussian: ny rows; spectral: truncation nx; unstructured: nx points; else nx * ny points */
    const int64_t* rows; /* Gaussian: points of each row */
    double longitude, latitude, dx, dy; /* the first point, in degrees, and from one to the next: on a map in metres */
    const double *longitudes, *latitudes; /* in degrees, of all points: read on the model's first rank */
    double projection[3]; /* of a map or a rotated sphere: the last arguments of the function that makes it */
    double radius;        /* of the Earth on a map, in metres; 0: 6371229 */
    const char* uuid;     /* unstructured: by which GRIB names the grid; NULL: computed from the coordinates */
    int32_t grid_number, grid_in_reference; /* unstructured: numbers of the grid and of its kind of points in GRIB */
} tw_geometry;
/* nx longitudes and ny latitudes: point i + nx * j at (longitude + i * dx, latitude + j * dy). */
TW_API tw_geometry tw_regular(int64_t nx, int64_t ny, double longitude, double latitude, double dx, double dy);
/* A Gaussian grid, full or reduced, of `count` rows from the north, row j of rows[j] points. */
TW_API tw_geometry tw_gaussian(int64_t count, const int64_t* rows);
/* Coefficients of spherical harmonics, triangular truncation, as GRIB orders them. */
TW_API tw_geometry tw_spectral(int64_t truncation);
/* Points in the order of their numbers; NULL where coordinates are not known. */
TW_API tw_geometry tw_unstructured(int64_t count, const double* longitudes, const double* latitudes);

/* nx * ny points on Lambert's conformal map: point i + nx * j is i * dx and j * dy metres, along x and y, from the
 * first one, at (longitude, latitude). y runs along the meridian `orientation`; lengths are true at two parallels,
 * which may be one. The Earth is a sphere of `radius`. */
TW_API tw_geometry tw_lambert(int64_t nx, int64_t ny, double longitude, double latitude, double dx, double dy,
                              double orientation, double parallel, double second_parallel);
/* The same on the stereographic map around a pole: that of the hemisphere of `true_latitude`, where lengths are true. y
 * runs along the meridian `orientation` to where latitude increases. */
TW_API tw_geometry tw_polar_stereographic(int64_t nx, int64_t ny, double longitude, double latitude, double dx,
                                          double dy, double orientation, double true_latitude);
/* A grid of longitudes and latitudes, as tw_regular, of a sphere whose north pole is moved to (pole_longitude,
 * pole_latitude); `longitude` and `latitude` are those of that sphere. */
TW_API tw_geometry tw_rotated(int64_t nx, int64_t ny, double longitude, double latitude, double dx, double dy,
                              double pole_longitude, double pole_latitude);
/* nx * ny points anywhere: point i + nx * j at (longitudes[i + nx * j], latitudes[i + nx * j]). */
TW_API tw_geometry tw_curvilinear(int64_t nx, int64_t ny, const double* longitudes, const double* latitudes);

/* Further attributes of a field. NULL: those of the plan file, or none. */
typedef struct tw_description {
    int64_t levels;         /* 0: those of the layout */
    const double* level;    /* their numbers; NULL: 1, 2, ... */
    const char* level_type; /* "model" (NULL), "pressure" (hPa), "surface" or "height" (m) */
    const char* units;      /* as UDUNITS has them; GRIB has those of the parameter: values are converted */
    const char* long_name;
    const char* standard_name;
    const char* grib; /* a short name of ecCodes */
    int32_t element;  /* TW_F8 or TW_F4 */
    int32_t axis;     /* of fields by points: the direction of the arrays that is over points, 0 or 1 */
} tw_description;
TW_API tw_description tw_default_description(void);

/* Join the servers. Collective over `comm`, which holds all ranks of the model and all servers, as MPI_COMM_WORLD does.
 * Where no rank is a server, the library starts local servers if the environment variable TRADEWIND_PLAN of rank 0
 * names a plan file. Where it does not, where versions differ and where the plan file is refused, all ranks get
 * TW_ERROR_INPUT. */
TW_API tw_status tw_field_server_open(MPI_Comm comm, tw_field_server* server);
TW_API tw_status tw_field_server_open_f(MPI_Fint comm, tw_field_server* server);
/* The same with a plan file for local servers, as rank 0 names it: where no rank of `comm` is a server, the library
 * starts a `tradewind serve` as a process beside the first rank of each node, or beside each rank, as the plan has it,
 * and hands fields over by shared memory. Servers in the job are joined, with their own plan file. NULL or "": the
 * environment variable TRADEWIND_PLAN of rank 0 names the file, as it does for tw_field_server_open. */
TW_API tw_status tw_field_server_open_plan(MPI_Comm comm, const char* plan, tw_field_server* server);
TW_API tw_status tw_field_server_open_plan_f(MPI_Fint comm, const char* plan, tw_field_server* server);
/* The communicator of the model's ranks, in place of the one that was given to open. It stays until MPI is finalized.
 */
TW_API tw_status tw_field_server_comm(tw_field_server server, MPI_Comm* comm);
TW_API tw_status tw_field_server_comm_f(tw_field_server server, MPI_Fint* comm);
/* Define a field: where its points lie on the ranks of the model, and its attributes in files. `description`: NULL
 * for the default one. */
TW_API tw_status tw_field_server_define(tw_field_server server, const char* name, tw_layout layout,
                                        const tw_geometry* geometry, const tw_description* description);
/* The same of points by their numbers, from 0, in the order of this rank's array, which has points and levels. */
TW_API tw_status tw_field_server_define_points(tw_field_server server, const char* name, int64_t points,
                                               const int64_t* ids, const tw_geometry* geometry,
                                               const tw_description* description);
/* `wants`: 1 if the plan has a field written at a step, else 0. */
TW_API tw_status tw_field_server_wants(tw_field_server server, const char* name, int64_t step, int* wants);
/* Give this rank's part of a field of a step; the array is the model's again at once. `level`: the place, from 0, of
 * the one level that is written, where the layout has one and the field several; else -1. A rank without points gives
 * an array of any element with a dimension of 0 points, or with 0 dimensions. What the plan does not want is left out
 * without a word. */
TW_API tw_status tw_field_server_write(tw_field_server server, const char* name, const tw_field* values, int64_t step,
                                       int64_t level);
/* Begin to write as tw_field_server_write does, without a copy: the array must stay as it is until tw_field_server_wait
 * returns. Its strides are whole elements. */
TW_API tw_status tw_field_server_start(tw_field_server server, const char* name, const tw_field* values, int64_t step,
                                       int64_t level);
/* Return when the arrays of a field that were given to tw_field_server_start are the model's again; NULL: those of all
 * fields. Where none is under way, at once. */
TW_API tw_status tw_field_server_wait(tw_field_server server, const char* name);
/* Nothing more comes of a step: steps end in ascending order. TW_ERROR_WRITE where an earlier one could not be
 * written. */
TW_API tw_status tw_field_server_end_step(tw_field_server server, int64_t step);
/* Name the next input files in their order; servers read ahead as many as in the plan. Returns when they have
 * confirmed that they are there. */
TW_API tw_status tw_field_server_prefetch(tw_field_server server, int64_t count, const char* const* paths);
/* Fill this rank's part of a field from a file that was named; waits where the file is late. */
TW_API tw_status tw_field_server_read(tw_field_server server, const char* name, const tw_field* values,
                                      const char* path);
/* Wait until all steps that have ended are on the disk. */
TW_API tw_status tw_field_server_finish(tw_field_server server);
/* The same, and let the servers end. The handle is freed in any case. */
TW_API tw_status tw_field_server_close(tw_field_server server);

#ifdef __cplusplus
}
#endif

#endif
