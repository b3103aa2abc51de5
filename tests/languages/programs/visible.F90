!> What an exchange has changed is seen by the program at every optimisation, wherever its arrays are declared, on two
!! ranks: halo, transposition, reduction, fetch, adjoint and unstructured halo. All values are constants, so that a
!! compiler that thinks an array unchanged puts the old ones into the program.
module visible_state
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use mpi_f08, only: MPI_COMM_WORLD
  use tradewind
  implicit none
  integer, parameter :: nx = 12, ny = 4, nz = 2, own = 10
  !> The extents of the arrays on a rank: with a halo, before and after the transposition, a vector, points.
  integer, parameter :: gx = nx / 2 + 2, gy = ny + 2, bx = nx / 2, ly = ny / 2, count = 6, all = own + 2
  integer :: rank, wrong = 0
  type(tw_pattern) :: halo, transpose, addition, around, there, back

  real(real64), target :: whole_m(gx, gy, nz), blocks_m(bx, ny, nz), lines_m(nx, ly, nz), vector_m(count)
  real(real64), target :: cells_m(all), fetched_m(own), ones_m(own), times_m(own)
  real(real64), allocatable, target :: whole_a(:, :, :), blocks_a(:, :, :), lines_a(:, :, :), vector_a(:)
  real(real64), allocatable, target :: cells_a(:), fetched_a(:), ones_a(:), times_a(:)

  type :: state
    real(real64) :: whole(gx, gy, nz), blocks(bx, ny, nz), lines(nx, ly, nz), vector(count)
    real(real64) :: cells(all), fetched(own), ones(own), times(own)
  end type state
  type :: allocated_state
    real(real64), allocatable :: whole(:, :, :), blocks(:, :, :), lines(:, :, :), vector(:)
    real(real64), allocatable :: cells(:), fetched(:), ones(:), times(:)
  end type allocated_state

contains

  subroutine make_patterns()
    type(tw_layout) :: blocks, lines
    type(tw_points) :: points
    integer :: i
    call check(tw_blocks(blocks, [nx, ny, nz], [2, 1]))
    call check(tw_blocks(lines, [nx, ny, nz], [1, 2]))
    call check(tw_halo(halo, blocks, 1, [.true., .true.]))
    call check(tw_transpose(transpose, blocks, lines))
    call check(tw_allreduce(addition, 2, count))
    call check(tw_points_of_ids(points, MPI_COMM_WORLD, [(own * rank + i, i = 0, own - 1)]))
    call check(tw_points_halo(around, points, [modulo(own * rank - 1, 2 * own), modulo(own * rank + own, 2 * own)]))
    call check(tw_points_fetch(there, points, [(own * (1 - rank), i = 1, own)]))  ! all: the other rank's first
    call check(tw_adjoint(back, there))
    call check(tw_points_free(points))
    call check(tw_layout_free(blocks))
    call check(tw_layout_free(lines))
  end subroutine make_patterns

  subroutine check(status)
    integer, intent(in) :: status
    if (status == tw_ok) return
    write (error_unit, "(a,i0,2a)") "rank ", rank, ": ", tw_last_error()
    error stop 1
  end subroutine check

  subroutine require(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    wrong = wrong + 1
    write (error_unit, "(a,i0,2a)") "rank ", rank, ": the program sees old values, ", what
  end subroutine require
end module visible_state

program visible
  use mpi_f08, only: MPI_Init, MPI_Finalize, MPI_Comm_rank
  use visible_state
  implicit none
  type(tw_plan) :: sum_up
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call make_patterns()
  call local_arrays()
  call local_allocatables()
  call local_pointers()
  call module_arrays()
  call module_allocatables()
  call components()
  call allocatable_components()
  call sections()
  call arguments_of(whole_m, blocks_m, lines_m, vector_m, cells_m, fetched_m, ones_m, times_m)
  call shaped_arguments_of(whole_m, blocks_m, lines_m, vector_m, cells_m, fetched_m, ones_m, times_m)
  call made_elsewhere()
  call made_elsewhere_for(whole_a)
  call MPI_Finalize()
  if (wrong > 0) error stop 1
  if (rank == 0) print "(a)", "all right"

contains

! How the body names an array's points and fields: `of(name)` is the array.
#define WHOLE(x,y,z) of(whole)(x,y,z)
#define BLOCKS(x,y,z) of(blocks)(x,y,z)
#define LINES(x,y,z) of(lines)(x,y,z)
#define VECTOR(i) of(vector)(i)
#define CELLS(i) of(cells)(i)
#define FETCHED(i) of(fetched)(i)
#define ONES(i) of(ones)(i)
#define TIMES(i) of(times)(i)
#define FIELD(name) tw_field(of(name))
#define OWN_CELLS tw_field(of(cells)(:own))
#define of(name) name

  subroutine local_arrays()
    real(real64), target :: whole(gx, gy, nz), blocks(bx, ny, nz), lines(nx, ly, nz), vector(count)
    real(real64), target :: cells(all), fetched(own), ones(own), times(own)
    character(len=*), parameter :: kind = "local arrays"
#include "visible.inc"
  end subroutine local_arrays

  subroutine local_allocatables()
    real(real64), allocatable, target, asynchronous :: whole(:, :, :), blocks(:, :, :), lines(:, :, :), vector(:)
    real(real64), allocatable, target, asynchronous :: cells(:), fetched(:), ones(:), times(:)
    character(len=*), parameter :: kind = "local allocatable arrays"
#define ALLOCATED
#include "visible.inc"
  end subroutine local_allocatables

  subroutine local_pointers()
    real(real64), pointer :: whole(:, :, :), blocks(:, :, :), lines(:, :, :), vector(:)
    real(real64), pointer :: cells(:), fetched(:), ones(:), times(:)
    character(len=*), parameter :: kind = "local pointers"
#include "visible.inc"
#undef ALLOCATED
  end subroutine local_pointers

  subroutine arguments_of(whole, blocks, lines, vector, cells, fetched, ones, times)
    real(real64), target :: whole(gx, gy, nz), blocks(bx, ny, nz), lines(nx, ly, nz), vector(count)
    real(real64), target :: cells(all), fetched(own), ones(own), times(own)
    character(len=*), parameter :: kind = "arguments of explicit shape"
#include "visible.inc"
  end subroutine arguments_of

  subroutine shaped_arguments_of(whole, blocks, lines, vector, cells, fetched, ones, times)
    real(real64), target, asynchronous, intent(inout) :: whole(:, :, :), blocks(:, :, :), lines(:, :, :), vector(:)
    real(real64), target, asynchronous, intent(inout) :: cells(:), fetched(:), ones(:), times(:)
    character(len=*), parameter :: kind = "arguments of assumed shape"
#include "visible.inc"
  end subroutine shaped_arguments_of

#undef of
#define of(name) name/**/_m
  subroutine module_arrays()
    character(len=*), parameter :: kind = "arrays of a module"
#include "visible.inc"
  end subroutine module_arrays

#undef of
#define of(name) name/**/_a
  subroutine module_allocatables()
    character(len=*), parameter :: kind = "allocatable arrays of a module"
#define ALLOCATED
#include "visible.inc"
#undef ALLOCATED
  end subroutine module_allocatables

#undef of
#define of(name) model%name
  subroutine components()
    type(state), target :: model
    character(len=*), parameter :: kind = "components"
#include "visible.inc"
  end subroutine components

  subroutine allocatable_components()
    type(allocated_state), target :: model
    character(len=*), parameter :: kind = "allocatable components"
#define ALLOCATED
#include "visible.inc"
#undef ALLOCATED
  end subroutine allocatable_components

#undef WHOLE
#undef BLOCKS
#undef LINES
#undef VECTOR
#undef CELLS
#undef FETCHED
#undef ONES
#undef TIMES
#undef FIELD
#undef OWN_CELLS
! Every second point along the first direction.
#define WHOLE(x,y,z) wide(2*(x)-1,y,z)
#define BLOCKS(x,y,z) wider(2*(x)-1,y,z)
#define LINES(x,y,z) long(2*(x)-1,y,z)
#define VECTOR(i) table(1,2*(i)-1)
#define CELLS(i) table(2,2*(i)-1)
#define FETCHED(i) table(3,2*(i)-1)
#define ONES(i) table(4,2*(i)-1)
#define TIMES(i) table(5,2*(i)-1)
#define FIELD(name) section_of_/**/name
#define section_of_whole tw_field(wide(1::2,:,:))
#define section_of_blocks tw_field(wider(1::2,:,:))
#define section_of_lines tw_field(long(1::2,:,:))
#define section_of_vector tw_field(table(1,1:2*count:2))
#define section_of_cells tw_field(table(2,1:2*all:2))
#define section_of_fetched tw_field(table(3,1:2*own:2))
#define section_of_ones tw_field(table(4,1:2*own:2))
#define section_of_times tw_field(table(5,1:2*own:2))
#define OWN_CELLS tw_field(table(2,1:2*own:2))
  subroutine sections()
    real(real64), target :: wide(2 * gx, gy, nz), wider(2 * bx, ny, nz), long(2 * nx, ly, nz), table(5, 2 * all)
    character(len=*), parameter :: kind = "strided sections"
#include "visible.inc"
  end subroutine sections

  !> The procedure that calls the plan knows nothing of the one that has made it.
  subroutine made_elsewhere()
    call check(tw_plan_make(sum_up, addition, MPI_COMM_WORLD, [tw_field(vector_m)]))
    vector_m = rank + 1
    call check(summed())
    call require(vector_m(1) == 3 .and. vector_m(count) == 3, "arrays of a module, by a function of the program")
    call check(tw_plan_free(sum_up))
  end subroutine made_elsewhere

  integer function summed()
    summed = tw_plan_call(sum_up)
  end function summed

  subroutine made_elsewhere_for(whole)
    real(real64), allocatable, target, intent(inout) :: whole(:, :, :)
    type(tw_plan) :: plan
    allocate(whole(gx, gy, nz))
    call check(tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field(whole)]))
    call step(plan, whole)
    call check(tw_plan_free(plan))
    deallocate(whole)
  end subroutine made_elsewhere_for

  subroutine step(plan, whole)
    type(tw_plan), intent(in) :: plan
    real(real64), target, intent(inout) :: whole(:, :, :)
    whole = 0
    whole(2:gx - 1, 2:gy - 1, :) = rank + 1
    call check(tw_plan_call(plan))
    call require(whole(1, 2, 1) == 2 - rank, "an argument of the procedure that calls the plan")
  end subroutine step
end program visible
