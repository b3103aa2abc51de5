!> HIRLAM's redistribution in Fortran: from blocks over x and y (2D) to whole lines along x (FFT), to whole lines along y
!! (TRI), and back; and its halo.
!!
!!     mpiexec -n 4 redistribution_fortran [NX NY NZ [RANKS_X]]
!!
!! Every point holds its own number, so that each rank can check what has arrived. The way is chosen by
!! the environment: TRADEWIND_TRANSPOSE=burst,shared,direct mpiexec ...
program redistribution
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  use, intrinsic :: iso_c_binding, only: c_int64_t
  use mpi_f08, only: MPI_COMM_WORLD, MPI_Init, MPI_Finalize, MPI_Comm_rank, MPI_Comm_size
  use tradewind
  implicit none
  integer, parameter :: halo_width = 3
  integer :: rank, ranks, points(3), split(2)
  integer(int64) :: wrong
  type(tw_layout) :: twod, fft, tri

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  points = [argument(1, 60), argument(2, 56), argument(3, 12)]
  split(1) = argument(4, merge(1, 2, mod(ranks, 2) == 1))
  split(2) = ranks / split(1)

  call check(tw_blocks(twod, points, split))
  call check(tw_pencils(fft, points, split, "x"))  ! levels divided within each row of ranks
  call check(tw_pencils(tri, points, split, "y"))  ! x divided within each column
  wrong = redistributed("2D to FFT", twod, fft)
  wrong = wrong + redistributed("FFT to TRI", fft, tri)
  wrong = wrong + redistributed("TRI to FFT", tri, fft)
  wrong = wrong + redistributed("FFT to 2D", fft, twod)
  wrong = wrong + halo_exchanged(twod)
  call check(tw_layout_free(twod))
  call check(tw_layout_free(fft))
  call check(tw_layout_free(tri))
  call MPI_Finalize()
  if (wrong /= 0) error stop 1

contains

  !> From one layout to the other; how many points are wrong.
  function redistributed(what, from, to) result(wrong)
    character(len=*), intent(in) :: what
    type(tw_layout), intent(in) :: from, to
    integer(int64) :: wrong
    real(real64), allocatable, target :: before(:, :, :), after(:, :, :)
    integer :: first(3), last(3), first_after(3), last_after(3)
    type(tw_pattern) :: move
    type(tw_plan) :: plan
    call check(tw_transpose(move, from, to))
    call check(tw_pattern_box(move, tw_source, rank, first, last))
    call check(tw_pattern_box(move, tw_target, rank, first_after, last_after))
    allocate(before(first(1):last(1), first(2):last(2), first(3):last(3)))
    allocate(after(first_after(1):last_after(1), first_after(2):last_after(2), first_after(3):last_after(3)))
    call check(tw_plan_make(plan, move, MPI_COMM_WORLD, [tw_field(before)], [tw_field(after)]))
    before = numbers(first, last)
    after = -1
    call check(tw_plan_call(plan))
    wrong = reported(what, plan, count(after /= numbers(first_after, last_after), kind=int64))
    call check(tw_plan_free(plan))
    call check(tw_pattern_free(move))
  end function redistributed

  !> It ends where the grid does.
  function halo_exchanged(layout) result(wrong)
    type(tw_layout), intent(in) :: layout
    integer(int64) :: wrong
    real(real64), allocatable, target :: u(:, :, :)
    integer :: first(3), last(3), own_first(3), own_last(3)
    type(tw_pattern) :: halo
    type(tw_plan) :: plan
    call check(tw_halo(halo, layout, halo_width))
    call check(tw_pattern_box(halo, tw_source, rank, first, last))
    call check(tw_layout_box(layout, rank, own_first, own_last))
    allocate(u(first(1):last(1), first(2):last(2), first(3):last(3)), source=-1.0_real64)
    call check(tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field(u)]))
    u(own_first(1):own_last(1), own_first(2):own_last(2), :) = numbers(own_first, own_last)
    call check(tw_plan_start(plan))  ! here a model computes what needs no halo
    call check(tw_plan_wait(plan))
    first = max(first, 1)
    last = min(last, points)
    wrong = reported("halo", plan, &
      count(u(first(1):last(1), first(2):last(2), :) /= numbers(first, last), kind=int64))
    call check(tw_plan_free(plan))
    call check(tw_pattern_free(halo))
  end function halo_exchanged

  !> Each point's own number.
  pure function numbers(first, last) result(all)
    integer, intent(in) :: first(3), last(3)
    real(real64), allocatable :: all(:, :, :)
    integer :: x, y, z
    allocate(all(first(1):last(1), first(2):last(2), first(3):last(3)))
    do concurrent (x = first(1):last(1), y = first(2):last(2), z = first(3):last(3))
      all(x, y, z) = real(x, real64) + points(1) * (real(y, real64) + points(2) * real(z, real64))
    end do
  end function numbers

  !> Says what was done, and returns how many points are wrong on all ranks.
  function reported(what, plan, mine) result(wrong)
    character(len=*), intent(in) :: what
    type(tw_plan), intent(in) :: plan
    integer(int64), intent(in) :: mine
    integer(int64) :: wrong
    integer(int64), target :: sum(1)
    integer(c_int64_t) :: messages, bytes
    character(len=:), allocatable :: way
    type(tw_pattern) :: reduction
    type(tw_plan) :: add
    sum = mine
    call check(tw_allreduce(reduction, ranks, 1))
    call check(tw_plan_make(add, reduction, MPI_COMM_WORLD, [tw_field(sum)]))
    call check(tw_plan_call(add))
    call check(tw_plan_free(add))
    call check(tw_pattern_free(reduction))
    wrong = sum(1)
    call check(tw_plan_way(plan, way))
    call check(tw_plan_traffic(plan, messages, bytes))
    if (rank == 0) print "(4a,i0,a,i0,a,i0,a)", what, " by ", way, ": rank 0 sends ", messages, " messages, ", bytes, &
      " bytes; ", wrong, " points wrong"
  end function reported

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
end program redistribution
