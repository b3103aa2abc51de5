!> A halo of a field on a device, by a pointer to its memory, beside the same on the host, on two ranks. With "output"
!! the field is written and read beside a field server.
!!
!!     mpiexec -n 2 device_fortran [TRANSPORT]
!!     mpiexec -n 1 device_fortran output : -n 1 tradewind serve plan.toml
program device
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08, only: MPI_COMM_WORLD, MPI_Init, MPI_Finalize, MPI_Comm_rank
  use tradewind
  implicit none
  integer, parameter :: nx = 10, ny = 12, nz = 3
  integer, parameter :: bytes = 8 * nx * ny * nz

  !> Functions of the driver of CUDA, with which this program is not linked.
  abstract interface
    function allocated(memory, size) bind(C) result(code)
      import :: c_ptr, c_size_t, c_int
      type(c_ptr), intent(out) :: memory
      integer(c_size_t), value :: size
      integer(c_int) :: code
    end function allocated
    function copied(to, from, size, stream) bind(C) result(code)
      import :: c_ptr, c_size_t, c_int
      type(c_ptr), value :: to, from, stream
      integer(c_size_t), value :: size
      integer(c_int) :: code
    end function copied
    function waited(stream) bind(C) result(code)
      import :: c_ptr, c_int
      type(c_ptr), value :: stream
      integer(c_int) :: code
    end function waited
  end interface
  interface
    function dlopen(name, mode) bind(C) result(library)
      import :: c_char, c_int, c_ptr
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: mode
      type(c_ptr) :: library
    end function dlopen
    function dlsym(library, name) bind(C) result(address)
      import :: c_char, c_ptr, c_funptr
      type(c_ptr), value :: library
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: address
    end function dlsym
  end interface

  real(real64), target :: host(nx, ny, nz), got(nx, ny, nz)
  real(real64), pointer :: on_device(:, :, :)
  procedure(allocated), pointer :: allocate_memory
  procedure(copied), pointer :: to_device, to_host
  procedure(waited), pointer :: wait_for
  type(c_ptr) :: driver, memory, stream
  type(tw_layout) :: blocks
  type(tw_pattern) :: halo
  type(tw_plan) :: plan
  character(len=:), allocatable :: staging
  character(len=12) :: asked
  integer :: rank, i

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  driver = dlopen("libcuda.so.1" // c_null_char, 2)
  if (.not. c_associated(driver)) error stop "no driver"
  call c_f_procpointer(dlsym(driver, "cuMemAlloc_v2" // c_null_char), allocate_memory)
  call c_f_procpointer(dlsym(driver, "cuMemcpyHtoDAsync_v2" // c_null_char), to_device)
  call c_f_procpointer(dlsym(driver, "cuMemcpyDtoHAsync_v2" // c_null_char), to_host)
  call c_f_procpointer(dlsym(driver, "cuStreamSynchronize" // c_null_char), wait_for)
  stream = transfer(1_c_intptr_t, stream)  ! the default one

  host = reshape([(1000 * rank + 0.1_real64 * i, i = 1, size(host))], shape(host))
  got = host
  call must(allocate_memory(memory, int(bytes, c_size_t)))
  call must(to_device(memory, c_loc(got), int(bytes, c_size_t), stream))
  call c_f_pointer(memory, on_device, shape(host))

  call get_command_argument(1, asked)
  if (asked == "output") then
    call output()
    call MPI_Finalize()
    stop
  end if
  call check(tw_blocks(blocks, [12, 8, nz], [2, 1]))
  call check(tw_halo(halo, blocks, 2, [.true., .true.]))
  call check(tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field(on_device)], &
    options=tw_options(stream=stream, transport=trim(asked))))
  call check(tw_plan_call(plan))
  call check(tw_plan_staging(plan, staging))
  if (rank == 0) print "(a)", staging
  call must(to_host(c_loc(got), memory, int(bytes, c_size_t), stream))
  call must(wait_for(stream))
  call check(tw_plan_free(plan))

  call check(tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field(host)]))
  call check(tw_plan_call(plan))
  if (any(got /= host)) error stop "other bits"
  call check(tw_plan_free(plan))
  call MPI_Finalize()

contains

  subroutine output()
    type(tw_field_server) :: server
    call check(tw_field_server_open(server, MPI_COMM_WORLD))
    call check(tw_blocks(blocks, shape(host), [1, 1]))
    call check(tw_field_server_define(server, "t", blocks, tw_regular(nx, ny, 0d0, 0d0, 1d0, 1d0)))
    call check(tw_field_server_write(server, "t", on_device, 0))
    call check(tw_field_server_end_step(server, 0))
    call check(tw_field_server_finish(server))
    got = -1
    call must(to_device(memory, c_loc(got), int(bytes, c_size_t), stream))
    call check(tw_field_server_prefetch(server, ["output/0.nc"]))
    call check(tw_field_server_read(server, "t", on_device, "output/0.nc"))
    call must(to_host(c_loc(got), memory, int(bytes, c_size_t), stream))
    call must(wait_for(stream))
    if (any(got /= host)) error stop "other bits"
    print "(a)", "the bits of the device"
    call check(tw_field_server_close(server))
  end subroutine output

  subroutine check(status)
    integer(c_int), intent(in) :: status
    if (status /= tw_ok) error stop "a status that is not tw_ok"
  end subroutine check

  subroutine must(code)
    integer(c_int), intent(in) :: code
    if (code /= 0) error stop "an error of the driver"
  end subroutine must
end program device
