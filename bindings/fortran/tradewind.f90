!> Tradewind for Fortran: the exchanges of weather and climate models on MPI.
!!
!! Layouts say who owns what, patterns what must move, plans bind a pattern to arrays and a communicator. Arrays are
!! (x, y, z). Indices of points begin at 1, those of ranks at 0, as MPI's. Communicators are integers, or those of
!! mpi_f08. Every function that can fail returns a status: tw_ok, or what kind of error; tw_last_error() is its text.
!! Nothing aborts, stops or prints.
module tradewind
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_double, c_char, c_signed_char, c_ptr, &
    c_null_ptr, c_loc, c_f_pointer, c_associated, c_null_char, c_size_t
  use tradewind_interfaces
  use tradewind_fields
  use tradewind_arrays, only: tw_empty
  use tradewind_points
  use tradewind_transforms
  use tradewind_field_server
  implicit none
  private

  public :: tw_ok, tw_error_input, tw_error_plan, tw_error_handle, tw_error_memory, tw_error_internal
  public :: tw_error_write
  public :: tw_source, tw_target, tw_f4, tw_f8, tw_i4, tw_i8, tw_c8, tw_c16
  public :: tw_layout, tw_pattern, tw_points, tw_plan, tw_options, tw_field
  public :: tw_blocks, tw_pencils, tw_bands, tw_wavenumbers, tw_lines, tw_whole, tw_placed, tw_layout_box, tw_layout_free
  public :: tw_halo, tw_transpose, tw_allreduce, tw_adjoint, tw_pattern_box, tw_pattern_free
  public :: tw_halo_interior, tw_halo_rim, tw_halo_widened, tw_fetch_levels, tw_gather_scatter
  public :: tw_brick_gather_scatter
  public :: tw_points_of_ids, tw_points_of_count, tw_points_of_layout, tw_points_count, tw_points_locate
  public :: tw_points_fetch, tw_points_fetch_listed, tw_points_halo, tw_points_halo_listed, tw_points_known_to_all
  public :: tw_renumbered, tw_points_free
  public :: tw_empty, tw_release
  public :: tw_plan_make, tw_plan_call, tw_plan_start, tw_plan_poke, tw_plan_pokes, tw_plan_wait, tw_plan_free
  public :: tw_plan_text, tw_plan_way, tw_plan_origin, tw_plan_staging, tw_plan_traffic, tw_plan_seconds
  public :: tw_transform, tw_transform_options, tw_weighted, tw_plain
  public :: tw_transform_make, tw_transform_make_rows, tw_transform_free
  public :: tw_transform_sizes, tw_transform_levels, tw_transform_coordinates, tw_transform_numbers
  public :: tw_transform_to_grid, tw_transform_to_spectral, tw_transform_wind
  public :: tw_transform_vorticity_divergence, tw_transform_gradient
  public :: tw_transform_to_grid_adjoint, tw_transform_to_spectral_adjoint, tw_transform_wind_adjoint
  public :: tw_transform_vorticity_divergence_adjoint, tw_transform_gradient_adjoint
  public :: tw_record_begin, tw_record_end
  public :: tw_field_server, tw_geometry, tw_regular, tw_gaussian, tw_spectral, tw_unstructured
  public :: tw_lambert, tw_polar_stereographic, tw_rotated, tw_curvilinear
  public :: tw_field_server_open, tw_field_server_comm, tw_field_server_define, tw_field_server_define_points
  public :: tw_field_server_wants, tw_field_server_write, tw_field_server_start, tw_field_server_wait
  public :: tw_field_server_end_step, tw_field_server_prefetch
  public :: tw_field_server_read, tw_field_server_finish, tw_field_server_close
  public :: tw_last_error, tw_version

  !> How a plan moves data. Algorithm, transport and packing that are blank are chosen at run time: by the environment
  !! variable of the pattern (TRADEWIND_HALO=sweep,isend-irecv,buffer), or else by the tuning file that TRADEWIND_TUNING
  !! names, or else by default.
  type :: tw_options
    character(len=64) :: algorithm = ""
    character(len=64) :: transport = ""
    character(len=64) :: packing = ""
    character(len=16) :: operation = "sum"  !< of a reduction; or min, max, prod
    integer(c_int64_t) :: largest_message = 2_c_int64_t**30  !< bytes; longer ones go in several
    real(c_double) :: watchdog_s = 0  !< an exchange that waits longer fails; 0: no limit
    logical :: pack_ahead = .true.  !< gather a stage's messages while the one before is under way
    logical :: synchronous = .false.  !< a send ends only when it is received
    logical :: check = .false.  !< compare a checksum of every message at its two ends
    logical :: record = .false.  !< fill tw_plan_seconds
    integer :: ranks_per_node = 0  !< transport shared: consecutive ranks per assumed node; 0: the real nodes
    integer :: axis = 1  !< of a fetch or a gather-scatter: which dimension is over points, 1 to 3; others: levels
    !> The stream of the caller's work on fields of a device, as acc_get_cuda_stream has it; null: the default one.
    type(c_ptr) :: stream = c_null_ptr
  end type tw_options

  !> Records what all plans do until tw_record_end, most often in a time step: their calls in order, with the messages
  !! that they send; the time between them is computation. Collective; `comm`: the ranks of the program. Ranks with
  !! equal calls are one group of it.
  interface tw_record_begin
    procedure :: record_on_integer, record_on_handle
  end interface tw_record_begin

  !> Binds a pattern to fields, which travel in one message: status = tw_plan_make(plan, pattern, comm, fields
  !! [, targets] [, options]). Collective. `fields`: [tw_field(u), tw_field(v)], of arrays with the attribute target
  !! that outlive the plan. `targets`: as many, of a pattern that is not in place; none of an unstructured halo either.
  !! The fields of a fetch have one to three dimensions; options%axis is the one over points, the others are levels.
  interface tw_plan_make
    procedure :: make_on_integer, make_on_handle
  end interface tw_plan_make

contains

  !> A grid of `points` divided among split(1) x split(2) ranks along the two directions that `axes` names, "xy" where
  !! it is absent; rank i + j * split(1), i and j from 0, has part i of the first and part j of the second.
  function tw_blocks(layout, points, split, axes) result(status)
    type(tw_layout), intent(out) :: layout
    integer, intent(in) :: points(3), split(2)
    character(len=*), intent(in), optional :: axes
    integer(c_int) :: status
    character(len=:), allocatable :: name
    name = "xy"
    if (present(axes)) name = trim(axes)
    status = c_blocks(int(points, c_int64_t), int(split, c_int64_t), name // c_null_char, layout)
  end function tw_blocks

  !> Whole lines along a direction, "x", "y" or "z"; the other two divided. Between blocks over "xy" and x pencils of
  !! the same split a rank keeps its row, between x pencils and y pencils its column.
  function tw_pencils(layout, points, split, along) result(status)
    type(tw_layout), intent(out) :: layout
    integer, intent(in) :: points(3), split(2)
    character(len=1), intent(in) :: along
    integer(c_int) :: status
    status = c_pencils(int(points, c_int64_t), int(split, c_int64_t), int(iachar(along), c_signed_char), layout)
  end function tw_pencils

  !> Bands of a grid of rows, of lengths(i) points each, that lie one after another along x, with `levels` levels along z.
  !! Bands have equal numbers of points, where ranks share rows; with shared=.false. whole rows.
  !! The levels are divided among `level_sets` sets of ranks; rank i + j * ranks / level_sets has band i and set j.
  function tw_bands(layout, lengths, levels, ranks, level_sets, shared) result(status)
    type(tw_layout), intent(out) :: layout
    integer, intent(in) :: lengths(:), levels, ranks
    integer, intent(in), optional :: level_sets
    logical, intent(in), optional :: shared
    integer(c_int) :: status
    integer(c_int64_t) :: sets
    integer(c_int) :: share
    sets = 1
    share = 1
    if (present(level_sets)) sets = int(level_sets, c_int64_t)
    if (present(shared)) share = merge(1_c_int, 0_c_int, shared)
    status = c_bands(size(lengths, kind=c_int64_t), int(lengths, c_int64_t), int(levels, c_int64_t), &
                     int(ranks, c_int), sets, share, layout)
  end function tw_bands

  !> Lists of wavenumbers: points(1) of them along x, each in the list that `owners` says, from 0 to lists - 1; y stays
  !! whole. Rank i + j * lists has list i, ascending in its array, and set j of the levels along z.
  function tw_wavenumbers(layout, points, lists, owners, level_sets) result(status)
    type(tw_layout), intent(out) :: layout
    integer, intent(in) :: points(3), lists
    integer, intent(in) :: owners(points(1))
    integer, intent(in), optional :: level_sets
    integer(c_int) :: status
    integer(c_int64_t) :: sets
    sets = 1
    if (present(level_sets)) sets = int(level_sets, c_int64_t)
    status = c_wavenumbers(int(points, c_int64_t), int(lists, c_int64_t), int(owners, c_int), sets, layout)
  end function tw_wavenumbers

  !> Lines of different lengths, such as the latitudes that keep each wavenumber, or its degrees: points(1) fields along
  !! x, points(2) places along y, points(3) lines along z; line l has the places first(l) to last(l), from 1 on, none
  !! where last(l) is first(l) - 1. The points of all lines follow each other: an array is (fields, 1, points of its
  !! lines). Divided are at most two of: lines, each in the list that `owners` says, from 0 to lists - 1; places, of which
  !! part p has cuts(p) + 1 to cuts(p + 1), from cuts(1) = 0 to points(2); fields, in `field_sets` sets. Rank i + j * n has part i of the n of the first of them, in this order, and part j of the second.
  function tw_lines(layout, points, first, last, lists, owners, cuts, field_sets) result(status)
    type(tw_layout), intent(out) :: layout
    integer, intent(in) :: points(3)
    integer, intent(in) :: first(points(3)), last(points(3))
    integer, intent(in), optional :: lists, owners(points(3)), cuts(:), field_sets
    integer(c_int) :: status
    integer(c_int64_t) :: in_lists, sets, parts
    integer(c_int), allocatable :: listed(:)
    integer(c_int64_t), allocatable :: cut(:)
    in_lists = 1
    sets = 1
    parts = 1
    if (present(lists)) in_lists = int(lists, c_int64_t)
    if (present(field_sets)) sets = int(field_sets, c_int64_t)
    if (present(owners)) listed = int(owners, c_int)  ! what is not allocated is absent
    if (present(cuts)) then
      cut = int(cuts, c_int64_t)
      parts = size(cuts, kind=c_int64_t) - 1
    end if
    status = c_lines(int(points, c_int64_t), int(first, c_int64_t) - 1, int(last, c_int64_t), in_lists, listed, &
                     parts, cut, sets, layout)
  end function tw_lines

  !> Whole levels or fields, along z, dealt one by one to the last `servers` of all ranks; the others own nothing.
  function tw_whole(layout, points, ranks, servers) result(status)
    type(tw_layout), intent(out) :: layout
    integer, intent(in) :: points(3), ranks, servers
    integer(c_int) :: status
    status = c_whole(int(points, c_int64_t), int(ranks, c_int), int(servers, c_int), layout)
  end function tw_whole

  !> A layout on the ranks from `first` on, of `ranks` in all; the others own nothing.
  function tw_placed(placed, layout, first, ranks) result(status)
    type(tw_layout), intent(out) :: placed
    type(tw_layout), intent(in) :: layout
    integer, intent(in) :: first, ranks
    integer(c_int) :: status
    status = c_placed(layout, int(first, c_int), int(ranks, c_int), placed)
  end function tw_placed

  !> The points that a rank owns: first to last, both included, from 1 on; none: from 1 to 0. Refused where they are
  !! several boxes.
  function tw_layout_box(layout, rank, first, last) result(status)
    type(tw_layout), intent(in) :: layout
    integer, intent(in) :: rank
    integer, intent(out) :: first(3), last(3)
    integer(c_int) :: status
    integer(c_int64_t) :: begin(3), end(3)
    begin = 0
    end = 0
    status = c_layout_box(layout, int(rank, c_int), begin, end)
    first = int(begin) + 1
    last = int(end)
  end function tw_layout_box

  !> `width` points around each rank's own to every side in x and y, corners included; in place. periodic(1) and (2)
  !! close x and y to rings; elsewhere the cells beyond the grid are not touched.
  function tw_halo(pattern, layout, width, periodic) result(status)
    type(tw_pattern), intent(out) :: pattern
    type(tw_layout), intent(in) :: layout
    integer, intent(in) :: width
    logical, intent(in), optional :: periodic(2)
    integer(c_int) :: status
    integer(c_int) :: closed(2)
    closed = 0
    if (present(periodic)) closed = merge(1_c_int, 0_c_int, periodic)
    status = c_halo(layout, int(width, c_int64_t), closed, pattern)
  end function tw_halo

  !> From one layout of a grid to another, of any two kinds. If one of them is bands, whose rows follow each other along
  !! x, blocks of whole rows are treated as bands: their arrays are (nx * ny, 1, nz).
  function tw_transpose(pattern, from, to) result(status)
    type(tw_pattern), intent(out) :: pattern
    type(tw_layout), intent(in) :: from, to
    integer(c_int) :: status
    status = c_transpose(from, to, pattern)
  end function tw_transpose

  !> The sum, or another operation, over all ranks of a vector of `count` elements; in place.
  function tw_allreduce(pattern, ranks, count) result(status)
    type(tw_pattern), intent(out) :: pattern
    integer, intent(in) :: ranks, count
    integer(c_int) :: status
    status = c_allreduce(int(ranks, c_int), int(count, c_int64_t), pattern)
  end function tw_allreduce

  !> The points that a rank's array holds, its halo included: the bounds to allocate it with. `side`: tw_source or
  !! tw_target; they are the same where the pattern is in place. For a fetch and its adjoint: points along the
  !! first direction, from 1; each rank can ask only for its own.
  function tw_pattern_box(pattern, side, rank, first, last) result(status)
    type(tw_pattern), intent(in) :: pattern
    integer, intent(in) :: side, rank
    integer, intent(out) :: first(3), last(3)
    integer(c_int) :: status
    integer(c_int64_t) :: begin(3), end(3)
    begin = 0
    end = 0
    status = c_pattern_box(pattern, int(side, c_int), int(rank, c_int), begin, end)
    first = int(begin) + 1
    last = int(end)
  end function tw_pattern_box

  !> The points of a rank that need no point of the halo, to be computed between start and wait, for stencils that reach
  !! `reach` points, 0 to the width, to every side. last < first where there are none.
  function tw_halo_interior(halo, rank, reach, first, last) result(status)
    type(tw_pattern), intent(in) :: halo
    integer, intent(in) :: rank, reach
    integer, intent(out) :: first(3), last(3)
    integer(c_int) :: status
    integer(c_int64_t) :: begin(3), end(3)
    begin = 0
    end = 0
    status = c_halo_interior(halo, int(rank, c_int), int(reach, c_int64_t), begin, end)
    first = int(begin) + 1
    last = int(end)
  end function tw_halo_interior

  !> The other points of a rank: `boxes` boxes, at most four, that do not overlap; box i is first(:, i) to last(:, i).
  function tw_halo_rim(halo, rank, reach, boxes, first, last) result(status)
    type(tw_pattern), intent(in) :: halo
    integer, intent(in) :: rank, reach
    integer, intent(out) :: boxes, first(3, 4), last(3, 4)
    integer(c_int) :: status
    integer(c_int) :: found
    integer(c_int64_t) :: begin(3, 4), end(3, 4)
    found = 0
    begin = 0
    end = 0
    status = c_halo_rim(halo, int(rank, c_int), int(reach, c_int64_t), found, begin, end)
    boxes = found
    first = int(begin) + 1
    last = int(end)
  end function tw_halo_rim

  !> Its own points, and `by` more on every side that the exchange fills.
  function tw_halo_widened(halo, rank, by, first, last) result(status)
    type(tw_pattern), intent(in) :: halo
    integer, intent(in) :: rank, by
    integer, intent(out) :: first(3), last(3)
    integer(c_int) :: status
    integer(c_int64_t) :: begin(3), end(3)
    begin = 0
    end = 0
    status = c_halo_widened(halo, int(rank, c_int), int(by, c_int64_t), begin, end)
    first = int(begin) + 1
    last = int(end)
  end function tw_halo_widened

  function record_on_handle(comm) result(status)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int) :: status
    status = c_record_begin_f(int(comm%MPI_VAL, c_int))
  end function record_on_handle

  function record_on_integer(comm) result(status)
    integer, intent(in) :: comm
    integer(c_int) :: status
    status = c_record_begin_f(int(comm, c_int))
  end function record_on_integer

  !> Ends the recording, and writes it from rank 0 to a program file, which `tradewind verify program` and
  !! `tradewind simulate program` read. Collective.
  function tw_record_end(path) result(status)
    character(len=*), intent(in) :: path
    integer(c_int) :: status
    status = c_record_end(trim(path) // c_null_char)
  end function tw_record_end

  function make_on_handle(plan, pattern, comm, fields, targets, options) result(status)
    type(tw_plan), intent(out) :: plan
    type(tw_pattern), intent(in) :: pattern
    type(MPI_Comm), intent(in) :: comm
    type(tw_field), intent(in), target :: fields(:)
    type(tw_field), intent(in), target, optional :: targets(:)
    type(tw_options), intent(in), optional :: options
    integer(c_int) :: status
    status = make_on_integer(plan, pattern, comm%MPI_VAL, fields, targets, options)
  end function make_on_handle

  function make_on_integer(plan, pattern, comm, fields, targets, options) result(status)
    type(tw_plan), intent(out) :: plan
    type(tw_pattern), intent(in) :: pattern
    integer, intent(in) :: comm
    type(tw_field), intent(in), target :: fields(:)
    type(tw_field), intent(in), target, optional :: targets(:)
    type(tw_options), intent(in), optional :: options
    integer(c_int) :: status
    type(tw_options) :: chosen
    type(c_options), target :: given
    character(len=65, kind=c_char), target :: names(4)
    type(tw_field), allocatable, target :: source(:), other(:)
    integer :: i
    if (present(options)) chosen = options
    names = [character(len=65) :: chosen%algorithm, chosen%transport, chosen%packing, chosen%operation]
    do i = 1, size(names)
      names(i) = trim(names(i)) // c_null_char
    end do
    given = c_options(c_loc(names(1)), c_loc(names(2)), c_loc(names(3)), c_loc(names(4)), chosen%largest_message, &
      chosen%watchdog_s, flag(chosen%pack_ahead), flag(chosen%synchronous), flag(chosen%check), flag(chosen%record), &
      int(chosen%ranks_per_node, c_int32_t), int(chosen%axis - 1, c_int32_t), chosen%stream)
    allocate(source, source=fields)
    if (present(targets)) then
      allocate(other, source=targets)
    else
      allocate(other(0))
    end if
    status = c_plan_make_f(pattern, int(comm, c_int), size(source, kind=c_int), first_of(source), &
      size(other, kind=c_int), first_of(other), c_loc(given), plan)
  end function make_on_integer

  function first_of(fields) result(place)
    type(tw_field), intent(inout), target :: fields(:)
    type(c_ptr) :: place
    place = c_null_ptr
    if (size(fields) > 0) place = c_loc(fields(1))
  end function first_of

  pure function flag(value)
    logical, intent(in) :: value
    integer(c_int32_t) :: flag
    flag = merge(1_c_int32_t, 0_c_int32_t, value)
  end function flag

  !> One line: pattern and algorithm.
  function tw_plan_text(plan, text) result(status)
    type(tw_plan), intent(in) :: plan
    character(len=:), allocatable, intent(out) :: text
    integer(c_int) :: status
    type(c_ptr) :: place
    place = c_null_ptr
    status = c_plan_text(plan, place)
    text = text_at(place)
  end function tw_plan_text

  !> The chosen method, as "sweep,isend-irecv,buffer".
  function tw_plan_way(plan, text) result(status)
    type(tw_plan), intent(in) :: plan
    character(len=:), allocatable, intent(out) :: text
    integer(c_int) :: status
    type(c_ptr) :: place
    place = c_null_ptr
    status = c_plan_way(plan, place)
    text = text_at(place)
  end function tw_plan_way

  !> Where its parts came from, as "algorithm: tuning.toml, transport: TRADEWIND_HALO, packing: default": argument, a
  !! variable, a tuning file, or default; behind it, where a file's entry was tuned elsewhere, what differs there.
  function tw_plan_origin(plan, text) result(status)
    type(tw_plan), intent(in) :: plan
    character(len=:), allocatable, intent(out) :: text
    integer(c_int) :: status
    type(c_ptr) :: place
    place = c_null_ptr
    status = c_plan_origin(plan, place)
    text = text_at(place)
  end function tw_plan_origin

  !> Path of messages between fields on a device and MPI; blank for fields in the host's memory.
  function tw_plan_staging(plan, text) result(status)
    type(tw_plan), intent(in) :: plan
    character(len=:), allocatable, intent(out) :: text
    integer(c_int) :: status
    type(c_ptr) :: place
    place = c_null_ptr
    status = c_plan_staging(plan, place)
    text = text_at(place)
  end function tw_plan_staging

  !> The text of the last error; "" if there was none.
  function tw_last_error() result(text)
    character(len=:), allocatable :: text
    text = text_at(c_last_error())
  end function tw_last_error

  !> As "0.1.0".
  function tw_version() result(text)
    character(len=:), allocatable :: text
    text = text_at(c_version())
  end function tw_version

  function text_at(place) result(text)
    type(c_ptr), intent(in) :: place
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i, length
    text = ""
    if (.not. c_associated(place)) return
    length = int(c_strlen(place))
    call c_f_pointer(place, letters, [length])
    text = repeat(" ", length)
    do i = 1, length
      text(i:i) = letters(i)
    end do
  end function text_at
end module tradewind
