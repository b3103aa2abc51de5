!> The functions of libtradewind as Fortran sees them; see tradewind.h. Those whose arguments Fortran has as they are
!! (tw_plan_call) are public under their own name, the others (c_blocks) are wrapped by the module tradewind.
module tradewind_interfaces
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_double, c_char, c_signed_char, c_ptr, &
    c_size_t
  implicit none
  public

  enum, bind(C)
    enumerator :: tw_ok = 0, tw_error_input = 1, tw_error_plan = 2, tw_error_handle = 3, tw_error_memory = 4, &
      tw_error_internal = 5, tw_error_write = 6
  end enum
  enum, bind(C)
    enumerator :: tw_source = 0, tw_target = 1
  end enum
  enum, bind(C)
    enumerator :: tw_f4 = 0, tw_f8 = 1, tw_i4 = 2, tw_i8 = 3, tw_c8 = 4, tw_c16 = 5
  end enum

  !> Handles: copies of one are the same thing; one that was never made, or has been freed, is refused.
  type, bind(C) :: tw_layout
    integer(c_int64_t) :: id = 0
  end type tw_layout
  type, bind(C) :: tw_pattern
    integer(c_int64_t) :: id = 0
  end type tw_pattern
  type, bind(C) :: tw_points
    integer(c_int64_t) :: id = 0
  end type tw_points
  type, bind(C) :: tw_plan
    integer(c_int64_t) :: id = 0
  end type tw_plan

  !> A communicator of mpi_f08. The standard says how that is defined, and types with bind(C), one name and the same
  !! components are one type: so this module needs no mpi_f08, and programs pass theirs.
  type, bind(C) :: MPI_Comm
    integer :: MPI_VAL
  end type MPI_Comm

  type, bind(C) :: c_options
    type(c_ptr) :: algorithm, transport, packing, operation
    integer(c_int64_t) :: largest_message
    real(c_double) :: watchdog_s
    integer(c_int32_t) :: pack_ahead, synchronous, check, record, ranks_per_node, axis
    type(c_ptr) :: stream
  end type c_options

  interface
    function c_blocks(points, split, axes, layout) bind(C, name="tw_blocks") result(status)
      import :: c_int, c_int64_t, c_char, tw_layout
      integer(c_int64_t), intent(in) :: points(3), split(2)
      character(kind=c_char), intent(in) :: axes(*)
      type(tw_layout), intent(out) :: layout
      integer(c_int) :: status
    end function c_blocks

    function c_pencils(points, split, along, layout) bind(C, name="tw_pencils") result(status)
      import :: c_int, c_int64_t, c_signed_char, tw_layout
      integer(c_int64_t), intent(in) :: points(3), split(2)
      integer(c_signed_char), value :: along  ! not a character: gfortran 12 loses those that are passed by value
      type(tw_layout), intent(out) :: layout
      integer(c_int) :: status
    end function c_pencils

    function c_bands(rows, lengths, levels, ranks, level_sets, shared, layout) bind(C, name="tw_bands") result(status)
      import :: c_int, c_int64_t, tw_layout
      integer(c_int64_t), value :: rows, levels, level_sets
      integer(c_int64_t), intent(in) :: lengths(*)
      integer(c_int), value :: ranks, shared
      type(tw_layout), intent(out) :: layout
      integer(c_int) :: status
    end function c_bands

    function c_wavenumbers(points, lists, owners, level_sets, layout) bind(C, name="tw_wavenumbers") result(status)
      import :: c_int, c_int64_t, tw_layout
      integer(c_int64_t), intent(in) :: points(3)
      integer(c_int64_t), value :: lists, level_sets
      integer(c_int), intent(in) :: owners(*)
      type(tw_layout), intent(out) :: layout
      integer(c_int) :: status
    end function c_wavenumbers

    function c_lines(points, begins, ends, lists, owners, parts, cuts, field_sets, layout) &
        bind(C, name="tw_lines") result(status)
      import :: c_int, c_int64_t, tw_layout
      integer(c_int64_t), intent(in) :: points(3)
      integer(c_int64_t), intent(in) :: begins(*), ends(*)
      integer(c_int64_t), value :: lists, parts, field_sets
      integer(c_int), intent(in), optional :: owners(*)
      integer(c_int64_t), intent(in), optional :: cuts(*)
      type(tw_layout), intent(out) :: layout
      integer(c_int) :: status
    end function c_lines

    function c_whole(points, ranks, servers, layout) bind(C, name="tw_whole") result(status)
      import :: c_int, c_int64_t, tw_layout
      integer(c_int64_t), intent(in) :: points(3)
      integer(c_int), value :: ranks, servers
      type(tw_layout), intent(out) :: layout
      integer(c_int) :: status
    end function c_whole

    function c_placed(layout, first, ranks, placed) bind(C, name="tw_placed") result(status)
      import :: c_int, tw_layout
      type(tw_layout), value :: layout
      integer(c_int), value :: first, ranks
      type(tw_layout), intent(out) :: placed
      integer(c_int) :: status
    end function c_placed

    function c_layout_box(layout, rank, begin, end) bind(C, name="tw_layout_box") result(status)
      import :: c_int, c_int64_t, tw_layout
      type(tw_layout), value :: layout
      integer(c_int), value :: rank
      integer(c_int64_t), intent(inout) :: begin(3), end(3)
      integer(c_int) :: status
    end function c_layout_box

    !> Patterns that were made of it stay.
    function tw_layout_free(layout) bind(C) result(status)
      import :: c_int, tw_layout
      type(tw_layout), value :: layout
      integer(c_int) :: status
    end function tw_layout_free

    function c_halo(layout, width, periodic, pattern) bind(C, name="tw_halo") result(status)
      import :: c_int, c_int64_t, tw_layout, tw_pattern
      type(tw_layout), value :: layout
      integer(c_int64_t), value :: width
      integer(c_int), intent(in) :: periodic(2)
      type(tw_pattern), intent(out) :: pattern
      integer(c_int) :: status
    end function c_halo

    function c_transpose(from, to, pattern) bind(C, name="tw_transpose") result(status)
      import :: c_int, tw_layout, tw_pattern
      type(tw_layout), value :: from, to
      type(tw_pattern), intent(out) :: pattern
      integer(c_int) :: status
    end function c_transpose

    function c_allreduce(ranks, count, pattern) bind(C, name="tw_allreduce") result(status)
      import :: c_int, c_int64_t, tw_pattern
      integer(c_int), value :: ranks
      integer(c_int64_t), value :: count
      type(tw_pattern), intent(out) :: pattern
      integer(c_int) :: status
    end function c_allreduce

    function c_pattern_box(pattern, side, rank, begin, end) bind(C, name="tw_pattern_box") result(status)
      import :: c_int, c_int64_t, tw_pattern
      type(tw_pattern), value :: pattern
      integer(c_int), value :: side, rank
      integer(c_int64_t), intent(inout) :: begin(3), end(3)
      integer(c_int) :: status
    end function c_pattern_box

    function c_halo_interior(halo, rank, reach, begin, end) bind(C, name="tw_halo_interior") result(status)
      import :: c_int, c_int64_t, tw_pattern
      type(tw_pattern), value :: halo
      integer(c_int), value :: rank
      integer(c_int64_t), value :: reach
      integer(c_int64_t), intent(inout) :: begin(3), end(3)
      integer(c_int) :: status
    end function c_halo_interior

    function c_halo_rim(halo, rank, reach, boxes, begin, end) bind(C, name="tw_halo_rim") result(status)
      import :: c_int, c_int64_t, tw_pattern
      type(tw_pattern), value :: halo
      integer(c_int), value :: rank
      integer(c_int64_t), value :: reach
      integer(c_int), intent(inout) :: boxes
      integer(c_int64_t), intent(inout) :: begin(3, 4), end(3, 4)
      integer(c_int) :: status
    end function c_halo_rim

    function c_halo_widened(halo, rank, by, begin, end) bind(C, name="tw_halo_widened") result(status)
      import :: c_int, c_int64_t, tw_pattern
      type(tw_pattern), value :: halo
      integer(c_int), value :: rank
      integer(c_int64_t), value :: by
      integer(c_int64_t), intent(inout) :: begin(3), end(3)
      integer(c_int) :: status
    end function c_halo_widened

    function c_adjoint(fetch, pattern) bind(C, name="tw_adjoint") result(status)
      import :: c_int, tw_pattern
      type(tw_pattern), value :: fetch
      type(tw_pattern), intent(out) :: pattern
      integer(c_int) :: status
    end function c_adjoint

    function c_fetch_levels(fetch, levels, pattern) bind(C, name="tw_fetch_levels") result(status)
      import :: c_int, c_int64_t, tw_pattern
      type(tw_pattern), value :: fetch
      integer(c_int64_t), intent(in) :: levels(2)
      type(tw_pattern), intent(out) :: pattern
      integer(c_int) :: status
    end function c_fetch_levels

    function c_points_of_ids_f(comm, count, ids, points) bind(C, name="tw_points_of_ids_f") result(status)
      import :: c_int, c_int64_t, tw_points
      integer(c_int), value :: comm
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: ids(*)
      type(tw_points), intent(out) :: points
      integer(c_int) :: status
    end function c_points_of_ids_f

    function c_gather_scatter_f(comm, values, ids, operation, pattern) bind(C, name="tw_gather_scatter_f") result(status)
      import :: c_char, c_int, c_int64_t, tw_pattern
      integer(c_int), value :: comm
      integer(c_int64_t), value :: values
      integer(c_int64_t), intent(in) :: ids(*)
      character(kind=c_char), intent(in) :: operation(*)
      type(tw_pattern), intent(out) :: pattern
      integer(c_int) :: status
    end function c_gather_scatter_f

    function c_brick_gather_scatter(elements, points, split, periodic, operation, pattern) &
        bind(C, name="tw_brick_gather_scatter") result(status)
      import :: c_char, c_int, c_int64_t, tw_pattern
      integer(c_int64_t), intent(in) :: elements(3)
      integer(c_int64_t), value :: points
      integer(c_int64_t), intent(in) :: split(3)
      integer(c_int), intent(in) :: periodic(3)
      character(kind=c_char), intent(in) :: operation(*)
      type(tw_pattern), intent(out) :: pattern
      integer(c_int) :: status
    end function c_brick_gather_scatter

    function c_points_of_count_f(comm, count, points) bind(C, name="tw_points_of_count_f") result(status)
      import :: c_int, c_int64_t, tw_points
      integer(c_int), value :: comm
      integer(c_int64_t), value :: count
      type(tw_points), intent(out) :: points
      integer(c_int) :: status
    end function c_points_of_count_f

    function c_points_of_layout_f(comm, layout, points) bind(C, name="tw_points_of_layout_f") result(status)
      import :: c_int, tw_layout, tw_points
      integer(c_int), value :: comm
      type(tw_layout), value :: layout
      type(tw_points), intent(out) :: points
      integer(c_int) :: status
    end function c_points_of_layout_f

    function c_points_count(points, count) bind(C, name="tw_points_count") result(status)
      import :: c_int, c_int64_t, tw_points
      type(tw_points), value :: points
      integer(c_int64_t), intent(inout) :: count
      integer(c_int) :: status
    end function c_points_count

    function c_points_locate(points, wanted, ids, owner, index) bind(C, name="tw_points_locate") result(status)
      import :: c_int, c_int64_t, tw_points
      type(tw_points), value :: points
      integer(c_int64_t), value :: wanted
      integer(c_int64_t), intent(in) :: ids(*)
      integer(c_int), intent(inout) :: owner(*)
      integer(c_int64_t), intent(inout) :: index(*)
      integer(c_int) :: status
    end function c_points_locate

    function c_points_fetch(points, wanted, ids, peers, peer, pattern) bind(C, name="tw_points_fetch") result(status)
      import :: c_int, c_int64_t, tw_points, tw_pattern
      type(tw_points), value :: points
      integer(c_int64_t), value :: wanted
      integer(c_int64_t), intent(in) :: ids(*)
      integer(c_int), value :: peers
      integer(c_int), intent(in) :: peer(*)
      type(tw_pattern), intent(out) :: pattern
      integer(c_int) :: status
    end function c_points_fetch

    function c_points_halo(points, wanted, ids, peers, peer, pattern) bind(C, name="tw_points_halo") result(status)
      import :: c_int, c_int64_t, tw_points, tw_pattern
      type(tw_points), value :: points
      integer(c_int64_t), value :: wanted
      integer(c_int64_t), intent(in) :: ids(*)
      integer(c_int), value :: peers
      integer(c_int), intent(in) :: peer(*)
      type(tw_pattern), intent(out) :: pattern
      integer(c_int) :: status
    end function c_points_halo

    ! `place` is absent where there are no places: then C is handed a null pointer.
    function c_points_fetch_listed(points, owners, owner, indices, index, places, place, peers, peer, pattern) &
      bind(C, name="tw_points_fetch_listed") result(status)
      import :: c_int, c_int64_t, tw_points, tw_pattern
      type(tw_points), value :: points
      integer(c_int64_t), value :: owners, indices, places
      integer(c_int), intent(in) :: owner(*)
      integer(c_int64_t), intent(in) :: index(*)
      integer(c_int64_t), intent(in), optional :: place(*)
      integer(c_int), value :: peers
      integer(c_int), intent(in) :: peer(*)
      type(tw_pattern), intent(out) :: pattern
      integer(c_int) :: status
    end function c_points_fetch_listed

    function c_points_halo_listed(points, owners, owner, indices, index, places, place, peers, peer, pattern) &
      bind(C, name="tw_points_halo_listed") result(status)
      import :: c_int, c_int64_t, tw_points, tw_pattern
      type(tw_points), value :: points
      integer(c_int64_t), value :: owners, indices, places
      integer(c_int), intent(in) :: owner(*)
      integer(c_int64_t), intent(in) :: index(*)
      integer(c_int64_t), intent(in), optional :: place(*)
      integer(c_int), value :: peers
      integer(c_int), intent(in) :: peer(*)
      type(tw_pattern), intent(out) :: pattern
      integer(c_int) :: status
    end function c_points_halo_listed

    function c_points_known_to_all(points, fetch, pattern) bind(C, name="tw_points_known_to_all") result(status)
      import :: c_int, tw_points, tw_pattern
      type(tw_points), value :: points
      type(tw_pattern), value :: fetch
      type(tw_pattern), intent(out) :: pattern
      integer(c_int) :: status
    end function c_points_known_to_all

    function c_renumbered_f(comm, owns, own, halos, halo, new_own, interior, new_halo, new_halos) &
      bind(C, name="tw_renumbered_f") result(status)
      import :: c_int, c_int64_t
      integer(c_int), value :: comm
      integer(c_int64_t), value :: owns, halos
      integer(c_int64_t), intent(in) :: own(*), halo(*)
      integer(c_int64_t), intent(inout) :: new_own(*), interior, new_halo(*), new_halos
      integer(c_int) :: status
    end function c_renumbered_f

    !> Collective. Fetches that were made of them stay.
    function tw_points_free(points) bind(C) result(status)
      import :: c_int, tw_points
      type(tw_points), value :: points
      integer(c_int) :: status
    end function tw_points_free

    !> Plans that were made of it stay.
    function tw_pattern_free(pattern) bind(C) result(status)
      import :: c_int, tw_pattern
      type(tw_pattern), value :: pattern
      integer(c_int) :: status
    end function tw_pattern_free

    !> `data`: c_loc of an array of tw_empty. Its memory goes when also the plans that are bound to it are freed.
    function tw_release(data) bind(C) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: data
      integer(c_int) :: status
    end function tw_release

    function c_record_begin_f(comm) bind(C, name="tw_record_begin_f") result(status)
      import :: c_int
      integer(c_int), value :: comm
      integer(c_int) :: status
    end function c_record_begin_f

    function c_record_end(path) bind(C, name="tw_record_end") result(status)
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: status
    end function c_record_end

    function c_plan_make_f(pattern, comm, sources, source, targets, target, options, plan) &
      bind(C, name="tw_plan_make_f") result(status)
      import :: c_int, c_ptr, tw_pattern, tw_plan
      type(tw_pattern), value :: pattern
      integer(c_int), value :: comm, sources, targets
      type(c_ptr), value :: source, target, options
      type(tw_plan), intent(out) :: plan
      integer(c_int) :: status
    end function c_plan_make_f

    !> The exchange. All ranks call it.
    function tw_plan_call(plan) bind(C) result(status)
      import :: c_int, tw_plan
      type(tw_plan), value :: plan
      integer(c_int) :: status
    end function tw_plan_call

    !> Begins the exchange: until its wait the fields may be read, not written, and what is received is undefined.
    function tw_plan_start(plan) bind(C) result(status)
      import :: c_int, tw_plan
      type(tw_plan), value :: plan
      integer(c_int) :: status
    end function tw_plan_start

    function tw_plan_wait(plan) bind(C) result(status)
      import :: c_int, tw_plan
      type(tw_plan), value :: plan
      integer(c_int) :: status
    end function tw_plan_wait

    !> Between start and wait: completes what has come and posts the next stage, and never waits. over: 1 where the wait
    !! will return at once. It does nothing with a transport that cannot go on without waiting, see tw_plan_pokes.
    function tw_plan_poke(plan, over) bind(C) result(status)
      import :: c_int, tw_plan
      type(tw_plan), value :: plan
      integer(c_int), intent(out) :: over
      integer(c_int) :: status
    end function tw_plan_poke

    !> pokes: 1 where the transport of the plan can go on in a poke, else 0.
    function tw_plan_pokes(plan, pokes) bind(C) result(status)
      import :: c_int, tw_plan
      type(tw_plan), value :: plan
      integer(c_int), intent(out) :: pokes
      integer(c_int) :: status
    end function tw_plan_pokes

    !> Collective. Refused while the plan is under way.
    function tw_plan_free(plan) bind(C) result(status)
      import :: c_int, tw_plan
      type(tw_plan), value :: plan
      integer(c_int) :: status
    end function tw_plan_free

    function c_plan_text(plan, text) bind(C, name="tw_plan_text") result(status)
      import :: c_int, c_ptr, tw_plan
      type(tw_plan), value :: plan
      type(c_ptr), intent(inout) :: text
      integer(c_int) :: status
    end function c_plan_text

    function c_plan_way(plan, text) bind(C, name="tw_plan_way") result(status)
      import :: c_int, c_ptr, tw_plan
      type(tw_plan), value :: plan
      type(c_ptr), intent(inout) :: text
      integer(c_int) :: status
    end function c_plan_way

    function c_plan_origin(plan, text) bind(C, name="tw_plan_origin") result(status)
      import :: c_int, c_ptr, tw_plan
      type(tw_plan), value :: plan
      type(c_ptr), intent(inout) :: text
      integer(c_int) :: status
    end function c_plan_origin

    function c_plan_staging(plan, text) bind(C, name="tw_plan_staging") result(status)
      import :: c_int, c_ptr, tw_plan
      type(tw_plan), value :: plan
      type(c_ptr), intent(inout) :: text
      integer(c_int) :: status
    end function c_plan_staging

    !> MPI messages and bytes that this rank sends in one call.
    function tw_plan_traffic(plan, messages, bytes) bind(C) result(status)
      import :: c_int, c_int64_t, tw_plan
      type(tw_plan), value :: plan
      integer(c_int64_t), intent(inout) :: messages, bytes
      integer(c_int) :: status
    end function tw_plan_traffic

    !> Seconds of this rank since the plan was made, by activity: pack, post, copy, wait, unpack; 0 unless it records.
    function tw_plan_seconds(plan, seconds) bind(C) result(status)
      import :: c_int, c_double, tw_plan
      type(tw_plan), value :: plan
      real(c_double), intent(inout) :: seconds(5)
      integer(c_int) :: status
    end function tw_plan_seconds

    function c_last_error() bind(C, name="tw_last_error") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function c_last_error

    function c_version() bind(C, name="tw_version") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function c_version

    function c_strlen(text) bind(C, name="strlen") result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function c_strlen
  end interface
end module tradewind_interfaces
