!> A model in Fortran that writes fields, and reads its first one, by a field server beside it.
!!
!!     mpiexec -n 4 field_server_fortran [STEPS [FILE]] : -n 1 tradewind serve plan.toml
!!     TRADEWIND_PLAN=plan.toml mpiexec -n 4 field_server_fortran [STEPS [FILE]]
!!
!! The second command has no rank that serves: the library starts a local server per node.
!!
!! A field drifts eastward around a grid of longitudes and latitudes, one point per step, and is written by plan.toml.
!! With a FILE, such as one that an earlier run has written, the field begins as it is there.
program field_server
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use mpi_f08, only: MPI_Comm, MPI_COMM_WORLD, MPI_Init, MPI_Finalize, MPI_Comm_rank, MPI_Comm_size
  use tradewind
  implicit none
  integer, parameter :: nx = 36, ny = 18, levels = 3
  integer :: rank, ranks, steps, step, i, first(3), last(3)
  character(len=1000) :: text
  real(real64), allocatable, target :: t(:, :, :)
  type(tw_field_server) :: server
  type(tw_layout) :: bands
  type(MPI_Comm) :: comm

  steps = 4
  call get_command_argument(1, text)
  if (text /= "") read (text, *) steps
  call MPI_Init()
  call check(tw_field_server_open(server, MPI_COMM_WORLD))
  call check(tw_field_server_comm(comm, server))  ! the model's, in place of MPI_COMM_WORLD
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)

  ! Bands of latitudes; every rank has all longitudes and levels.
  call check(tw_blocks(bands, [nx, ny, levels], [1, ranks]))
  call check(tw_layout_box(bands, rank, first, last))
  call check(tw_field_server_define(server, "t", bands, tw_regular(nx, ny, 0d0, -85d0, 10d0, 10d0), &
                                    units="K", grib="t"))

  allocate(t(nx, first(2):last(2), levels))
  do i = 1, nx
    t(i, :, :) = 249 + i
  end do
  call get_command_argument(2, text)
  if (text /= "") then
    call check(tw_field_server_prefetch(server, [text]))  ! servers read while the model makes itself ready
    call check(tw_field_server_read(server, "t", t, text))
  end if

  do step = 0, steps
    call check(tw_field_server_write(server, "t", t, step))  ! t is the model's again at once
    call check(tw_field_server_end_step(server, step))
    t = cshift(t, -1, 1)
  end do
  call check(tw_field_server_close(server))  ! all steps are on the disk
  call check(tw_layout_free(bands))
  if (rank == 0) print "(i0,a,i0,a)", steps, " steps on ", ranks, " ranks are written"
  call MPI_Finalize()

contains

  subroutine check(status)
    integer, intent(in) :: status
    if (status == tw_ok) return
    write (error_unit, "(a)") tw_last_error()
    error stop 1
  end subroutine check
end program field_server
