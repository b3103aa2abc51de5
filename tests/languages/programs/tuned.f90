!> The same as tuned.c.
program tuned
  use mpi_f08, only: MPI_COMM_WORLD, MPI_Init, MPI_Finalize, MPI_Comm_rank
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, real32, real64
  use tradewind
  implicit none
  integer :: rank, out
  character(len=1024) :: folder
  character(len=1) :: number
  type(tw_layout) :: blocks, lines
  type(tw_pattern) :: halo, transpose, addition, fetch, adjoint
  type(tw_points) :: own
  real(real64), target :: a(10, 12, 3), b(10, 12, 3), here(5, 3, 2), there(2, 3, 2)
  real(real32), target :: from(6, 8, 3), to(12, 4, 3)
  real(real64), pointer :: one(:, :, :), other(:, :, :)
  integer(int32), target :: vector(7)
  type(tw_plan) :: plan

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call get_command_argument(1, folder)
  write (number, "(i1)") rank
  open (newunit=out, file=trim(folder) // "/" // number, action="write")
  call check(tw_blocks(blocks, [12, 8, 3], [2, 1]))
  call check(tw_blocks(lines, [12, 8, 3], [1, 2], "zy"))
  call check(tw_halo(halo, blocks, 2, periodic=[.true., .false.]))
  call check(tw_transpose(transpose, blocks, lines))
  call check(tw_allreduce(addition, 2, 7))
  call check(tw_points_of_count(own, MPI_COMM_WORLD, 5))
  call check(tw_points_fetch_listed(fetch, own, [1 - rank, 1 - rank], [1, 5]))
  call check(tw_adjoint(adjoint, fetch))
  a = 0
  b = 0
  here = 0
  there = 0
  from = 0
  vector = 0
  call planned("halo", halo, [tw_field(a), tw_field(b)])
  call check(tw_empty(one, halo, tw_source, rank))
  call check(tw_empty(other, halo, tw_source, rank))
  call planned("halo in shared memory", halo, [tw_field(one), tw_field(other)])
  call planned("halo of one field", halo, [tw_field(a)])
  call planned("halo by argument", halo, [tw_field(a), tw_field(b)], transport="persistent")
  call planned("transpose", transpose, [tw_field(from)], [tw_field(to)])
  call planned("allreduce", addition, [tw_field(vector)])
  call planned("fetch", fetch, [tw_field(here)], [tw_field(there)])
  call planned("adjoint", adjoint, [tw_field(there)], [tw_field(here)])
  call check(tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field(a), tw_field(b)], &
    options=tw_options(algorithm="sweep", transport="isend-irecv", packing="buffer")))
  call check(tw_record_begin(MPI_COMM_WORLD))
  call check(tw_plan_start(plan))
  call check(tw_plan_wait(plan))
  call check(tw_record_end(trim(folder) // "/step.toml"))
  call check(tw_plan_free(plan))
  close (out)
  call MPI_Finalize()

contains

  subroutine planned(name, pattern, fields, targets, transport)
    character(len=*), intent(in) :: name
    type(tw_pattern), intent(in) :: pattern
    type(tw_field), intent(in) :: fields(:)
    type(tw_field), intent(in), optional :: targets(:)
    character(len=*), intent(in), optional :: transport
    type(tw_options) :: options
    type(tw_plan) :: plan
    character(len=:), allocatable :: way, origin
    integer :: status
    if (present(transport)) options%transport = transport
    status = tw_plan_make(plan, pattern, MPI_COMM_WORLD, fields, targets, options)
    if (status /= tw_ok) then
      write (out, "(2a,i0,2a)") name, "|", status, "|", tw_last_error()
      return
    end if
    call check(tw_plan_way(plan, way))
    call check(tw_plan_origin(plan, origin))
    write (out, "(5a)") name, "|0|", way, "|", origin
    call check(tw_plan_call(plan))
    call check(tw_plan_free(plan))
  end subroutine planned

  subroutine check(status)
    integer, intent(in) :: status
    if (status == tw_ok) return
    write (error_unit, "(a)") tw_last_error()
    error stop 1
  end subroutine check
end program tuned
