!> Points of a mesh in Fortran: the halo of an unstructured mesh; points on demand, as a semi-Lagrangian scheme wants
!! them; and the adjoint, which adds back.
!!
!!     mpiexec -n 4 fetch_fortran [NX NY LEVELS]
!!
!! The mesh is a torus of nx x ny cells, numbered in disorder. Every value follows from the number of its cell, so that
!! each rank can check what has arrived. The way is chosen by the environment:
!! TRADEWIND_FETCH=,put-notify mpiexec ...
program fetch
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real32, real64
  use, intrinsic :: iso_c_binding, only: c_int64_t
  use mpi_f08, only: MPI_COMM_WORLD, MPI_Init, MPI_Finalize, MPI_Comm_rank, MPI_Comm_size
  use tradewind
  implicit none
  integer :: rank, ranks, nx, ny, levels

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  nx = argument(1, 30)
  ny = argument(2, 20)
  levels = argument(3, 5)
  call exchange_halo()
  call fetch_on_demand()
  call MPI_Finalize()

contains

  !> Two fields (cell, level), the rank's own cells and behind them their neighbours on other ranks, in one exchange.
  subroutine exchange_halo()
    integer :: cells, first, last, k, x, row, i, level, interior, count, lowest(3), highest(3), next(4)
    integer, allocatable :: own(:), halo(:), mine(:), theirs(:), ids(:), owner(:), index(:)
    real(real64), allocatable, target :: u(:, :), v(:, :)
    type(tw_points) :: points
    type(tw_pattern) :: exchange
    type(tw_plan) :: swap
    cells = nx * ny
    first = cells * rank / ranks  ! cells are counted from 0 here
    last = cells * (rank + 1) / ranks - 1
    own = [(id_of(k), k = first, last)]
    allocate(halo(0))
    do k = first, last
      x = mod(k, nx)
      row = k - x
      next = [row + mod(x + 1, nx), row + mod(x + nx - 1, nx), mod(k + nx, cells), mod(k + cells - nx, cells)]
      do i = 1, 4
        if (next(i) < first .or. next(i) > last) halo = [halo, id_of(next(i))]
      end do
    end do

    ! Cells that no other rank needs, cells that others need, the halo: three runs, so that messages are long ones.
    call check(tw_renumbered(mine, interior, theirs, MPI_COMM_WORLD, own, halo))
    call check(tw_points_of_ids(points, MPI_COMM_WORLD, mine))
    ! Neighbours on a mesh are so to each other: who is asked is known, and who asks.
    call check(tw_points_locate(points, theirs, owner, index))
    call check(tw_points_halo(exchange, points, theirs, peers=owner))

    call check(tw_pattern_box(exchange, tw_source, rank, lowest, highest))
    count = highest(1)
    ids = [mine, theirs]
    allocate(u(count, levels), v(count, levels), source=0.0_real64)
    do level = 1, levels
      u(:size(mine), level) = numbers(mine, level)
      v(:size(mine), level) = -numbers(mine, level)
    end do
    call check(tw_plan_make(swap, exchange, MPI_COMM_WORLD, [tw_field(u), tw_field(v)]))
    call check(tw_plan_start(swap))  ! here a model computes the first `interior` cells, which need no halo
    call check(tw_plan_wait(swap))  ! and here the others
    i = merge(0, 1, count == size(ids) .and. interior <= size(mine))
    do level = 1, levels
      i = i + count_of(u(:, level) /= numbers(ids, level)) + count_of(v(:, level) /= -numbers(ids, level))
    end do
    call report("halo", swap, i)
    call check(tw_plan_free(swap))
    call check(tw_pattern_free(exchange))
    call check(tw_points_free(points))
  end subroutine exchange_halo

  !> The columns that the wind has come from, whichever rank has them now, in a field (level, column); and how often each
  !! was wanted, by the adjoint.
  subroutine fetch_on_demand()
    integer :: first(3), last(3), owns, x, y, i, level, wrong
    integer, allocatable :: own(:), wanted(:)
    real(real32), allocatable, target :: here(:, :), there(:, :)
    integer(int32), allocatable, target :: ones(:), times(:)
    type(tw_layout) :: blocks
    type(tw_points) :: points
    type(tw_pattern) :: request, adjoint
    type(tw_plan) :: plan, back
    type(tw_options) :: options
    call check(tw_blocks(blocks, [nx, ny, levels], [1, ranks]))
    call check(tw_layout_box(blocks, rank, first, last))
    call check(tw_points_of_layout(points, MPI_COMM_WORLD, blocks))  ! column (x, y) is point x + nx * (y - 1)
    call check(tw_points_count(points, owns))
    own = [((x + nx * (y - 1), x = first(1), last(1)), y = first(2), last(2))]
    wanted = [((1 + mod(x + 2 + mod(y - 1, 5), nx) + nx * mod(y + 1 + mod(x - 1, 3), ny), x = first(1), last(1)), &
      y = first(2), last(2))]
    call check(tw_points_fetch(request, points, wanted))

    allocate(here(levels, owns), there(levels, owns), source=0.0_real32)
    do i = 1, owns
      here(:, i) = real([(number(own(i), level), level = 1, levels)], real32)
    end do
    options%axis = 2  ! levels lie inside
    call check(tw_plan_make(plan, request, MPI_COMM_WORLD, [tw_field(here)], [tw_field(there)], options))
    call check(tw_plan_call(plan))
    wrong = 0
    do i = 1, owns
      wrong = wrong + count_of(there(:, i) /= real([(number(wanted(i), level), level = 1, levels)], real32))
    end do
    call report("on demand", plan, wrong)

    allocate(ones(owns), times(owns))
    ones = 1
    times = 0
    call check(tw_adjoint(adjoint, request))
    call check(tw_plan_make(back, adjoint, MPI_COMM_WORLD, [tw_field(ones)], [tw_field(times)]))
    call check(tw_plan_call(back))
    i = total(sum(times))
    call report("adjoint", back, merge(1, 0, rank == 0 .and. i /= nx * ny))
    call check(tw_plan_free(plan))
    call check(tw_plan_free(back))
    call check(tw_pattern_free(request))
    call check(tw_pattern_free(adjoint))
    call check(tw_points_free(points))
    call check(tw_layout_free(blocks))
  end subroutine fetch_on_demand

  !> The number that a mesh generator gave to cell k: 7919 is prime, so that no two have the same.
  pure integer function id_of(k)
    integer, intent(in) :: k
    id_of = int(mod(7919_int64 * k + 13, int(nx, int64) * ny))
  end function id_of

  !> Value of a cell on a level.
  elemental real(real64) function number(id, level)
    integer, intent(in) :: id, level
    number = id + 100000.0_real64 * level
  end function number

  pure function numbers(ids, level)
    integer, intent(in) :: ids(:), level
    real(real64) :: numbers(size(ids))
    numbers = number(ids, level)
  end function numbers

  pure integer function count_of(wrong)
    logical, intent(in) :: wrong(:)
    count_of = count(wrong)
  end function count_of

  !> Over all ranks.
  integer function total(mine)
    integer, intent(in) :: mine
    integer, target :: sums(1)
    type(tw_pattern) :: reduction
    type(tw_plan) :: add
    sums = mine
    call check(tw_allreduce(reduction, ranks, 1))
    call check(tw_plan_make(add, reduction, MPI_COMM_WORLD, [tw_field(sums)]))
    call check(tw_plan_call(add))
    call check(tw_plan_free(add))
    call check(tw_pattern_free(reduction))
    total = sums(1)
  end function total

  subroutine report(what, plan, mine)
    character(len=*), intent(in) :: what
    type(tw_plan), intent(in) :: plan
    integer, intent(in) :: mine
    integer :: wrong
    integer(c_int64_t) :: messages, bytes
    character(len=:), allocatable :: way
    wrong = total(mine)
    call check(tw_plan_way(plan, way))
    call check(tw_plan_traffic(plan, messages, bytes))
    if (rank == 0) print "(4a,i0,a,i0,a,i0,a)", what, " by ", way, ": rank 0 sends ", messages, " messages, ", bytes, &
      " bytes; ", wrong, " values wrong"
    if (wrong > 0) error stop 1
  end subroutine report

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
end program fetch
