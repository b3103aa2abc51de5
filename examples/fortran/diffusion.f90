!> Fourth-order diffusion, the dwarf's time loop in Fortran: the halo travels while the interior is computed.
!!
!!     mpiexec -n 4 diffusion_fortran [NX NY NZ [STEPS [RANKS_X [PREFIX]]]]
!!
!! out = in - 1/32 lap(lap(in)) on a grid that is periodic in x and y; at first 1 in a box on the middle half of each
!! axis, else 0. The terms are added in the same order as in Tradewind's compiled loop, so that the bits are the same.
!! Prints the sum of squares and the largest value. With a PREFIX each rank writes its own points to PREFIX.RANK.
program diffusion
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  use mpi_f08, only: MPI_COMM_WORLD, MPI_Init, MPI_Finalize, MPI_Comm_rank, MPI_Comm_size
  use tradewind
  implicit none
  integer, parameter :: reach = 2  ! of the stencil
  real(real64), parameter :: alpha = 1.0_real64 / 32
  integer :: rank, ranks, points(3), split(2), steps, first(3), last(3), step, now
  real(real64), pointer, contiguous :: field(:, :, :), other(:, :, :)
  type(tw_layout) :: blocks
  type(tw_pattern) :: halo
  type(tw_plan) :: swaps(2)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  points = [argument(1, 64), argument(2, 64), argument(3, 16)]
  steps = argument(4, 64)
  split(1) = argument(5, merge(1, 2, mod(ranks, 2) == 1))
  split(2) = ranks / split(1)

  call check(tw_blocks(blocks, points, split))
  call check(tw_halo(halo, blocks, reach, periodic=[.true., .true.]))
  call check(tw_layout_box(blocks, rank, first, last))
  ! A step reads one array and writes the other. Both lie in memory that the ranks of a node share, and have the halo
  ! around: from first - 2 to last + 2 in x and y.
  call check(tw_empty(field, halo, tw_source, rank))
  call check(tw_empty(other, halo, tw_source, rank))
  call check(tw_plan_make(swaps(1), halo, MPI_COMM_WORLD, [tw_field(field)]))
  call check(tw_plan_make(swaps(2), halo, MPI_COMM_WORLD, [tw_field(other)]))
  call begin_with_box(field)

  now = 1
  do step = 1, steps
    call check(tw_plan_start(swaps(now)))
    call compute(field, other, first(1:2) + reach, last(1:2) - reach)
    call check(tw_plan_wait(swaps(now)))
    call compute_rim(field, other)
    call exchange_pointers(field, other)
    now = 3 - now
  end do

  call diagnose(field)
  if (command_argument_count() >= 6) call write_own(field)
  call check(tw_plan_free(swaps(1)))
  call check(tw_plan_free(swaps(2)))
  call check(tw_pattern_free(halo))
  call check(tw_layout_free(blocks))
  call MPI_Finalize()

contains

  subroutine begin_with_box(u)
    real(real64), pointer, intent(in) :: u(:, :, :)
    integer :: x, y, z
    do z = first(3), last(3)
      do y = first(2), last(2)
        do x = first(1), last(1)
          ! The middle half of points counted from 0 is n / 4 <= i < 3 n / 4.
          if (all([x, y, z] - 1 >= points / 4 .and. [x, y, z] - 1 < 3 * points / 4)) u(x, y, z) = 1
        end do
      end do
    end do
  end subroutine begin_with_box

  !> The next values of the points from (low) to (high), on all levels.
  subroutine compute(in, out, low, high)
    real(real64), pointer, contiguous, intent(in) :: in(:, :, :)
    real(real64), pointer, contiguous, intent(in) :: out(:, :, :)
    integer, intent(in) :: low(2), high(2)
    real(real64) :: lap(low(1) - 1:high(1) + 1, low(2) - 1:high(2) + 1)
    integer :: x, y, z
    do z = first(3), last(3)
      do y = low(2) - 1, high(2) + 1
        do x = low(1) - 1, high(1) + 1
          lap(x, y) = ((in(x - 1, y, z) + in(x + 1, y, z)) + (in(x, y - 1, z) + in(x, y + 1, z))) - 4 * in(x, y, z)
        end do
      end do
      do y = low(2), high(2)
        do x = low(1), high(1)
          out(x, y, z) = in(x, y, z) - alpha * (((lap(x - 1, y) + lap(x + 1, y)) + (lap(x, y - 1) + lap(x, y + 1))) &
            - 4 * lap(x, y))
        end do
      end do
    end do
  end subroutine compute

  !> The points whose stencil reaches into the halo: strips along the four sides, as wide as there is room.
  subroutine compute_rim(in, out)
    real(real64), pointer, contiguous, intent(in) :: in(:, :, :)
    real(real64), pointer, contiguous, intent(in) :: out(:, :, :)
    integer :: low(2), high(2)
    low = min(first(1:2) + reach - 1, last(1:2))
    high = max(last(1:2) - reach + 1, low + 1)
    call compute(in, out, first(1:2), [last(1), low(2)])
    call compute(in, out, [first(1), high(2)], last(1:2))
    call compute(in, out, [first(1), low(2) + 1], [low(1), high(2) - 1])
    call compute(in, out, [high(1), low(2) + 1], [last(1), high(2) - 1])
  end subroutine compute_rim

  subroutine exchange_pointers(one, two)
    real(real64), pointer, contiguous, intent(inout) :: one(:, :, :), two(:, :, :)
    real(real64), pointer, contiguous :: kept(:, :, :)
    kept => one
    one => two
    two => kept
  end subroutine exchange_pointers

  subroutine diagnose(u)
    real(real64), pointer, intent(in) :: u(:, :, :)
    real(real64), target :: squares(1), largest(1)
    associate (own => u(first(1):last(1), first(2):last(2), :))
      squares = sum(own**2)
      largest = maxval(own)
    end associate
    call reduce(squares, "sum")
    call reduce(largest, "max")
    if (rank == 0) print "(i0,a,i0,a,f0.9,a,f0.14)", steps, " steps on ", ranks, " ranks: sum of squares ", &
      squares(1), ", largest value ", largest(1)
  end subroutine diagnose

  subroutine reduce(values, operation)
    real(real64), intent(inout), target :: values(:)
    character(len=*), intent(in) :: operation
    type(tw_options) :: options
    type(tw_pattern) :: reduction
    type(tw_plan) :: plan
    options%operation = operation
    call check(tw_allreduce(reduction, ranks, size(values)))
    call check(tw_plan_make(plan, reduction, MPI_COMM_WORLD, [tw_field(values)], options=options))
    call check(tw_plan_call(plan))
    call check(tw_plan_free(plan))
    call check(tw_pattern_free(reduction))
  end subroutine reduce

  subroutine write_own(u)
    real(real64), pointer, intent(in) :: u(:, :, :)
    character(len=256) :: prefix
    character(len=16) :: number
    integer :: unit
    call get_command_argument(6, prefix)
    write (number, "(i0)") rank
    open (newunit=unit, file=trim(prefix) // "." // trim(number), access="stream", form="unformatted", &
      status="replace")
    write (unit) u(first(1):last(1), first(2):last(2), :)
    close (unit)
  end subroutine write_own

  !> Every model handles errors in its own way; this one ends.
  subroutine check(status)
    integer, intent(in) :: status
    if (status == tw_ok) return
    write (error_unit, "(a)") tw_last_error()
    error stop 1
  end subroutine check

  !> The whole number that stands as an argument of the program, or `otherwise`.
  function argument(place, otherwise) result(number)
    integer, intent(in) :: place, otherwise
    integer :: number
    character(len=32) :: text
    number = otherwise
    if (command_argument_count() < place) return
    call get_command_argument(place, text)
    read (text, *) number
  end function argument
end program diffusion
