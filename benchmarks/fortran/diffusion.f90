!> The time loop of the dwarf diffusion in Fortran, timed: benchmarks/loops.py runs it beside Python's.
!!
!!     mpiexec -n RANKS diffusion_in_fortran NX NY NZ SPLIT_X STEPS REPEAT exchange|overlap
!!
!! The arrays are the program's own, and the plan is the one that the environment or the default chooses, as in Python.
!! Rank 0 prints a JSON object: samples_s, the seconds of STEPS steps on the slowest rank, REPEAT times; and maximum, the
!! largest value in the end, which has the bits of every other loop.
program diffusion_in_fortran
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  use mpi_f08, only: MPI_COMM_WORLD, MPI_Init, MPI_Finalize, MPI_Comm_rank, MPI_Comm_size
  use tradewind
  implicit none
  integer, parameter :: reach = 2  ! of the stencil
  real(real64), parameter :: alpha = 1.0_real64 / 32
  integer :: rank, ranks, points(3), split(2), steps, repeat, i, first(3), last(3)
  real(real64), allocatable, target :: one(:, :, :), two(:, :, :)
  real(real64), pointer, contiguous :: field(:, :, :), next(:, :, :)
  real(real64), target :: largest(1)
  real(real64), allocatable :: samples_s(:)
  character(len=16) :: strategy
  type(tw_layout) :: blocks
  type(tw_pattern) :: halo, reduction
  type(tw_plan) :: swaps(2), reduce
  type(tw_options) :: maximum

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  points = [(argument(i), i=1, 3)]
  split = [argument(4), ranks / argument(4)]
  steps = argument(5)
  repeat = argument(6)
  call get_command_argument(7, strategy)

  call check(tw_blocks(blocks, points, split))
  call check(tw_halo(halo, blocks, reach, periodic=[.true., .true.]))
  call check(tw_layout_box(blocks, rank, first, last))
  call allocate_with_halo(one)
  call allocate_with_halo(two)
  call check(tw_plan_make(swaps(1), halo, MPI_COMM_WORLD, [tw_field(one)]))
  call check(tw_plan_make(swaps(2), halo, MPI_COMM_WORLD, [tw_field(two)]))
  call check(tw_allreduce(reduction, ranks, 1))
  maximum%operation = "max"
  call check(tw_plan_make(reduce, reduction, MPI_COMM_WORLD, [tw_field(largest)], options=maximum))

  call begin_with_box(one)
  field => one
  next => two
  do i = 1, 2  ! the first exchange of a plan costs more
    call check(tw_plan_call(swaps(i)))
  end do
  samples_s = [(seconds_of_steps(), i=1, repeat)]
  largest = maxval(field(first(1):last(1), first(2):last(2), :))
  call check(tw_plan_call(reduce))
  if (rank == 0) print "(a,*(es22.15,:,','))", '{"samples_s":[', samples_s
  if (rank == 0) print "(a,es23.16,a)", '],"maximum":', largest(1), "}"
  call MPI_Finalize()

contains

  !> The rank's own points and the halo around them, whose values may not be used before they are exchanged.
  subroutine allocate_with_halo(u)
    real(real64), allocatable, intent(out) :: u(:, :, :)
    allocate (u(first(1) - reach:last(1) + reach, first(2) - reach:last(2) + reach, first(3):last(3)))
    u = 0
  end subroutine allocate_with_halo

  subroutine begin_with_box(u)
    real(real64), intent(inout) :: u(first(1) - reach:, first(2) - reach:, first(3):)
    integer :: low(3), high(3)
    ! The middle half of points counted from 0 is n / 4 <= i < 3 n / 4.
    low = max(points / 4 + 1, first)
    high = min(3 * points / 4, last)
    u(low(1):high(1), low(2):high(2), low(3):high(3)) = 1
  end subroutine begin_with_box

  !> Takes the steps, and returns the seconds of the slowest rank.
  function seconds_of_steps() result(taken_s)
    real(real64) :: taken_s
    real(real64), pointer, contiguous :: kept(:, :, :)
    integer(int64) :: begin, end, rate
    integer :: step, now
    largest = 0
    call check(tw_plan_call(reduce))  ! all ranks begin together
    call system_clock(begin, rate)
    now = merge(1, 2, associated(field, one))
    do step = 1, steps
      if (strategy == "overlap") then
        call check(tw_plan_start(swaps(now)))
        call compute(field, next, first(1:2) + reach, last(1:2) - reach)
        call check(tw_plan_wait(swaps(now)))
        call compute_rim(field, next)
      else
        call check(tw_plan_call(swaps(now)))
        call compute(field, next, first(1:2), last(1:2))
      end if
      kept => field
      field => next
      next => kept
      now = 3 - now
    end do
    call system_clock(end)
    largest = real(end - begin, real64) / real(rate, real64)
    call check(tw_plan_call(reduce))
    taken_s = largest(1)
  end function seconds_of_steps

  !> The next values of the points from (low) to (high), on all levels. The terms are added as in Tradewind's own loop.
  subroutine compute(in, out, low, high)
    real(real64), intent(in) :: in(first(1) - reach:, first(2) - reach:, first(3):)
    real(real64), intent(inout) :: out(first(1) - reach:, first(2) - reach:, first(3):)
    contiguous :: in, out
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
    real(real64), pointer, contiguous, intent(in) :: in(:, :, :), out(:, :, :)
    integer :: low(2), high(2)
    low = min(first(1:2) + reach - 1, last(1:2))
    high = max(last(1:2) - reach + 1, low + 1)
    call compute(in, out, first(1:2), [last(1), low(2)])
    call compute(in, out, [first(1), high(2)], last(1:2))
    call compute(in, out, [first(1), low(2) + 1], [low(1), high(2) - 1])
    call compute(in, out, [high(1), low(2) + 1], [last(1), high(2) - 1])
  end subroutine compute_rim

  subroutine check(status)
    integer, intent(in) :: status
    if (status == tw_ok) return
    write (error_unit, "(a)") tw_last_error()
    error stop 1
  end subroutine check

  !> The whole number that stands as an argument of the program.
  function argument(place) result(number)
    integer, intent(in) :: place
    integer :: number
    character(len=32) :: text
    call get_command_argument(place, text)
    read (text, *) number
  end function argument
end program diffusion_in_fortran
