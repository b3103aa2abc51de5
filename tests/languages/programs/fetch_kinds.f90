!> Fetches of every element type and rank of Fortran's arrays on two ranks, levels inside, outside and around, contiguous
!! and strided, against modular arithmetic; ids of 32 and 64 bits, communicators as integers and as those of mpi_f08.
program fetch_kinds
  use, intrinsic :: iso_c_binding, only: c_loc
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real32, real64
  use mpi_f08, only: MPI_Comm, MPI_COMM_WORLD, MPI_Init, MPI_Finalize, MPI_Comm_rank
  use tradewind
  implicit none
  integer, parameter :: own = 6, whole = own + 2  !< points of a rank, without and with its halo
  integer :: rank, i
  integer :: ids(whole)  !< a ring of 12 points; the two at its seams are the halo
  type(MPI_Comm) :: comm
  type(tw_pattern) :: halo

  call MPI_Init()
  comm = MPI_COMM_WORLD
  call MPI_Comm_rank(comm, rank)
  ids = [(own * rank + i, i = 1, own), 1 + modulo(own * rank - 1, 2 * own), 1 + modulo(own * (rank + 1), 2 * own)]
  halo = new_halo()
  call real32_arrays()
  call real64_arrays()
  call int32_arrays()
  call int64_arrays()
  call complex32_arrays()
  call complex64_arrays()
  call lists()
  call columns()
  call orders()
  call regions()
  call MPI_Finalize()
  if (rank == 0) print "(a)", "all right"

contains

  subroutine real32_arrays()
    real(real32), allocatable, target :: row(:), outside(:, :), inside(:, :), around(:, :, :), wide(:, :)
    real(real32), pointer :: shared(:), deep(:, :, :)
    include "fetch_kinds.inc"
  end subroutine real32_arrays

  subroutine real64_arrays()
    real(real64), allocatable, target :: row(:), outside(:, :), inside(:, :), around(:, :, :), wide(:, :)
    real(real64), pointer :: shared(:), deep(:, :, :)
    include "fetch_kinds.inc"
  end subroutine real64_arrays

  subroutine int32_arrays()
    integer(int32), allocatable, target :: row(:), outside(:, :), inside(:, :), around(:, :, :), wide(:, :)
    integer(int32), pointer :: shared(:), deep(:, :, :)
    include "fetch_kinds.inc"
  end subroutine int32_arrays

  subroutine int64_arrays()
    integer(int64), allocatable, target :: row(:), outside(:, :), inside(:, :), around(:, :, :), wide(:, :)
    integer(int64), pointer :: shared(:), deep(:, :, :)
    include "fetch_kinds.inc"
  end subroutine int64_arrays

  subroutine complex32_arrays()
    complex(real32), allocatable, target :: row(:), outside(:, :), inside(:, :), around(:, :, :), wide(:, :)
    complex(real32), pointer :: shared(:), deep(:, :, :)
    include "fetch_kinds.inc"
  end subroutine complex32_arrays

  subroutine complex64_arrays()
    complex(real64), allocatable, target :: row(:), outside(:, :), inside(:, :), around(:, :, :), wide(:, :)
    complex(real64), pointer :: shared(:), deep(:, :, :)
    include "fetch_kinds.inc"
  end subroutine complex64_arrays

  function new_halo() result(pattern)
    type(tw_pattern) :: pattern
    type(tw_points) :: points
    call check(tw_points_of_ids(points, comm, ids(:own)))
    call check(tw_points_halo(pattern, points, ids(own + 1:), peers=[1 - rank]))
    call check(tw_points_free(points))
  end function new_halo

  !> Value of point k of this rank on levels a and b.
  pure integer function number(k, a, b)
    integer, intent(in) :: k, a, b
    number = ids(k) + 100 * a + 1000 * b
  end function number

  !> Owners, indices and places from 1, with the other rank's points in between one's own; and back.
  subroutine lists()
    integer(int32), target :: row(4), found(5)
    type(tw_points) :: points
    type(tw_pattern) :: pattern, adjoint
    call check(tw_points_of_count(points, comm%MPI_VAL, 4))
    call check(tw_points_halo_listed(pattern, points, [1 - rank, 1 - rank], [1 + rank, 3 + rank], [1 + rank, 3 + rank]))
    row = 0
    row(2 - rank::2) = [10 * rank + 2 - rank, 10 * rank + 4 - rank]  ! one's own: rank 0 has 2 and 4, rank 1 has 1 and 3
    call exchange(pattern, [tw_field(row)], 1, .true.)
    call require(row(1) == 11 .and. row(2) == 2 .and. row(3) == 13 .and. row(4) == 4, "a wrong place of a list")
    call check(tw_pattern_free(pattern))

    ! Into places 5 and 2 of a target array, which ends with the last of them.
    call check(tw_points_fetch_listed(pattern, points, [1 - rank, rank], [4, 1], places=[5, 2]))
    row = [(100 * rank + i, i = 1, 4)]
    found = -7
    call move(pattern, row, found)
    call require(all_of(found == [-7, 100 * rank + 1, -7, -7, 100 * (1 - rank) + 4]), "a wrong place of a target")
    call check(tw_adjoint(adjoint, pattern))
    row = 0
    call move(adjoint, found, row)
    call require(all_of(row == [100 * rank + 1, 0, 0, 100 * rank + 4]), "a wrong sum")
    call check(tw_pattern_free(adjoint))
    call check(tw_pattern_free(pattern))
    call check(tw_points_free(points))
  end subroutine lists

  !> The columns of a layout: from 1 on.
  subroutine columns()
    integer, parameter :: nx = 6, ny = 3
    integer :: first(3), last(3), count, x, y
    integer, allocatable :: owner(:), index(:)
    integer(int32), target :: found(nx * ny)
    integer(int32), allocatable, target :: mine(:)
    type(tw_layout) :: blocks
    type(tw_points) :: points
    type(tw_pattern) :: pattern
    call check(tw_blocks(blocks, [nx, ny, 2], [2, 1]))
    call check(tw_layout_box(blocks, rank, first, last))
    call check(tw_points_of_layout(points, comm, blocks))
    call check(tw_points_count(points, count))
    call require(count == nx / 2 * ny, "another number of columns")
    call check(tw_points_locate(points, [1, nx, nx + 1, nx * ny], owner, index))
    call require(all_of(owner == [0, 1, 0, 1]) .and. all_of(index == [1, 3, 4, 9]), "columns are located elsewhere")
    call check(tw_points_fetch(pattern, points, [(int(i, int64), i = nx * ny, 1, -1)]))
    mine = [((10 * x + y, x = first(1), last(1)), y = first(2), last(2))]
    found = 0
    call move(pattern, mine, found)
    call require(all_of(found == [((10 * x + y, x = nx, 1, -1), y = ny, 1, -1)]), "a wrong column")
    call check(tw_pattern_free(pattern))
    call check(tw_points_free(points))
    call check(tw_layout_free(blocks))
  end subroutine columns

  !> Interior, rim and halo of the ring.
  subroutine orders()
    integer, allocatable :: mine(:), theirs(:)
    integer(int64), allocatable :: mine_64(:), theirs_64(:)
    integer :: interior
    call check(tw_renumbered(mine, interior, theirs, comm, ids(own:1:-1), [ids(own + 1:), ids(own + 1)]))
    call require(interior == own - 2 .and. size(mine) == own .and. size(theirs) == 2, "other runs")
    call require(all_of(mine(:4) == ids(5:2:-1)) .and. all_of(mine(5:) == ids([6, 1])), "own points in another order")
    call require(all_of(theirs == [own * (1 - rank) + 6, own * (1 - rank) + 1]), "another halo")
    call check(tw_renumbered(mine_64, interior, theirs_64, comm%MPI_VAL, int(ids(own:1:-1), int64), &
      int(ids(own + 1:), int64)))
    call require(all_of(mine_64 == mine) .and. all_of(theirs_64 == theirs), "ids of 64 bits in another order")
  end subroutine orders

  !> Interior and rim of a structured halo are the own points, once.
  subroutine regions()
    integer :: seen(12, 8), first(3), last(3), boxes, firsts(3, 4), lasts(3, 4)
    type(tw_layout) :: blocks
    type(tw_pattern) :: pattern
    seen = 0
    call check(tw_blocks(blocks, [12, 8, 1], [2, 1]))
    call check(tw_halo(pattern, blocks, 2, [.true., .true.]))
    call check(tw_halo_interior(pattern, rank, 2, first, last))
    call require(all_of(first == [6 * rank + 3, 3, 1]) .and. all_of(last == [6 * rank + 4, 6, 1]), "another interior")
    seen(first(1):last(1), first(2):last(2)) = 1
    call check(tw_halo_rim(pattern, rank, 2, boxes, firsts, lasts))
    call require(boxes == 4, "another number of boxes")
    do i = 1, boxes
      associate (part => seen(firsts(1, i):lasts(1, i), firsts(2, i):lasts(2, i)))
        part = part + 1
      end associate
    end do
    seen(6 * rank + 1:6 * rank + 6, :) = seen(6 * rank + 1:6 * rank + 6, :) - 1
    call require(minval(seen) == 0 .and. maxval(seen) == 0, "own points are missing, or twice there")
    call check(tw_halo_widened(pattern, rank, 1, first, last))
    call require(all_of(first == [6 * rank, 0, 1]) .and. all_of(last == [6 * rank + 7, 9, 1]), "another part")
    call check(tw_pattern_free(pattern))
    call check(tw_layout_free(blocks))
  end subroutine regions

  logical pure function all_of(right)
    logical, intent(in) :: right(:)
    all_of = count(right) == size(right)
  end function all_of

  !> In one array.
  subroutine exchange(pattern, fields, axis, by_integer)
    type(tw_pattern), intent(in) :: pattern
    type(tw_field), intent(in) :: fields(:)
    integer, intent(in) :: axis
    logical, intent(in) :: by_integer
    type(tw_plan) :: plan
    if (by_integer) then
      call check(tw_plan_make(plan, pattern, comm%MPI_VAL, fields, options=tw_options(axis=axis)))
    else
      call check(tw_plan_make(plan, pattern, comm, fields, options=tw_options(axis=axis)))
    end if
    call check(tw_plan_call(plan))
    call check(tw_plan_free(plan))
  end subroutine exchange

  subroutine move(pattern, source, target_)
    type(tw_pattern), intent(in) :: pattern
    integer(int32), intent(in), target :: source(:)
    integer(int32), intent(inout), target :: target_(:)
    type(tw_plan) :: plan
    call check(tw_plan_make(plan, pattern, comm, [tw_field(source)], [tw_field(target_)]))
    call check(tw_plan_call(plan))
    call check(tw_plan_free(plan))
  end subroutine move

  subroutine require(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    write (error_unit, "(a,i0,2a)") "rank ", rank, ": ", what
    error stop 1
  end subroutine require

  subroutine check(status)
    integer, intent(in) :: status
    call require(status == tw_ok, tw_last_error())
  end subroutine check
end program fetch_kinds
