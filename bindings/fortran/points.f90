!> The points of each rank, and the fetches that ranks make from them: unstructured halos, points on demand, adjoints.
!! All but tw_points_count, tw_adjoint, tw_fetch_levels and tw_brick_gather_scatter are collective.
module tradewind_points
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_null_char
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use tradewind_interfaces
  implicit none
  private
  public :: tw_points_of_ids, tw_points_of_count, tw_points_of_layout, tw_points_count, tw_points_locate
  public :: tw_points_fetch, tw_points_fetch_listed, tw_points_halo, tw_points_halo_listed, tw_points_known_to_all
  public :: tw_renumbered, tw_adjoint, tw_fetch_levels, tw_gather_scatter, tw_brick_gather_scatter

  !> status = tw_points_of_ids(points, comm, ids): the points that this rank owns, by their global numbers of 0 and
  !! more, each once among all ranks, in the order of its array. Ids are names: they stay as they are.
  interface tw_points_of_ids
    procedure :: ids32_on_integer, ids32_on_handle, ids64_on_integer, ids64_on_handle
  end interface tw_points_of_ids

  !> status = tw_points_of_count(points, comm, count): `count` points that have no ids.
  interface tw_points_of_count
    procedure :: count_on_integer, count_on_handle
  end interface tw_points_of_count

  !> status = tw_points_of_layout(points, comm, layout): the columns of a layout that divides x, y or both. (x, y), both
  !! from 1, has the id x + nx * (y - 1); a rank's array has its own row by row.
  interface tw_points_of_layout
    procedure :: layout_on_integer, layout_on_handle
  end interface tw_points_of_layout

  !> status = tw_points_locate(points, wanted, owner, index): the owners of ids, and their indices, from 1, in the
  !! arrays of those.
  interface tw_points_locate
    procedure :: locate_32, locate_64
  end interface tw_points_locate

  !> status = tw_points_fetch(pattern, points, wanted [, peers]): a fetch into a target array of the points that this
  !! rank wants, by their ids. `peers`: the ranks that own what this one wants, or want what it owns, where all ranks
  !! know that beforehand; a rank that names another is named by it.
  interface tw_points_fetch
    procedure :: fetch_32, fetch_64
  end interface tw_points_fetch

  !> status = tw_gather_scatter(pattern, comm, ids [, operation]): each value becomes the combination of all values of
  !! its id, on any ranks, by "add" (where it is absent), "mul", "min" or "max". `ids`: those of this rank's values;
  !! values with ids below 1 take no part.
  interface tw_gather_scatter
    procedure :: shared32_on_integer, shared32_on_handle, shared64_on_integer, shared64_on_handle
  end interface tw_gather_scatter

  !> status = tw_points_halo(pattern, points, wanted [, peers]): an unstructured halo. One array holds the rank's own
  !! points, and behind them those that it wants.
  interface tw_points_halo
    procedure :: halo_32, halo_64
  end interface tw_points_halo

  !> status = tw_renumbered(new_own, interior, new_halo, comm, own, halo): an order of a rank's points in which own
  !! points that no other rank wants (`interior` of them), those that others do, and halo points are three runs.
  interface tw_renumbered
    procedure :: renumbered32_on_integer, renumbered32_on_handle, renumbered64_on_integer, renumbered64_on_handle
  end interface tw_renumbered

contains

  function ids64_on_integer(points, comm, ids) result(status)
    type(tw_points), intent(out) :: points
    integer, intent(in) :: comm
    integer(int64), intent(in) :: ids(:)
    integer(c_int) :: status
    status = c_points_of_ids_f(int(comm, c_int), size(ids, kind=c_int64_t), ids, points)
  end function ids64_on_integer

  function ids64_on_handle(points, comm, ids) result(status)
    type(tw_points), intent(out) :: points
    type(MPI_Comm), intent(in) :: comm
    integer(int64), intent(in) :: ids(:)
    integer(c_int) :: status
    status = ids64_on_integer(points, comm%MPI_VAL, ids)
  end function ids64_on_handle

  function ids32_on_integer(points, comm, ids) result(status)
    type(tw_points), intent(out) :: points
    integer, intent(in) :: comm
    integer(int32), intent(in) :: ids(:)
    integer(c_int) :: status
    status = ids64_on_integer(points, comm, int(ids, int64))
  end function ids32_on_integer

  function ids32_on_handle(points, comm, ids) result(status)
    type(tw_points), intent(out) :: points
    type(MPI_Comm), intent(in) :: comm
    integer(int32), intent(in) :: ids(:)
    integer(c_int) :: status
    status = ids64_on_integer(points, comm%MPI_VAL, int(ids, int64))
  end function ids32_on_handle

  function shared64_on_integer(pattern, comm, ids, operation) result(status)
    type(tw_pattern), intent(out) :: pattern
    integer, intent(in) :: comm
    integer(int64), intent(in) :: ids(:)
    character(len=*), intent(in), optional :: operation
    integer(c_int) :: status
    character(len=:), allocatable :: name
    name = "add"
    if (present(operation)) name = trim(operation)
    status = c_gather_scatter_f(int(comm, c_int), size(ids, kind=c_int64_t), ids, name // c_null_char, pattern)
  end function shared64_on_integer

  !> The gather-scatter of hexahedral elements in a brick of ranks: `elements` of each rank, `points` of an element along
  !! each direction, `split` ranks, all (x, y, z), x fastest; values lie element by element. Who shares what is computed,
  !! without communication, and the algorithm cartesian goes with it. `operation` as of tw_gather_scatter.
  function tw_brick_gather_scatter(pattern, elements, points, split, periodic, operation) result(status)
    type(tw_pattern), intent(out) :: pattern
    integer, intent(in) :: elements(3), points, split(3)
    logical, intent(in), optional :: periodic(3)
    character(len=*), intent(in), optional :: operation
    integer(c_int) :: status
    integer(c_int) :: closed(3)
    character(len=:), allocatable :: name
    closed = 0
    if (present(periodic)) closed = merge(1_c_int, 0_c_int, periodic)
    name = "add"
    if (present(operation)) name = trim(operation)
    status = c_brick_gather_scatter(int(elements, c_int64_t), int(points, c_int64_t), int(split, c_int64_t), closed, &
        name // c_null_char, pattern)
  end function tw_brick_gather_scatter

  function shared64_on_handle(pattern, comm, ids, operation) result(status)
    type(tw_pattern), intent(out) :: pattern
    type(MPI_Comm), intent(in) :: comm
    integer(int64), intent(in) :: ids(:)
    character(len=*), intent(in), optional :: operation
    integer(c_int) :: status
    status = shared64_on_integer(pattern, comm%MPI_VAL, ids, operation)
  end function shared64_on_handle

  function shared32_on_integer(pattern, comm, ids, operation) result(status)
    type(tw_pattern), intent(out) :: pattern
    integer, intent(in) :: comm
    integer(int32), intent(in) :: ids(:)
    character(len=*), intent(in), optional :: operation
    integer(c_int) :: status
    status = shared64_on_integer(pattern, comm, int(ids, int64), operation)
  end function shared32_on_integer

  function shared32_on_handle(pattern, comm, ids, operation) result(status)
    type(tw_pattern), intent(out) :: pattern
    type(MPI_Comm), intent(in) :: comm
    integer(int32), intent(in) :: ids(:)
    character(len=*), intent(in), optional :: operation
    integer(c_int) :: status
    status = shared64_on_integer(pattern, comm%MPI_VAL, int(ids, int64), operation)
  end function shared32_on_handle

  function count_on_integer(points, comm, count) result(status)
    type(tw_points), intent(out) :: points
    integer, intent(in) :: comm, count
    integer(c_int) :: status
    status = c_points_of_count_f(int(comm, c_int), int(count, c_int64_t), points)
  end function count_on_integer

  function count_on_handle(points, comm, count) result(status)
    type(tw_points), intent(out) :: points
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: count
    integer(c_int) :: status
    status = count_on_integer(points, comm%MPI_VAL, count)
  end function count_on_handle

  function layout_on_integer(points, comm, layout) result(status)
    type(tw_points), intent(out) :: points
    integer, intent(in) :: comm
    type(tw_layout), intent(in) :: layout
    integer(c_int) :: status
    status = c_points_of_layout_f(int(comm, c_int), layout, points)
  end function layout_on_integer

  function layout_on_handle(points, comm, layout) result(status)
    type(tw_points), intent(out) :: points
    type(MPI_Comm), intent(in) :: comm
    type(tw_layout), intent(in) :: layout
    integer(c_int) :: status
    status = layout_on_integer(points, comm%MPI_VAL, layout)
  end function layout_on_handle

  !> Number of points that this rank owns. Not collective.
  function tw_points_count(points, count) result(status)
    type(tw_points), intent(in) :: points
    integer, intent(out) :: count
    integer(c_int) :: status
    integer(c_int64_t) :: found
    found = 0
    status = c_points_count(points, found)
    count = int(found)
  end function tw_points_count

  function locate_64(points, wanted, owner, index) result(status)
    type(tw_points), intent(in) :: points
    integer(int64), intent(in) :: wanted(:)
    integer, allocatable, intent(out) :: owner(:), index(:)
    integer(c_int) :: status
    integer(c_int), allocatable :: ranks(:)
    integer(c_int64_t), allocatable :: places(:)
    allocate(ranks(size(wanted)), places(size(wanted)))
    ranks = -1
    places = 0
    status = c_points_locate(points, size(wanted, kind=c_int64_t), wanted, ranks, places)
    owner = ranks
    index = int(places)
  end function locate_64

  function locate_32(points, wanted, owner, index) result(status)
    type(tw_points), intent(in) :: points
    integer(int32), intent(in) :: wanted(:)
    integer, allocatable, intent(out) :: owner(:), index(:)
    integer(c_int) :: status
    status = locate_64(points, int(wanted, int64), owner, index)
  end function locate_32

  !> The ranks of an argument that may be absent, and how many; -1 where it is.
  subroutine take_peers(number, ranks, peers)
    integer(c_int), intent(out) :: number
    integer(c_int), allocatable, intent(out) :: ranks(:)
    integer, intent(in), optional :: peers(:)
    number = -1
    allocate(ranks(0))
    if (.not. present(peers)) return
    ranks = int(peers, c_int)
    number = size(ranks, kind=c_int)
  end subroutine take_peers

  function fetch_64(pattern, points, wanted, peers) result(status)
    type(tw_pattern), intent(out) :: pattern
    type(tw_points), intent(in) :: points
    integer(int64), intent(in) :: wanted(:)
    integer, intent(in), optional :: peers(:)
    integer(c_int) :: status
    integer(c_int) :: number
    integer(c_int), allocatable :: ranks(:)
    call take_peers(number, ranks, peers)
    status = c_points_fetch(points, size(wanted, kind=c_int64_t), wanted, number, ranks, pattern)
  end function fetch_64

  function fetch_32(pattern, points, wanted, peers) result(status)
    type(tw_pattern), intent(out) :: pattern
    type(tw_points), intent(in) :: points
    integer(int32), intent(in) :: wanted(:)
    integer, intent(in), optional :: peers(:)
    integer(c_int) :: status
    status = fetch_64(pattern, points, int(wanted, int64), peers)
  end function fetch_32

  function halo_64(pattern, points, wanted, peers) result(status)
    type(tw_pattern), intent(out) :: pattern
    type(tw_points), intent(in) :: points
    integer(int64), intent(in) :: wanted(:)
    integer, intent(in), optional :: peers(:)
    integer(c_int) :: status
    integer(c_int) :: number
    integer(c_int), allocatable :: ranks(:)
    call take_peers(number, ranks, peers)
    status = c_points_halo(points, size(wanted, kind=c_int64_t), wanted, number, ranks, pattern)
  end function halo_64

  function halo_32(pattern, points, wanted, peers) result(status)
    type(tw_pattern), intent(out) :: pattern
    type(tw_points), intent(in) :: points
    integer(int32), intent(in) :: wanted(:)
    integer, intent(in), optional :: peers(:)
    integer(c_int) :: status
    status = halo_64(pattern, points, int(wanted, int64), peers)
  end function halo_32

  !> The same of points index(k), from 1, in the arrays of the ranks owner(k), as many of both. They go to places(k) of
  !! the target array, from 1, which ends with the last of them; absent: one after another.
  function tw_points_fetch_listed(pattern, points, owner, index, places, peers) result(status)
    type(tw_pattern), intent(out) :: pattern
    type(tw_points), intent(in) :: points
    integer, intent(in) :: owner(:), index(:)
    integer, intent(in), optional :: places(:), peers(:)
    integer(c_int) :: status
    integer(c_int) :: number
    integer(c_int), allocatable :: ranks(:)
    integer(c_int64_t), allocatable :: at(:)
    call take_peers(number, ranks, peers)
    if (present(places)) at = int(places, c_int64_t)
    status = c_points_fetch_listed(points, size(owner, kind=c_int64_t), int(owner, c_int), &
      size(index, kind=c_int64_t), int(index, c_int64_t), length(places), at, number, ranks, pattern)
  end function tw_points_fetch_listed

  !> An unstructured halo of listed points. With places the array has as many points as the rank, and those places of it
  !! are the halo, which no rank may fetch; absent: the halo lies behind the rank's own points.
  function tw_points_halo_listed(pattern, points, owner, index, places, peers) result(status)
    type(tw_pattern), intent(out) :: pattern
    type(tw_points), intent(in) :: points
    integer, intent(in) :: owner(:), index(:)
    integer, intent(in), optional :: places(:), peers(:)
    integer(c_int) :: status
    integer(c_int) :: number
    integer(c_int), allocatable :: ranks(:)
    integer(c_int64_t), allocatable :: at(:)
    call take_peers(number, ranks, peers)
    if (present(places)) at = int(places, c_int64_t)
    status = c_points_halo_listed(points, size(owner, kind=c_int64_t), int(owner, c_int), &
      size(index, kind=c_int64_t), int(index, c_int64_t), length(places), at, number, ranks, pattern)
  end function tw_points_halo_listed

  pure function length(places)
    integer, intent(in), optional :: places(:)
    integer(c_int64_t) :: length
    length = 0
    if (present(places)) length = size(places, kind=c_int64_t)
  end function length

  !> A fetch with what all ranks want, known to each, for algorithms that pass points on: two-level-k and leaders-k. A
  !! plan that such an algorithm is chosen for does it by itself; who makes several plans of one fetch does it once.
  function tw_points_known_to_all(pattern, points, fetch) result(status)
    type(tw_pattern), intent(out) :: pattern
    type(tw_points), intent(in) :: points
    type(tw_pattern), intent(in) :: fetch
    integer(c_int) :: status
    status = c_points_known_to_all(points, fetch, pattern)
  end function tw_points_known_to_all

  function renumbered64_on_integer(new_own, interior, new_halo, comm, own, halo) result(status)
    integer(int64), allocatable, intent(out) :: new_own(:), new_halo(:)
    integer, intent(out) :: interior
    integer, intent(in) :: comm
    integer(int64), intent(in) :: own(:), halo(:)
    integer(c_int) :: status
    integer(c_int64_t) :: inner, halos
    inner = 0
    halos = 0
    allocate(new_own(size(own)), new_halo(size(halo)))
    new_own = 0
    status = c_renumbered_f(int(comm, c_int), size(own, kind=c_int64_t), own, size(halo, kind=c_int64_t), halo, &
      new_own, inner, new_halo, halos)
    interior = int(inner)
    new_halo = new_halo(:halos)
  end function renumbered64_on_integer

  function renumbered64_on_handle(new_own, interior, new_halo, comm, own, halo) result(status)
    integer(int64), allocatable, intent(out) :: new_own(:), new_halo(:)
    integer, intent(out) :: interior
    type(MPI_Comm), intent(in) :: comm
    integer(int64), intent(in) :: own(:), halo(:)
    integer(c_int) :: status
    status = renumbered64_on_integer(new_own, interior, new_halo, comm%MPI_VAL, own, halo)
  end function renumbered64_on_handle

  function renumbered32_on_integer(new_own, interior, new_halo, comm, own, halo) result(status)
    integer(int32), allocatable, intent(out) :: new_own(:), new_halo(:)
    integer, intent(out) :: interior
    integer, intent(in) :: comm
    integer(int32), intent(in) :: own(:), halo(:)
    integer(c_int) :: status
    integer(int64), allocatable :: own_64(:), halo_64(:)
    status = renumbered64_on_integer(own_64, interior, halo_64, comm, int(own, int64), int(halo, int64))
    new_own = int(own_64, int32)
    new_halo = int(halo_64, int32)
  end function renumbered32_on_integer

  function renumbered32_on_handle(new_own, interior, new_halo, comm, own, halo) result(status)
    integer(int32), allocatable, intent(out) :: new_own(:), new_halo(:)
    integer, intent(out) :: interior
    type(MPI_Comm), intent(in) :: comm
    integer(int32), intent(in) :: own(:), halo(:)
    integer(c_int) :: status
    status = renumbered32_on_integer(new_own, interior, new_halo, comm%MPI_VAL, own, halo)
  end function renumbered32_on_handle

  !> The adjoint of a fetch: source and target change places, and what lies in the target arrays is added to the points
  !! that it was fetched from. A gather-scatter that adds is its own adjoint.
  function tw_adjoint(pattern, of) result(status)
    type(tw_pattern), intent(out) :: pattern
    type(tw_pattern), intent(in) :: of
    integer(c_int) :: status
    status = c_adjoint(of, pattern)
  end function tw_adjoint

  !> The same fetch, or adjoint, with levels along the second and third direction, for tw_pattern_box and tw_empty. (A
  !! plan takes the levels from its fields.)
  function tw_fetch_levels(pattern, fetch, levels) result(status)
    type(tw_pattern), intent(out) :: pattern
    type(tw_pattern), intent(in) :: fetch
    integer, intent(in) :: levels(2)
    integer(c_int) :: status
    status = c_fetch_levels(fetch, int(levels, c_int64_t), pattern)
  end function tw_fetch_levels
end module tradewind_points
