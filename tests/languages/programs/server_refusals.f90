! The wrong calls of tests/wrong_calls.py in Fortran, on two ranks. Each rank writes "case|status|text" for every case
! into FOLDER/RANK.
!
!     mpiexec -n 2 server_refusals_fortran FOLDER : -n 1 tradewind serve plan.toml
program server_refusals
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use mpi_f08, only: MPI_Comm, MPI_COMM_WORLD, MPI_Init, MPI_Finalize, MPI_Comm_rank
  use tradewind
  implicit none
  integer, parameter :: nx = 8, ny = 6, levels = 2, half = nx * ny / 2
  integer :: rank, out, i, ids(half), twice(half), negative(half), first
  logical :: wants
  real(real64), target :: field(nx, ny / 2, levels)
  real(real32), target :: single(nx, ny / 2, levels)
  real(real64), target :: four(nx, ny / 2, levels, 1)
  type(tw_field_server) :: server
  type(tw_layout) :: layout, nothing
  type(tw_geometry) :: grid
  character(len=256) :: folder
  character(len=8) :: number
  character(len=*), parameter :: latin = achar(176)

  call get_command_argument(1, folder)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  write (number, "(i0)") rank
  open (newunit=out, file=trim(folder) // "/" // trim(number), status="replace", recl=4096)
  field = 0
  single = 0
  four = 0
  ids = [(2 * i - 1 + rank, i = 1, half)]
  twice = ids
  negative = ids
  if (rank == 1) then
    twice(1) = 1
    negative(1) = 0
  end if
  first = 1 + rank  ! on rank 1 a point is missing
  grid = tw_regular(nx, ny, 0d0, -50d0, 45d0, 20d0)

  call met("open", tw_field_server_open(server, MPI_COMM_WORLD))
  call met("layout", tw_blocks(layout, [nx, ny, levels], [1, 2]))
  call met("define", tw_field_server_define(server, "t", layout, grid))
  call met("define_twice", tw_field_server_define(server, "t", layout, grid))
  call met("define_other_grid", tw_field_server_define(server, "u", layout, tw_regular(nx, 3, 0d0, 0d0, 1d0, 1d0)))
  call met("define_outside", tw_field_server_define(server, "u", layout, tw_regular(nx, ny, 0d0, 80d0, 1d0, 20d0)))
  call met("define_layout", tw_field_server_define(server, "u", nothing, grid))
  call met("define_name", tw_field_server_define(server, "a/b", layout, grid))
  call met("define_levels", tw_field_server_define(server, "u", layout, grid, levels=5))
  call met("define_element", tw_field_server_define(server, "u", layout, grid, element=tw_c8))
  call met("define_level_type", tw_field_server_define(server, "u", layout, grid, level_type="presure"))
  call met("define_points_twice", tw_field_server_define_points(server, "p", twice, grid))
  call met("define_points_outside", tw_field_server_define_points(server, "p", negative, grid))
  call met("define_points_missing", tw_field_server_define_points(server, "p", ids(first:), grid))
  call met("define_units", tw_field_server_define(server, "u", layout, grid, units=latin // "C"))
  call met("write_unknown", tw_field_server_write(server, "v", field, 0))
  call met("write_shape", tw_field_server_write(server, "t", field(:, 1:2, :), 0))
  call met("write_type", tw_field_server_write(server, "t", single, 0))
  call met("write_dimensions", tw_field_server_write(server, "t", four, 0))
  call met("write_level", tw_field_server_write(server, "t", field, 0, 2))
  call met("write_step", tw_field_server_write(server, "t", field, -3))
  call met("write_low_level", tw_field_server_write(server, "t", field, 0, -3))
  call met("write", tw_field_server_write(server, "t", field, 2))
  call met("write_twice", tw_field_server_write(server, "t", field, 2))
  call met("end_step", tw_field_server_end_step(server, 2))
  call met("define_late", tw_field_server_define(server, "manifest", layout, grid))
  call met("write_ended", tw_field_server_write(server, "t", field, 2))
  call met("end_again", tw_field_server_end_step(server, 1))
  call met("read_not_named", tw_field_server_read(server, "t", field, "none.grib"))
  call met("prefetch_nothing", tw_field_server_prefetch(server, [character(len=1) ::]))
  call met("prefetch", tw_field_server_prefetch(server, ["none.grib", latin // ".grib   "]))
  call met("read_missing", tw_field_server_read(server, "t", field, "none.grib"))
  call met("read_latin", tw_field_server_read(server, "t", field, latin // ".grib"))
  call met("wants", tw_field_server_wants(wants, server, "t", 0))
  call met("close", tw_field_server_close(server))
  call met("closed", tw_field_server_end_step(server, 9))
  close (out)
  call MPI_Finalize()

contains

  subroutine met(name, status)
    character(len=*), intent(in) :: name
    integer, intent(in) :: status
    character(len=:), allocatable :: text
    integer :: i
    text = ""
    if (status /= tw_ok) text = tw_last_error()
    do i = 1, len(text)
      if (text(i:i) == new_line("a")) text(i:i) = " "
    end do
    write (out, "(a, '|', i0, '|', a)") name, status, text
  end subroutine met
end program server_refusals
