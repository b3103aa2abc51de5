!> The arrays of Fortran as plans take them: tw_field(array), of any of the element types, one to three dimensions, and
!! any strides. The array must have the attribute target (or be a pointer), as the plan keeps its address: so a compiler
!! knows that calls which do not name the array may read and change it.
!!
!! Nothing here may let a compiler assume otherwise. `array` has no intent: a plan may change it later, and a source may be
!! an argument of intent(in) of the caller's. And its descriptor goes to a function of C (descriptor.c), and from there
!! its address to libtradewind, which no compiler sees into, even if it sees into this module. Types and numbers of
!! dimensions that no plan takes are refused where the field is used.
module tradewind_fields
  use, intrinsic :: iso_c_binding, only: c_int32_t, c_int64_t, c_ptr, c_null_ptr
  use tradewind_interfaces, only: tw_f8
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
    function c_field(array) bind(C, name="tradewind_field") result(field)
      import :: tw_field
      type(*), dimension(..), target :: array
      type(tw_field) :: field
    end function c_field
  end interface tw_field
end module tradewind_fields
