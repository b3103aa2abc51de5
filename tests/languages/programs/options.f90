!> Options of a plan in tw_options, and queries of a plan, on four ranks: every transport, packing, guard and
!! pretended nodes. Every result is compared with modular arithmetic.
!!
!!     mpiexec -n 4 options_fortran VERSION
program options
  use, intrinsic :: iso_c_binding, only: c_loc, c_double, c_int64_t
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use mpi_f08, only: MPI_COMM_WORLD, MPI_Init, MPI_Finalize, MPI_Comm_rank
  use tradewind
  implicit none
  integer, parameter :: nx = 12, ny = 8, nz = 3, width = 2, own = 5, ranks = 4
  character(len=*), parameter :: transports(12) = [character(len=11) :: "sendrecv", "isend-recv", "send-irecv", &
    "isend-irecv", "even-odd", "persistent", "put-fence", "get-fence", "put-notify", "shared", "neighbor", "alltoallv"]
  integer :: rank, first(3), last(3), i
  integer(c_int64_t) :: messages, bytes, more_messages, same_bytes
  real(c_double) :: seconds(5)
  type(tw_layout) :: blocks
  type(tw_pattern) :: halo
  character(len=16) :: version

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call get_command_argument(1, version)
  call require(tw_version() == trim(version), "another version: " // tw_version())
  call check(tw_blocks(blocks, [nx, ny, nz], [2, 2]))
  call check(tw_halo(halo, blocks, width, [.true., .true.]))
  call check(tw_pattern_box(halo, tw_source, rank, first, last))

  do i = 1, size(transports)
    call exchanged(tw_options(algorithm="direct", transport=transports(i), packing="buffer"), &
      "direct," // trim(transports(i)) // ",buffer")
  end do
  call exchanged(tw_options("direct", "alltoallw", "datatype"), "direct,alltoallw,datatype")
  call exchanged(tw_options(packing="datatype"), "sweep,isend-irecv,datatype")
  call exchanged(tw_options(packing="direct", transport="persistent"), "sweep,persistent,direct")
  call exchanged(tw_options(), "sweep,isend-irecv,buffer", messages, bytes, seconds)
  call require(all_of(seconds == 0), "seconds of a plan that does not record")

  ! Guards and details, one by one: the same points arrive.
  call exchanged(tw_options(largest_message=64), "sweep,isend-irecv,buffer", more_messages, same_bytes)
  call require(more_messages > messages .and. same_bytes == bytes, "messages of any size")
  call exchanged(tw_options(synchronous=.true., pack_ahead=.false.), "sweep,isend-irecv,buffer")
  call exchanged(tw_options(check=.true., watchdog_s=60d0), "sweep,isend-irecv,buffer")
  call exchanged(tw_options(record=.true.), "sweep,isend-irecv,buffer", seconds=seconds)
  call require(minval(seconds) >= 0 .and. sum(seconds) > 0 .and. sum(seconds) < 60, "no seconds, or too many")

  ! As if the four ranks were two nodes of two: one message between nodes, by way of memory inside of them.
  call exchanged(tw_options(algorithm="two-level-2", transport="shared", ranks_per_node=2), "two-level-2,shared,buffer")
  call exchanged(tw_options(algorithm="leaders-2", transport="shared", packing="direct", ranks_per_node=2), &
    "leaders-2,shared,direct")
  call in_shared_memory(tw_options(transport="shared", packing="direct"))
  call in_shared_memory(tw_options(transport="shared", packing="direct", ranks_per_node=2))
  call known_to_all()
  call alone()
  call MPI_Finalize()
  if (rank == 0) print "(a)", "all right"

contains

  !> Value of a point of the periodic grid; x and y from 1.
  pure integer function number(x, y, z)
    integer, intent(in) :: x, y, z
    number = 1 + modulo(x - 1, nx) + 100 * modulo(y - 1, ny) + 10000 * z
  end function number

  !> A rank's own points; 0 in the halo.
  subroutine fill(u)
    real(real64), intent(out) :: u(first(1):, first(2):, first(3):)
    integer :: x, y, z
    u = 0
    do z = first(3), last(3)
      do y = first(2) + width, last(2) - width
        do x = first(1) + width, last(1) - width
          u(x, y, z) = number(x, y, z)
        end do
      end do
    end do
  end subroutine fill

  subroutine compare(u, what)
    real(real64), intent(in) :: u(first(1):, first(2):, first(3):)
    character(len=*), intent(in) :: what
    integer :: x, y, z
    do z = first(3), last(3)
      do y = first(2), last(2)
        do x = first(1), last(1)
          call require(nint(u(x, y, z)) == number(x, y, z), "a wrong point, " // what)
        end do
      end do
    end do
  end subroutine compare

  !> A halo exchange the way that the options say, which is `way`.
  subroutine exchanged(chosen, way, messages, bytes, seconds)
    type(tw_options), intent(in) :: chosen
    character(len=*), intent(in) :: way
    integer(c_int64_t), intent(out), optional :: messages, bytes
    real(c_double), intent(out), optional :: seconds(5)
    real(real64), target :: u(first(1):last(1), first(2):last(2), first(3):last(3))
    character(len=:), allocatable :: text
    integer(c_int64_t) :: sent, volume
    real(c_double) :: spent(5)
    type(tw_plan) :: plan
    integer :: repeat
    call check(tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field(u)], options=chosen))
    call check(tw_plan_way(plan, text))
    call require(text == way, "another way: " // text // ", not " // way)
    do repeat = 1, 2
      call fill(u)
      call check(tw_plan_call(plan))
      call compare(u, way)
    end do
    spent = -1
    call check(tw_plan_seconds(plan, spent))
    if (present(seconds)) seconds = spent
    sent = -1
    volume = -1
    call check(tw_plan_traffic(plan, sent, volume))
    call require(sent >= 0 .and. volume >= 0, "no traffic")
    if (present(messages)) messages = sent
    if (present(bytes)) bytes = volume
    call check(tw_plan_free(plan))
  end subroutine exchanged

  subroutine in_shared_memory(chosen)
    type(tw_options), intent(in) :: chosen
    real(real64), pointer :: u(:, :, :)
    type(tw_plan) :: plan
    call check(tw_empty(u, halo, tw_source, rank))
    call check(tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field(u)], options=chosen))
    call fill(u)
    call check(tw_plan_call(plan))
    call compare(u, "in shared memory")
    call check(tw_plan_free(plan))
    call check(tw_release(c_loc(u(first(1), first(2), first(3)))))
  end subroutine in_shared_memory

  !> Each rank takes all points of the rank behind the next one, and the last of its own, by nodes of two: of a fetch
  !! that all ranks know of, and of one whose lists they send each other for the plan.
  subroutine known_to_all()
    type(tw_points) :: points
    type(tw_pattern) :: fetch, whole
    integer :: other
    other = modulo(rank + 2, ranks)
    call check(tw_points_of_ids(points, MPI_COMM_WORLD, [(own * rank + i, i = 1, own)]))
    call check(tw_points_fetch(fetch, points, [(own * other + i, i = own, 1, -1), own * rank + own]))
    call check(tw_points_known_to_all(whole, points, fetch))
    call passed_on(fetch)
    call passed_on(whole)
    call check(tw_pattern_free(whole))
    call check(tw_pattern_free(fetch))
    call check(tw_points_free(points))
  end subroutine known_to_all

  subroutine passed_on(fetch)
    type(tw_pattern), intent(in) :: fetch
    real(real64), target :: mine(own), theirs(own + 1)
    type(tw_plan) :: plan
    integer :: other
    other = modulo(rank + 2, ranks)
    mine = [(1d0 * (own * rank + i), i = 1, own)]
    theirs = 0
    call check(tw_plan_make(plan, fetch, MPI_COMM_WORLD, [tw_field(mine)], [tw_field(theirs)], &
      tw_options(algorithm="two-level-2", transport="shared", ranks_per_node=2)))
    call check(tw_plan_call(plan))
    call require(all_of(nint(theirs) == [(own * other + i, i = own, 1, -1), own * rank + own]), "a wrong point of a node")
    call check(tw_plan_free(plan))
  end subroutine passed_on

  !> Rank 0 exchanges, the others do not: its watchdog says so.
  subroutine alone()
    real(real64), target :: u(first(1):last(1), first(2):last(2), first(3):last(3))
    type(tw_plan) :: plan
    u = 0
    call check(tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field(u)], options=tw_options(watchdog_s=0.5d0)))
    if (rank /= 0) return
    call require(tw_plan_call(plan) == tw_error_plan, "an exchange without a partner has ended well")
    call require(index(tw_last_error(), "after 0.5 s still waiting for") > 0, "another error: " // tw_last_error())
  end subroutine alone

  logical pure function all_of(right)
    logical, intent(in) :: right(:)
    all_of = count(right) == size(right)
  end function all_of

  subroutine require(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    write (error_unit, "(a,i0,2a)") "rank ", rank, ": ", what
    error stop 1
  end subroutine require

  subroutine check(status)
    integer, intent(in) :: status
    call require(status == tw_ok, tw_last_error())
  end subroutine check
end program options
