!> Errors that only Fortran can make, on two ranks. Each rank writes "case|status|text" for every case into FOLDER/RANK.
program refusals
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use mpi_f08, only: MPI_COMM_WORLD, MPI_Init, MPI_Finalize, MPI_Comm_rank
  use tradewind
  implicit none
  integer :: rank, out, status, first(3), last(3), over
  integer(c_int64_t) :: messages, bytes
  real(c_double) :: seconds(5)
  type(tw_layout) :: blocks, pencils, nothing
  type(tw_pattern) :: halo, move, addition, pattern
  type(tw_plan) :: plan, never, other
  real(real64), target :: u(6 + 4, 8 + 4, 3), row(360), level(10, 12), none(10, 12, 0), before(6, 8, 3), after(12, 8, 2)
  real(real32), target :: single(10, 12, 3)
  real(real64), target :: four(10, 12, 3, 1), scalar
  real(real64), allocatable, target :: missing(:, :, :)
  logical, target :: flags(10, 12, 3)
  real(real64), pointer :: unset(:, :, :)
  type(tw_options) :: options
  character(len=256) :: folder
  character(len=8) :: number
  character(len=:), allocatable :: text

  status = tw_blocks(blocks, [12, 8, 3], [2, 1])
  status = tw_pencils(pencils, [12, 8, 3], [2, 1], "x")
  status = tw_halo(halo, blocks, 2, [.true., .true.])
  status = tw_transpose(move, blocks, pencils)
  status = tw_allreduce(addition, 2, 360)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call get_command_argument(1, folder)
  write (number, "(i0)") rank
  open (newunit=out, file=trim(folder) // "/" // trim(number), status="replace", recl=4096)
  u = 0
  row = 0
  level = 0
  single = 0
  four = 0
  scalar = 0
  flags = .false.

  call met("zero_extent", tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field(none)]))
  call met("zero_extent_on_one_rank", tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field(u(:, :, 1:3 - 3 * rank))]))
  call met("rank_1", tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field(row)]))
  call met("rank_2", tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field(level)]))
  call met("rank_3", tw_plan_make(plan, addition, MPI_COMM_WORLD, [tw_field(u)]))
  call met("rank_4", tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field(four)]))
  call met("scalar", tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field(scalar)]))
  call met("other_type", tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field(flags)]))
  call met("other_type_on_one_rank", tw_plan_make(plan, halo, MPI_COMM_WORLD, [flags_on(rank == 1)]))
  call met("not_allocated", tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field(missing)]))
  call met("extents", tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field(u(2:, :, :))]))
  call met("kinds", tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field(u), tw_field(single)]))
  call met("no_targets", tw_plan_make(plan, move, MPI_COMM_WORLD, [tw_field(before)]))
  call met("more_targets", tw_plan_make(plan, move, MPI_COMM_WORLD, [tw_field(before)], [tw_field(after), tw_field(after)]))
  call met("no_fields", tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field ::]))
  call met("never_made", tw_plan_call(never))
  call met("layout_never_made", tw_halo(pattern, nothing, 1))
  call met("pattern_after_failure", tw_plan_make(plan, pattern, MPI_COMM_WORLD, [tw_field(u)]))
  call met("empty_rank", tw_empty(unset, halo, tw_source, 2))
  if (associated(unset)) call met("a refused array is associated", tw_ok)
  options%algorithm = "ring-2"
  call met("algorithm", tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field(u)], options=options))
  options = tw_options(operation="mean")
  call met("operation", tw_plan_make(plan, addition, MPI_COMM_WORLD, [tw_field(row)], options=options))

  call met("made", tw_plan_make(plan, halo, MPI_COMM_WORLD, [tw_field(u)]))
  call met("wait_first", tw_plan_wait(plan))
  call met("poke_first", tw_plan_poke(plan, over))
  call met("pokes", tw_plan_pokes(plan, over))
  if (over /= 1) call met("isend-irecv does not poke", tw_error_internal)
  call met("text", tw_plan_text(plan, text))
  if (text /= "halo of width 2, periodic in xy, sweep") call met("another text: " // text, tw_error_internal)
  call met("free", tw_plan_free(plan))
  call met("call_after_free", tw_plan_call(plan))
  call met("text_after_free", tw_plan_text(plan, text))
  if (len(text) /= 0) call met("a text without a plan", tw_ok)
  call met("way_after_free", tw_plan_way(plan, text))
  call met("origin_after_free", tw_plan_origin(plan, text))
  call met("start_after_free", tw_plan_start(plan))
  call met("wait_after_free", tw_plan_wait(plan))
  call met("traffic_after_free", tw_plan_traffic(plan, messages, bytes))
  call met("seconds_after_free", tw_plan_seconds(plan, seconds))
  call met("free_twice", tw_plan_free(plan))

  call met("free_layout", tw_layout_free(pencils))
  call met("free_layout_twice", tw_layout_free(pencils))
  call met("box_of_freed_layout", tw_layout_box(pencils, rank, first, last))
  call met("halo_of_freed_layout", tw_halo(pattern, pencils, 1))
  call met("transpose_of_freed_layout", tw_transpose(pattern, blocks, pencils))
  call met("plan_of_pattern_that_outlives", tw_plan_make(plan, move, MPI_COMM_WORLD, [tw_field(before)], &
    [tw_field(after(:, :, :2 - rank))]))
  call met("free_pattern", tw_pattern_free(move))
  call met("free_pattern_twice", tw_pattern_free(move))
  call met("box_of_freed_pattern", tw_pattern_box(move, tw_source, rank, first, last))
  call met("plan_of_freed_pattern", tw_plan_make(other, move, MPI_COMM_WORLD, [tw_field(before)], [tw_field(after)]))
  call met("call_of_plan_that_outlives", tw_plan_call(plan))
  call met("free_last", tw_plan_free(plan))
  close (out)
  call MPI_Finalize()

contains

  type(tw_field) function flags_on(wrong)
    logical, intent(in) :: wrong
    flags_on = tw_field(u)
    if (wrong) flags_on = tw_field(flags)
  end function flags_on

  subroutine met(name, status)
    character(len=*), intent(in) :: name
    integer, intent(in) :: status
    character(len=:), allocatable :: text
    text = ""
    if (status /= tw_ok) text = tw_last_error()
    write (out, "(a,'|',i0,'|',a)") name, status, text
  end subroutine met
end program refusals
