! Gather-scatters from Fortran: ids of both kinds, communicators of both modules, components of values.
program gather_scatter
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use mpi_f08
  use tradewind
  implicit none
  integer :: rank, ranks
  integer(int32) :: ids(4)
  real(real64), target :: field(4), both(2, 4), points(8)
  type(tw_pattern) :: pattern
  type(tw_plan) :: plan
  type(tw_options) :: options

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  ids = [rank + 1, 100 + rank, 0, rank + 2]

  field = 1
  call check(tw_gather_scatter(pattern, MPI_COMM_WORLD, ids))
  call check(tw_plan_make(plan, pattern, MPI_COMM_WORLD, [tw_field(field)]))
  call check(tw_plan_call(plan))
  call require(all(field == [merge(1, 2, rank == 0), 1, 1, merge(1, 2, rank == ranks - 1)]), "another sum")
  call check(tw_plan_free(plan))
  call check(tw_pattern_free(pattern))

  both(1, :) = rank
  both(2, :) = -rank
  options%axis = 2
  call check(tw_gather_scatter(pattern, MPI_COMM_WORLD%MPI_VAL, int(ids, int64), "max"))
  call check(tw_plan_make(plan, pattern, MPI_COMM_WORLD, [tw_field(both)], options=options))
  call check(tw_plan_call(plan))
  call require(both(1, 4) == min(rank + 1, ranks - 1) .and. both(2, 1) == -max(rank - 1, 0), "another maximum")
  call check(tw_plan_free(plan))
  call check(tw_pattern_free(pattern))

  points = 1
  options%axis = 1
  options%algorithm = "cartesian"
  call check(tw_brick_gather_scatter(pattern, [1, 1, 1], 2, [ranks, 1, 1], [.true., .false., .false.]))
  call check(tw_plan_make(plan, pattern, MPI_COMM_WORLD, [tw_field(points)], options=options))
  call check(tw_plan_call(plan))
  call require(all(points == 2), "another number of copies")
  call check(tw_plan_free(plan))
  call check(tw_pattern_free(pattern))
  call require(tw_brick_gather_scatter(pattern, [1, 1, 1], 1, [ranks, 1, 1]) == tw_error_input, "one point is accepted")

  call require(tw_gather_scatter(pattern, MPI_COMM_WORLD, ids, "sum") == tw_error_input, "an operation is accepted")
  if (rank == 0) print "(a)", "all right"
  call MPI_Finalize()

contains

  subroutine check(status)
    integer, intent(in) :: status
    call require(status == tw_ok, tw_last_error())
  end subroutine check

  subroutine require(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    print "(a, i0, 2a)", "rank ", rank, ": ", what
    error stop 1
  end subroutine require
end program gather_scatter
