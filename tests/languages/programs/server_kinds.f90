! Field servers from Fortran: kinds and shapes of arrays, sections, levels, points by number, both kinds of communicators.
!
!     mpiexec -n 2 server_kinds_fortran FOLDER : -n 1 tradewind serve plan.toml
!
! A value is 1e6 * step + 1000 * level + point, all from 0, as whoever reads the files counts. From step 2 on fields are
! started without a copy, and their arrays overwritten as soon as they are the model's again. Files that it has written, FOLDER/NAME/000.nc, it reads again.
program server_kinds
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use mpi_f08, only: MPI_Comm, MPI_COMM_WORLD, MPI_Init, MPI_Finalize, MPI_Comm_rank, MPI_Comm_size
  use tradewind
  implicit none
  integer, parameter :: nx = 8, ny = 6, levels = 3
  integer :: rank, ranks, i, j, k, first(3), last(3), handle, points
  integer, allocatable :: ids(:)
  logical :: wants
  real(real64), allocatable, target :: t(:, :, :), mesh(:, :), surface(:, :)
  real(real64), allocatable :: first_step(:, :, :), east(:, :), north(:, :)
  real(real32), allocatable, target :: u(:, :, :), turned(:, :)
  type(tw_field_server) :: server
  type(tw_layout) :: blocks, flat
  type(tw_geometry) :: grid
  type(MPI_Comm) :: comm
  character(len=1000) :: folder

  call get_command_argument(1, folder)
  call MPI_Init()
  call check(tw_field_server_open(server, MPI_COMM_WORLD))
  call check(tw_field_server_comm(comm, server))
  call check(tw_field_server_comm(handle, server))
  if (handle /= comm%MPI_VAL) error stop "two communicators"
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  grid = tw_regular(nx, ny, 0d0, -50d0, 45d0, 20d0)

  call check(tw_blocks(blocks, [nx, ny, levels], [1, ranks]))
  call check(tw_blocks(flat, [nx, ny, 1], [1, ranks]))
  call check(tw_layout_box(blocks, rank, first, last))
  call check(tw_field_server_define(server, "t", blocks, grid, level=[1000d0, 850d0, 500d0], level_type="pressure", &
                                    units="K", long_name="temperature", grib="t"))
  call check(tw_field_server_define(server, "u", blocks, tw_lambert(nx, ny, 3d0, 50d0, 2d4, 3d4, 10d0, 60d0, 50d0, &
                                                                      radius=6371000d0), element=tw_f4))
  call check(tw_field_server_define(server, "q", flat, tw_rotated(nx, ny, -10d0, -5d0, 2d0, 1.5d0, -170d0, 40d0), &
                                    levels=levels))
  call check(tw_field_server_define(server, "p", flat, &
                                    tw_polar_stereographic(nx, ny, -100d0, -50d0, 2d4, 3d4, 20d0, -71d0)))

  ids = [(i, i = nx * ny - rank, 1, -ranks)]
  points = size(ids)
  east = reshape([(2d0 * i, i = 0, nx * ny - 1)], [nx, ny])
  north = reshape([(i - 20d0, i = 0, nx * ny - 1)], [nx, ny])
  call check(tw_field_server_define_points(server, "m", ids, &
                                           tw_unstructured(nx * ny, [east], [north], &
                                                           "12345678-9abc-def0-1234-56789abcdef0", 42, 1), &
                                           levels=levels))
  call check(tw_field_server_define_points(server, "n", ids, tw_curvilinear(east, north), levels=levels, axis=2, &
                                           element=tw_f4))
  call check(tw_field_server_define_points(server, "r", ids, tw_unstructured(nx * ny)))

  allocate(t(0:nx + 1, first(2) - 1:last(2) + 1, levels), u(nx, first(2):last(2), levels))
  allocate(surface(nx, first(2):last(2)), mesh(points, levels), turned(levels, points))
  t = -1
  do k = 1, levels
    do j = first(2), last(2)
      do i = 1, nx
        t(i, j, k) = 1000 * (k - 1) + i - 1 + nx * (j - 1)
      end do
    end do
    mesh(:, k) = 1000 * (k - 1) + ids - 1
  end do
  first_step = t(1:nx, first(2):last(2), :)
  u = real(first_step, real32)
  turned = real(transpose(mesh), real32)

  call check(tw_field_server_wants(wants, server, "t", 0))
  if (.not. wants) error stop "t is wanted"
  call check(tw_field_server_wants(wants, server, "t", 1))
  if (wants) error stop "t is not wanted"
  call check(tw_field_server_write(server, "t", t(1:nx, first(2):last(2), :), 0))
  call check(tw_field_server_write(server, "u", u, 0))
  do k = 1, levels
    surface = t(1:nx, first(2):last(2), k)
    call check(tw_field_server_write(server, "q", surface, 0, k))
    surface = -7
  end do
  call check(tw_field_server_write(server, "p", t(1:nx, first(2):last(2), 2), 0))
  call check(tw_field_server_write(server, "m", tw_field(mesh), 0))
  call check(tw_field_server_write(server, "n", turned, 0))
  call check(tw_field_server_write(server, "r", mesh(:, 3), 0))
  if (tw_field_server_write(server, "q", surface, 0, 0) /= tw_error_input) error stop "level 0"
  call check(tw_field_server_end_step(server, 0))
  call check(tw_field_server_finish(server))

  call check(tw_field_server_prefetch(server, [file("u"), file("t"), file("m"), file("n"), file("p")]))
  surface = t(1:nx, first(2):last(2), 2)
  u = -7
  mesh = -7
  turned = -7
  call check(tw_field_server_read(server, "u", u, file("u")))
  if (any(u /= real(t(1:nx, first(2):last(2), :), real32))) error stop "u as it was read"
  t = -7
  call check(tw_field_server_read(server, "t", t(1:nx, first(2):last(2), :), file("t")))
  if (any(t(1:nx, first(2):last(2), :) /= u) .or. any(t(0, :, :) /= -7)) error stop "t as it was read"
  call check(tw_field_server_read(server, "m", mesh, file("m")))
  call check(tw_field_server_read(server, "n", turned, file("n")))
  if (any(turned /= transpose(mesh)) .or. any(mesh(:, 2) /= 1000 + ids - 1)) error stop "points as they were read"
  surface = -7
  call check(tw_field_server_read(server, "p", surface, file("p")))
  if (any(surface /= u(:, :, 2))) error stop "p as it was read"
  do i = 2, 6, 2
    call start_all(i)
  end do
  call check(tw_field_server_close(server))
  if (tw_field_server_close(server) /= tw_error_handle) error stop "closed twice"
  if (rank == 0) print "(a)", "all right"
  call MPI_Finalize()

contains

  subroutine start_all(step)
    integer, intent(in) :: step
    t(1:nx, first(2):last(2), :) = first_step + 1d6 * step
    u = real(first_step + 1d6 * step, real32)
    do k = 1, levels
      mesh(:, k) = 1d6 * step + 1000 * (k - 1) + ids - 1
    end do
    turned = real(transpose(mesh), real32)
    call check(tw_field_server_start(server, "t", t(1:nx, first(2):last(2), :), step))
    call check(tw_field_server_start(server, "u", u, step))
    call check(tw_field_server_start(server, "m", mesh, step))
    call check(tw_field_server_start(server, "n", tw_field(turned), step))
    do k = 1, levels
      surface = first_step(:, :, k) + 1d6 * step
      call check(tw_field_server_start(server, "q", surface, step, k))
      call check(tw_field_server_wait(server, "q"))
      surface = -7
    end do
    call check(tw_field_server_wait(server, "t"))
    t = -7
    if (step == 4) call check(tw_field_server_end_step(server, step))
    call check(tw_field_server_wait(server))
    u = -7
    mesh = -7
    turned = -7
    if (step /= 4) call check(tw_field_server_end_step(server, step))
  end subroutine start_all

  function file(name)
    character(len=*), intent(in) :: name
    character(len=1000) :: file
    file = trim(folder) // "/" // name // "/000.nc"
  end function file

  subroutine check(status)
    integer, intent(in) :: status
    if (status == tw_ok) return
    print "(a)", tw_last_error()
    error stop 1
  end subroutine check
end program server_kinds
