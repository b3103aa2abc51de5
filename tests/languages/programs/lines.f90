!> The redistributions of a spherical-harmonics transform on an octahedral grid: Fourier coefficients of rows to lists of
!! wavenumbers, whose lines are the rows that keep each, and back; spectral coefficients from fields to degrees. Every
!! number is its own place.
program lines
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use mpi_f08, only: MPI_COMM_WORLD, MPI_Init, MPI_Finalize, MPI_Comm_rank, MPI_Comm_size
  use tradewind
  implicit none
  integer, parameter :: half = 12, rows = 2 * half, top = half - 1, fields = 6
  integer :: rank, ranks, sets, field_sets, row, m, own_list, own_part
  integer :: begins(top + 1), ends(top + 1), from_degree(top + 1), to_degree(top + 1), owners(top + 1)
  integer, allocatable :: row_cuts(:), degree_cuts(:)
  type(tw_layout) :: by_rows, by_wavenumbers, by_fields, by_degrees

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  field_sets = merge(2, 1, mod(ranks, 2) == 0)
  sets = ranks / field_sets
  own_list = mod(rank, sets)
  own_part = rank / sets

  do m = 0, top
    row = 1  ! from the pole, where rows of 20 + 4 (row - 1) points are too short for m
    do while (3 * m > 16 + 4 * row)
      row = row + 1
    end do
    begins(m + 1) = row
    ends(m + 1) = rows + 1 - row
    from_degree(m + 1) = m + 1
    to_degree(m + 1) = top + 1
    owners(m + 1) = min(mod(m, 2 * sets), 2 * sets - 1 - mod(m, 2 * sets))  ! to and fro
  end do
  row_cuts = [(row * rows / sets, row = 0, sets)]
  degree_cuts = [(m * (top + 1) / field_sets, m = 0, field_sets)]

  call check(tw_lines(by_rows, [fields, rows, top + 1], begins, ends, cuts=row_cuts, field_sets=field_sets))
  call check(tw_lines(by_wavenumbers, [fields, rows, top + 1], begins, ends, sets, owners, field_sets=field_sets))
  call check(tw_lines(by_fields, [fields, top + 1, top + 1], from_degree, to_degree, sets, owners, &
                      field_sets=field_sets))
  call check(tw_lines(by_degrees, [fields, top + 1, top + 1], from_degree, to_degree, sets, owners, degree_cuts))
  call compare("rows to wavenumbers", by_rows, by_wavenumbers, in_rows(), in_wavenumbers(begins, ends, .true.))
  call compare("wavenumbers to rows", by_wavenumbers, by_rows, in_wavenumbers(begins, ends, .true.), in_rows())
  call compare("fields to degrees", by_fields, by_degrees, in_wavenumbers(from_degree, to_degree, .true.), &
               in_wavenumbers(from_degree, to_degree, .false.))
  call MPI_Finalize()
  if (rank == 0) print "(a)", "all right"

contains

  subroutine compare(what, from, to, source, wanted)
    character(len=*), intent(in) :: what
    type(tw_layout), intent(in) :: from, to
    real(real64), intent(in) :: source(:, :, :), wanted(:, :, :)
    real(real64), allocatable, target :: before(:, :, :), after(:, :, :)
    integer :: first(3), last(3)
    type(tw_pattern) :: move
    type(tw_plan) :: plan
    call check(tw_transpose(move, from, to))
    call check(tw_pattern_box(move, tw_target, rank, first, last))
    if (any(last - first + 1 /= shape(wanted))) call stop_with(what // ": another shape than expected")
    before = source
    allocate(after, mold=wanted)
    after = -1
    call check(tw_plan_make(plan, move, MPI_COMM_WORLD, [tw_field(before)], [tw_field(after)]))
    call check(tw_plan_call(plan))
    if (any(after /= wanted)) call stop_with(what // ": another number than expected")
    call check(tw_plan_free(plan))
    call check(tw_pattern_free(move))
  end subroutine compare

  !> Whole rows of this rank, and its fields: of each wavenumber those that keep it.
  function in_rows() result(found)
    real(real64), allocatable :: found(:, :, :)
    found = numbers([(.true., m = 0, top)], begins, ends, row_cuts(own_list + 1), row_cuts(own_list + 2), .true.)
  end function in_rows

  !> The wavenumbers of this rank, with its fields, or with all fields and its degrees.
  function in_wavenumbers(first, last, by_field) result(found)
    integer, intent(in) :: first(:), last(:)
    logical, intent(in) :: by_field
    real(real64), allocatable :: found(:, :, :)
    integer :: low, high
    low = merge(0, degree_cuts(own_part + 1), by_field)
    high = merge(rows, degree_cuts(own_part + 2), by_field)
    found = numbers(owners == own_list, first, last, low, high, by_field)
  end function in_wavenumbers

  !> field + 100 (place + 100 line) of the places low + 1 to high of some lines.
  function numbers(mine, first, last, low, high, by_field) result(found)
    logical, intent(in) :: mine(:), by_field
    integer, intent(in) :: first(:), last(:), low, high
    real(real64), allocatable :: found(:, :, :)
    integer :: line, place, field, count, width, at
    width = merge(fields / field_sets, fields, by_field)
    count = 0
    do line = 1, size(mine)
      if (mine(line)) count = count + max(0, min(last(line), high) - max(first(line), low + 1) + 1)
    end do
    allocate(found(width, 1, count))
    at = 0
    do line = 1, size(mine)
      if (.not. mine(line)) cycle
      do place = max(first(line), low + 1), min(last(line), high)
        at = at + 1
        do field = 1, width
          found(field, 1, at) = merge(own_part * width, 0, by_field) + field + 100 * (place + 100 * line)
        end do
      end do
    end do
  end function numbers

  subroutine check(status)
    integer, intent(in) :: status
    if (status /= tw_ok) call stop_with(tw_last_error())
  end subroutine check

  subroutine stop_with(text)
    character(len=*), intent(in) :: text
    write (error_unit, "(a)") text
    error stop 1
  end subroutine stop_with
end program lines
