!> Arrays in memory that the ranks of a node share, for Fortran pointers of every element type.
module tradewind_arrays
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_f_pointer
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use tradewind_interfaces
  use tradewind_fields
  implicit none
  private
  public :: tw_empty

  !> status = tw_empty(array, pattern, side, rank): zeros for a pattern's source or target (tw_source, tw_target) on a
  !! rank, which this process must be, in memory that the ranks of its node share: plans with transport "shared" and
  !! packing "direct" take messages from there without a copy in between. `array`: a pointer of three dimensions with the
  !! bounds of tw_pattern_box, or of one for reductions; null where the status is not tw_ok. Not collective.
  !! tw_release(c_loc(array)) gives it back.
  interface tw_empty
    procedure :: real32_1, real32_3, real64_1, real64_3, int32_1, int32_3, int64_1, int64_3
    procedure :: complex32_1, complex32_3, complex64_1, complex64_3
  end interface tw_empty

  interface
    function c_empty(pattern, side, rank, element, field) bind(C, name="tw_empty") result(status)
      import :: c_int, tw_pattern, tw_field
      type(tw_pattern), value :: pattern
      integer(c_int), value :: side, rank, element
      type(tw_field), intent(inout) :: field
      integer(c_int) :: status
    end function c_empty
  end interface

contains

  !> The memory, and the lowest point in it.
  function new_field(pattern, side, rank, element, field, first) result(status)
    type(tw_pattern), intent(in) :: pattern
    integer, intent(in) :: side, rank, element
    type(tw_field), intent(out) :: field
    integer, intent(out) :: first(3)
    integer(c_int) :: status
    integer(c_int64_t) :: begin(3), end(3)
    begin = 0
    status = c_pattern_box(pattern, int(side, c_int), int(rank, c_int), begin, end)
    if (status == tw_ok) status = c_empty(pattern, int(side, c_int), int(rank, c_int), int(element, c_int), field)
    first = int(begin) + 1
  end function new_field

  function real32_1(array, pattern, side, rank) result(status)
    real(real32), pointer, intent(out) :: array(:)
    integer, parameter :: element = tw_f4
    include "empty_1.inc"
  end function real32_1

  function real32_3(array, pattern, side, rank) result(status)
    real(real32), pointer, intent(out) :: array(:, :, :)
    integer, parameter :: element = tw_f4
    include "empty_3.inc"
  end function real32_3

  function real64_1(array, pattern, side, rank) result(status)
    real(real64), pointer, intent(out) :: array(:)
    integer, parameter :: element = tw_f8
    include "empty_1.inc"
  end function real64_1

  function real64_3(array, pattern, side, rank) result(status)
    real(real64), pointer, intent(out) :: array(:, :, :)
    integer, parameter :: element = tw_f8
    include "empty_3.inc"
  end function real64_3

  function int32_1(array, pattern, side, rank) result(status)
    integer(int32), pointer, intent(out) :: array(:)
    integer, parameter :: element = tw_i4
    include "empty_1.inc"
  end function int32_1

  function int32_3(array, pattern, side, rank) result(status)
    integer(int32), pointer, intent(out) :: array(:, :, :)
    integer, parameter :: element = tw_i4
    include "empty_3.inc"
  end function int32_3

  function int64_1(array, pattern, side, rank) result(status)
    integer(int64), pointer, intent(out) :: array(:)
    integer, parameter :: element = tw_i8
    include "empty_1.inc"
  end function int64_1

  function int64_3(array, pattern, side, rank) result(status)
    integer(int64), pointer, intent(out) :: array(:, :, :)
    integer, parameter :: element = tw_i8
    include "empty_3.inc"
  end function int64_3

  function complex32_1(array, pattern, side, rank) result(status)
    complex(real32), pointer, intent(out) :: array(:)
    integer, parameter :: element = tw_c8
    include "empty_1.inc"
  end function complex32_1

  function complex32_3(array, pattern, side, rank) result(status)
    complex(real32), pointer, intent(out) :: array(:, :, :)
    integer, parameter :: element = tw_c8
    include "empty_3.inc"
  end function complex32_3

  function complex64_1(array, pattern, side, rank) result(status)
    complex(real64), pointer, intent(out) :: array(:)
    integer, parameter :: element = tw_c16
    include "empty_1.inc"
  end function complex64_1

  function complex64_3(array, pattern, side, rank) result(status)
    complex(real64), pointer, intent(out) :: array(:, :, :)
    integer, parameter :: element = tw_c16
    include "empty_3.inc"
  end function complex64_3

end module tradewind_arrays
