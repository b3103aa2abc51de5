!> A loop of calls; the number that failed.
function calls_from_fortran(plan, calls) result(failed) bind(C)
  use, intrinsic :: iso_c_binding, only: c_int
  use tradewind, only: tw_plan, tw_plan_call, tw_ok
  implicit none
  type(tw_plan), value :: plan
  integer(c_int), value :: calls
  integer(c_int) :: failed
  integer :: i
  failed = 0
  do i = 1, calls
    if (tw_plan_call(plan) /= tw_ok) failed = failed + 1
  end do
end function calls_from_fortran
