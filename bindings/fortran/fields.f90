!> The arrays of Fortran as plans take them: tw_field(array), of any of the element types, one to three dimensions, and
!! any strides. The array must have the attribute target (or be a pointer), as the plan keeps its address.
module tradewind_fields
  use, intrinsic :: iso_c_binding, only: c_int32_t, c_int64_t, c_intptr_t, c_ptr, c_null_ptr, c_loc
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

contains

  !> Of an array of a shape. `corners`: the addresses of its first point and of the next along each direction.
  function described(element, points, corners) result(field)
    integer, intent(in) :: element, points(:)
    type(c_ptr), intent(in) :: corners(0:)
    type(tw_field) :: field
    integer :: i
    field%data = corners(0)
    field%points = 1
    field%points(1:size(points)) = points
    do i = 1, size(points)
      field%strides(i) = transfer(corners(i), 0_c_intptr_t) - transfer(corners(0), 0_c_intptr_t)
    end do
    field%element = int(element, c_int32_t)
    field%dimensions = int(size(points), c_int32_t)
  end function described

  !> Of an array without points.
  function empty(element, points) result(field)
    integer, intent(in) :: element, points(:)
    type(tw_field) :: field
    field = described(element, points, spread(c_null_ptr, 1, size(points) + 1))
  end function empty

  function real32_1(array) result(field)
    real(real32), intent(in), target :: array(:)
    integer, parameter :: element = tw_f4
    include "field_1.inc"
  end function real32_1

  function real32_2(array) result(field)
    real(real32), intent(in), target :: array(:, :)
    integer, parameter :: element = tw_f4
    include "field_2.inc"
  end function real32_2

  function real32_3(array) result(field)
    real(real32), intent(in), target :: array(:, :, :)
    integer, parameter :: element = tw_f4
    include "field_3.inc"
  end function real32_3

  function real64_1(array) result(field)
    real(real64), intent(in), target :: array(:)
    integer, parameter :: element = tw_f8
    include "field_1.inc"
  end function real64_1

  function real64_2(array) result(field)
    real(real64), intent(in), target :: array(:, :)
    integer, parameter :: element = tw_f8
    include "field_2.inc"
  end function real64_2

  function real64_3(array) result(field)
    real(real64), intent(in), target :: array(:, :, :)
    integer, parameter :: element = tw_f8
    include "field_3.inc"
  end function real64_3

  function int32_1(array) result(field)
    integer(int32), intent(in), target :: array(:)
    integer, parameter :: element = tw_i4
    include "field_1.inc"
  end function int32_1

  function int32_2(array) result(field)
    integer(int32), intent(in), target :: array(:, :)
    integer, parameter :: element = tw_i4
    include "field_2.inc"
  end function int32_2

  function int32_3(array) result(field)
    integer(int32), intent(in), target :: array(:, :, :)
    integer, parameter :: element = tw_i4
    include "field_3.inc"
  end function int32_3

  function int64_1(array) result(field)
    integer(int64), intent(in), target :: array(:)
    integer, parameter :: element = tw_i8
    include "field_1.inc"
  end function int64_1

  function int64_2(array) result(field)
    integer(int64), intent(in), target :: array(:, :)
    integer, parameter :: element = tw_i8
    include "field_2.inc"
  end function int64_2

  function int64_3(array) result(field)
    integer(int64), intent(in), target :: array(:, :, :)
    integer, parameter :: element = tw_i8
    include "field_3.inc"
  end function int64_3

  function complex32_1(array) result(field)
    complex(real32), intent(in), target :: array(:)
    integer, parameter :: element = tw_c8
    include "field_1.inc"
  end function complex32_1

  function complex32_2(array) result(field)
    complex(real32), intent(in), target :: array(:, :)
    integer, parameter :: element = tw_c8
    include "field_2.inc"
  end function complex32_2

  function complex32_3(array) result(field)
    complex(real32), intent(in), target :: array(:, :, :)
    integer, parameter :: element = tw_c8
    include "field_3.inc"
  end function complex32_3

  function complex64_1(array) result(field)
    complex(real64), intent(in), target :: array(:)
    integer, parameter :: element = tw_c16
    include "field_1.inc"
  end function complex64_1

  function complex64_2(array) result(field)
    complex(real64), intent(in), target :: array(:, :)
    integer, parameter :: element = tw_c16
    include "field_2.inc"
  end function complex64_2

  function complex64_3(array) result(field)
    complex(real64), intent(in), target :: array(:, :, :)
    integer, parameter :: element = tw_c16
    include "field_3.inc"
  end function complex64_3

end module tradewind_fields
