!> Errors about fetches that only Fortran can make, on two ranks. Each rank writes "case|status|text" into FOLDER/RANK.
program fetch_refusals
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use mpi_f08, only: MPI_COMM_WORLD, MPI_Init, MPI_Finalize, MPI_Comm_rank
  use tradewind
  implicit none
  integer, parameter :: own = 5
  integer :: rank, out, status, count, first(3), last(3)
  integer :: no_one(0)  ! gfortran takes [integer ::] for an absent argument
  integer, allocatable :: owner(:), index(:), mine(:), theirs(:)
  type(tw_layout) :: blocks
  type(tw_points) :: named, plain, columns, never
  type(tw_pattern) :: fetch, halo, pattern, nothing
  type(tw_plan) :: plan
  type(tw_options) :: options
  real(real64), target :: here(own), there(own), none(0), deep(3, own), level(own, 0), wide(own, 3, 2), empty(3, 0)
  real(real32), target :: single(own)
  character(len=256) :: folder
  character(len=8) :: number

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call get_command_argument(1, folder)
  write (number, "(i0)") rank
  open (newunit=out, file=trim(folder) // "/" // trim(number), status="replace", recl=4096)
  here = 0
  deep = 0
  wide = 0
  status = tw_blocks(blocks, [12, 8, 3], [2, 1])
  call met("of_ids", tw_points_of_ids(named, MPI_COMM_WORLD, [10 * rank + 1, 10 * rank + 2, 10 * rank + 3, &
    10 * rank + 4, 10 * rank + 5]))
  call met("of_count", tw_points_of_count(plain, MPI_COMM_WORLD, own))
  call met("of_layout", tw_points_of_layout(columns, MPI_COMM_WORLD, blocks))
  call met("fetch", tw_points_fetch(fetch, named, [integer :: 10 * (1 - rank) + 1, 10 * (1 - rank) + 2, 3, 3, 3]))
  call met("halo", tw_points_halo(halo, named, [10 * (1 - rank) + 1]))

  ! Points are counted from 1: the texts count from 0.
  call met("index_0", tw_points_fetch_listed(pattern, plain, at_1([0]), at_1([0])))
  call met("index_6", tw_points_fetch_listed(pattern, plain, at_1([0]), at_1([6])))
  call met("index_5", tw_points_fetch_listed(pattern, plain, at_1([0]), at_1([5])))
  call met("place_0", tw_points_halo_listed(pattern, plain, at_1([0]), at_1([1]), places=at_1([0])))
  call met("place_6", tw_points_halo_listed(pattern, plain, at_1([0]), at_1([1]), places=at_1([6])))
  call met("column_0", tw_points_fetch(pattern, columns, at_1([0])))
  call met("column_97", tw_points_fetch(pattern, columns, at_1([97])))
  call met("column_96", tw_points_fetch(pattern, columns, at_1([96])))
  call met("id_0", tw_points_fetch(pattern, named, int(at_1([0]), int64)))
  call met("negative_id", tw_points_of_ids(never, MPI_COMM_WORLD, at_1([-1])))
  call met("owned_twice", tw_points_of_ids(never, MPI_COMM_WORLD, [7, 8]))
  call met("owned_twice_by_one", tw_points_of_ids(never, MPI_COMM_WORLD, at_1([7, 8, 7])))

  call met("indices", tw_points_fetch_listed(pattern, plain, at_1([0, 0]), at_1([1])))
  call met("no_places", tw_points_fetch_listed(pattern, plain, at_1([0, 0]), at_1([1, 2]), places=no_one))
  call met("more_places", tw_points_halo_listed(pattern, plain, at_1([0]), at_1([1]), places=at_1([1, 2])))
  call met("owner", tw_points_fetch_listed(pattern, plain, at_1([2]), at_1([1])))
  call met("peers", tw_points_fetch(pattern, named, [integer ::], peers=at_1([0])))
  call met("no_peers", tw_points_fetch(pattern, named, at_1([1]), peers=no_one))
  call met("never_made", tw_points_fetch(pattern, never, [1]))
  call met("count_never_made", tw_points_count(never, count))
  call met("locate_unowned", tw_points_locate(named, at_1([6]), owner, index))
  call met("renumbered_unowned", tw_renumbered(mine, count, theirs, MPI_COMM_WORLD, [rank], at_1([7])))
  call met("renumbered_twice", tw_renumbered(mine, count, theirs, MPI_COMM_WORLD, [4], no_one))
  call met("renumbered_twice_by_one", tw_renumbered(mine, count, theirs, MPI_COMM_WORLD, at_1([4, 4]), no_one))
  call met("renumbered_negative", tw_renumbered(mine, count, theirs, MPI_COMM_WORLD, at_1([-4]), no_one))
  call met("adjoint_never_made", tw_adjoint(pattern, nothing))
  call met("interior_of_fetch", tw_halo_interior(fetch, rank, 1, first, last))
  call met("box_of_another", tw_pattern_box(fetch, tw_target, 1 - rank, first, last))

  ! Arrays.
  call met("zero_points", tw_plan_make(plan, fetch, MPI_COMM_WORLD, [tw_field(here)], [tw_field(none)]))
  call met("zero_points_on_one_rank", tw_plan_make(plan, fetch, MPI_COMM_WORLD, [tw_field(here(:own * (1 - rank)))], &
    [tw_field(there)]))
  call met("zero_levels", tw_plan_make(plan, fetch, MPI_COMM_WORLD, [tw_field(level)], [tw_field(level)]))
  call met("zero_points_of_levels", tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field(empty)], &
    options=tw_options(axis=2)))
  call met("axis", tw_plan_make(plan, fetch, MPI_COMM_WORLD, [tw_field(deep)], [tw_field(there)]))
  call met("axis_0", tw_plan_make(plan, fetch, MPI_COMM_WORLD, [tw_field(here)], [tw_field(there)], tw_options(axis=0)))
  options%axis = 2
  call met("rank_1", tw_plan_make(plan, fetch, MPI_COMM_WORLD, [tw_field(here)], [tw_field(there)], options))
  options%axis = 3
  call met("rank_2", tw_plan_make(plan, fetch, MPI_COMM_WORLD, [tw_field(deep)], [tw_field(deep)], options))
  call met("levels", tw_plan_make(plan, fetch, MPI_COMM_WORLD, [tw_field(wide)], [tw_field(there)]))
  call met("kinds", tw_plan_make(plan, fetch, MPI_COMM_WORLD, [tw_field(here)], [tw_field(single)]))
  call met("no_targets", tw_plan_make(plan, fetch, MPI_COMM_WORLD, [tw_field(here)]))
  call met("made", tw_plan_make(plan, fetch, MPI_COMM_WORLD, [tw_field(here)], [tw_field(there)]))
  call met("call", tw_plan_call(plan))
  call met("free_plan", tw_plan_free(plan))
  call met("free", tw_points_free(named))
  call met("free_twice", tw_points_free(named))
  call met("halo_of_freed", tw_points_halo(pattern, named, [1]))
  call met("fetch_of_freed", tw_points_fetch(pattern, named, [1]))
  call met("locate_freed", tw_points_locate(named, [1], owner, index))
  call met("count_freed", tw_points_count(named, count))
  call met("known_to_all_of_freed", tw_points_known_to_all(pattern, named, fetch))
  call met("free_pattern", tw_pattern_free(fetch))
  call met("adjoint_of_freed", tw_adjoint(pattern, fetch))
  call met("levels_of_freed", tw_fetch_levels(pattern, fetch, [1, 1]))
  call met("plan_of_freed", tw_plan_make(plan, fetch, MPI_COMM_WORLD, [tw_field(here)], [tw_field(there)]))
  close (out)
  call MPI_Finalize()

contains

  !> A list of rank 1; rank 0 has an empty one.
  pure function at_1(list)
    integer, intent(in) :: list(:)
    integer, allocatable :: at_1(:)
    at_1 = list(:size(list) * rank)
  end function at_1

  subroutine met(name, status)
    character(len=*), intent(in) :: name
    integer, intent(in) :: status
    character(len=:), allocatable :: text
    text = ""
    if (status /= tw_ok) text = tw_last_error()
    write (out, "(a,'|',i0,'|',a)") name, status, text
  end subroutine met
end program fetch_refusals
