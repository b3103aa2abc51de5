!> The arrays of Fortran as plans take them: tw_field(array), of any of the element types, one to three dimensions, and
!! any strides. The array must have the attribute target (or be a pointer), as the plan keeps its address: so a compiler
!! knows that calls which do not name the array may read and change it.
!!
!! Nothing here may tell a compiler otherwise. `array` has no intent: a plan may change it later, and a source may be
!! an argument of intent(in) of the caller's. And its address goes to a function of C at once, which no compiler sees
!! into, even if it sees into this module. (A function of intent(in) arguments that calls nothing is pure to gfortran,
!! though it takes an address; and what an array of intent(in) points to is forgotten by a call that was handed it.)
module tradewind_fields
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_ptr, c_null_ptr, c_loc
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use tradewind_interfaces, only: tw_f4, tw_f8, tw_i4, tw_i8, tw_c8, tw_c16
  implicit none
  private
  public :: tw_field

  type, bind(C) :: tw_field
    type(c_ptr) :: data = c_null_ptr
    integer(c_int64_t) :: points(3) = 0
    integer(c_int64_t) :: strides(3) = 0  !< bytes
    integer(c_int32_t) :: element = tw_f8
    integer(c_int32_t) :: dimensions = 0
  end type tw_field

  interface tw_field
    procedure :: real32_1, real32_2, real32_3, real64_1, real64_2, real64_3
    procedure :: int32_1, int32_2, int32_3, int64_1, int64_2, int64_3
    procedure :: complex32_1, complex32_2, complex32_3, complex64_1, complex64_2, complex64_3
  end interface tw_field

  interface
    !> Addresses are passed by value, so that gfortran knows that they are kept.
    function c_field(element, dimensions, points, first, next_x, next_y, next_z) bind(C, name="tw_field_f") &
      result(field)
      import :: c_int, c_int64_t, c_ptr, tw_field
      integer(c_int), value :: element, dimensions
      integer(c_int64_t), intent(in) :: points(3)
      type(c_ptr), value :: first, next_x, next_y, next_z
      type(tw_field) :: field
    end function c_field
  end interface

contains

  function real32_1(array) result(field)
    real(real32), target :: array(:)
    integer(c_int), parameter :: element = tw_f4
    include "field_1.inc"
  end function real32_1

  function real32_2(array) result(field)
    real(real32), target :: array(:, :)
    integer(c_int), parameter :: element = tw_f4
    include "field_2.inc"
  end function real32_2

  function real32_3(array) result(field)
    real(real32), target :: array(:, :, :)
    integer(c_int), parameter :: element = tw_f4
    include "field_3.inc"
  end function real32_3

  function real64_1(array) result(field)
    real(real64), target :: array(:)
    integer(c_int), parameter :: element = tw_f8
    include "field_1.inc"
  end function real64_1

  function real64_2(array) result(field)
    real(real64), target :: array(:, :)
    integer(c_int), parameter :: element = tw_f8
    include "field_2.inc"
  end function real64_2

  function real64_3(array) result(field)
    real(real64), target :: array(:, :, :)
    integer(c_int), parameter :: element = tw_f8
    include "field_3.inc"
  end function real64_3

  function int32_1(array) result(field)
    integer(int32), target :: array(:)
    integer(c_int), parameter :: element = tw_i4
    include "field_1.inc"
  end function int32_1

  function int32_2(array) result(field)
    integer(int32), target :: array(:, :)
    integer(c_int), parameter :: element = tw_i4
    include "field_2.inc"
  end function int32_2

  function int32_3(array) result(field)
    integer(int32), target :: array(:, :, :)
    integer(c_int), parameter :: element = tw_i4
    include "field_3.inc"
  end function int32_3

  function int64_1(array) result(field)
    integer(int64), target :: array(:)
    integer(c_int), parameter :: element = tw_i8
    include "field_1.inc"
  end function int64_1

  function int64_2(array) result(field)
    integer(int64), target :: array(:, :)
    integer(c_int), parameter :: element = tw_i8
    include "field_2.inc"
  end function int64_2

  function int64_3(array) result(field)
    integer(int64), target :: array(:, :, :)
    integer(c_int), parameter :: element = tw_i8
    include "field_3.inc"
  end function int64_3

  function complex32_1(array) result(field)
    complex(real32), target :: array(:)
    integer(c_int), parameter :: element = tw_c8
    include "field_1.inc"
  end function complex32_1

  function complex32_2(array) result(field)
    complex(real32), target :: array(:, :)
    integer(c_int), parameter :: element = tw_c8
    include "field_2.inc"
  end function complex32_2

  function complex32_3(array) result(field)
    complex(real32), target :: array(:, :, :)
    integer(c_int), parameter :: element = tw_c8
    include "field_3.inc"
  end function complex32_3

  function complex64_1(array) result(field)
    complex(real64), target :: array(:)
    integer(c_int), parameter :: element = tw_c16
    include "field_1.inc"
  end function complex64_1

  function complex64_2(array) result(field)
    complex(real64), target :: array(:, :)
    integer(c_int), parameter :: element = tw_c16
    include "field_2.inc"
  end function complex64_2

  function complex64_3(array) result(field)
    complex(real64), target :: array(:, :, :)
    integer(c_int), parameter :: element = tw_c16
    include "field_3.inc"
  end function complex64_3

end module tradewind_fields
