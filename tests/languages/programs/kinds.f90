!> Every element type and rank of Fortran's arrays on two ranks, contiguous and strided, against modular arithmetic;
!! communicators as integers and as those of mpi_f08.
program kinds
  use, intrinsic :: iso_c_binding, only: c_loc
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real32, real64
  use mpi_f08, only: MPI_Comm, MPI_COMM_WORLD, MPI_Init, MPI_Finalize, MPI_Comm_rank
  use tradewind
  implicit none
  integer, parameter :: nx = 12, ny = 6, nz = 4, width = 2
  integer :: rank
  type(MPI_Comm) :: comm
  type(tw_pattern) :: halo, flat, addition

  call MPI_Init()
  comm = MPI_COMM_WORLD
  call MPI_Comm_rank(comm, rank)
  halo = new_halo(nz)
  flat = new_halo(1)
  call check(tw_allreduce(addition, 2, 3))
  call real32_arrays()
  call real64_arrays()
  call int32_arrays()
  call int64_arrays()
  call complex32_arrays()
  call complex64_arrays()
  call MPI_Finalize()
  if (rank == 0) print "(a)", "all right"

contains

  subroutine real32_arrays()
    real(real32), allocatable, target :: level(:, :), whole(:, :, :), wide(:, :, :), values(:)
    real(real32), pointer :: shared(:, :, :), part(:, :, :), sums(:)
    include "kinds.inc"
  end subroutine real32_arrays

  subroutine real64_arrays()
    real(real64), allocatable, target :: level(:, :), whole(:, :, :), wide(:, :, :), values(:)
    real(real64), pointer :: shared(:, :, :), part(:, :, :), sums(:)
    include "kinds.inc"
  end subroutine real64_arrays

  subroutine int32_arrays()
    integer(int32), allocatable, target :: level(:, :), whole(:, :, :), wide(:, :, :), values(:)
    integer(int32), pointer :: shared(:, :, :), part(:, :, :), sums(:)
    include "kinds.inc"
  end subroutine int32_arrays

  subroutine int64_arrays()
    integer(int64), allocatable, target :: level(:, :), whole(:, :, :), wide(:, :, :), values(:)
    integer(int64), pointer :: shared(:, :, :), part(:, :, :), sums(:)
    include "kinds.inc"
  end subroutine int64_arrays

  subroutine complex32_arrays()
    complex(real32), allocatable, target :: level(:, :), whole(:, :, :), wide(:, :, :), values(:)
    complex(real32), pointer :: shared(:, :, :), part(:, :, :), sums(:)
    include "kinds.inc"
  end subroutine complex32_arrays

  subroutine complex64_arrays()
    complex(real64), allocatable, target :: level(:, :), whole(:, :, :), wide(:, :, :), values(:)
    complex(real64), pointer :: shared(:, :, :), part(:, :, :), sums(:)
    include "kinds.inc"
  end subroutine complex64_arrays

  function new_halo(levels) result(pattern)
    integer, intent(in) :: levels
    type(tw_pattern) :: pattern
    type(tw_layout) :: blocks
    call check(tw_blocks(blocks, [nx, ny, levels], [2, 1], "xy"))
    call check(tw_halo(pattern, blocks, width, [.true., .true.]))
    call check(tw_layout_free(blocks))
  end function new_halo

  !> Value of a point of the periodic grid; x and y from 1.
  pure function number(x, y, z) result(value)
    integer, intent(in) :: x, y, z
    integer :: value
    value = 1 + modulo(x - 1, nx) + 100 * modulo(y - 1, ny) + 10000 * z
  end function number

  logical pure function is_own(x, y)
    integer, intent(in) :: x, y
    is_own = (x - 1) / (nx / 2) == rank .and. x >= 1 .and. y >= 1 .and. y <= ny
  end function is_own

  subroutine exchange(pattern, fields, by_integer)
    type(tw_pattern), intent(in) :: pattern
    type(tw_field), intent(in) :: fields(:)
    logical, intent(in) :: by_integer
    type(tw_plan) :: plan
    if (by_integer) then
      call check(tw_plan_make(plan, pattern, comm%MPI_VAL, fields))
    else
      call check(tw_plan_make(plan, pattern, comm, fields))
    end if
    call check(tw_plan_call(plan))
    call check(tw_plan_free(plan))
  end subroutine exchange

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
end program kinds
