!> Transforms of spherical harmonics for models, between the points of a Gaussian grid and spectral coefficients.
module tradewind_transforms
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_double, c_char, c_ptr, c_loc, c_null_char
  use tradewind_interfaces
  use tradewind_fields
  implicit none
  private
  public :: tw_transform, tw_transform_options, tw_weighted, tw_plain
  public :: tw_transform_make, tw_transform_make_rows, tw_transform_free
  public :: tw_transform_sizes, tw_transform_levels, tw_transform_coordinates, tw_transform_numbers
  public :: tw_transform_to_grid, tw_transform_to_spectral, tw_transform_wind
  public :: tw_transform_vorticity_divergence, tw_transform_gradient
  public :: tw_transform_to_grid_adjoint, tw_transform_to_spectral_adjoint, tw_transform_wind_adjoint
  public :: tw_transform_vorticity_divergence_adjoint, tw_transform_gradient_adjoint

  type, bind(C) :: tw_transform
    integer(c_int64_t) :: id = 0
  end type tw_transform

  !> Which spectral coefficients a transform keeps, and how it works.
  type :: tw_transform_options
    character(len=16) :: rule = ""  !< linear, quadratic, cubic: which degrees a grid holds; blank: as the degree asks
    character(len=16) :: dealt = ""  !< wavenumbers to ranks: packed (blank), evenly; snake, as ecTrans
    integer :: degree = -1  !< T; -1: the largest of the rule, which for an octahedral grid is cubic, else linear
    integer :: level_sets = 0  !< V; 0: the smallest of 4 or more with V <= W that divides the ranks
    real(c_double) :: radius = 6371229  !< of the sphere, metres: of winds and gradients
    real(c_double) :: watchdog_s = 0  !< an exchange that waits longer fails; 0: no limit
    integer :: element = tw_f8  !< of grid points; or tw_f4
    integer :: threads = 1  !< share out rows and wavenumbers of this rank
  end type tw_transform_options

  !> Spectral coefficients of m > 0 count twice in the products of an adjoint, or as the numbers that are stored.
  enum, bind(C)
    enumerator :: tw_weighted = 0, tw_plain = 1
  end enum

  !> The transform on a grid by its name: "O80", the octahedral grid with 80 latitudes in a hemisphere, or "F80", the
  !! full one: status = tw_transform_make(transform, comm, grid [, options]). Collective.
  interface tw_transform_make
    procedure :: transform_on_integer, transform_on_handle
  end interface tw_transform_make

  !> The same on a Gaussian grid of rows of lengths(i) points, from north to south, alike in both hemispheres:
  !! status = tw_transform_make_rows(transform, comm, lengths [, options]). Collective.
  interface tw_transform_make_rows
    procedure :: rows_on_integer, rows_on_handle
  end interface tw_transform_make_rows

  type, bind(C) :: c_transform_options
    type(c_ptr) :: rule, dealt
    integer(c_int64_t) :: degree, level_sets
    real(c_double) :: radius, watchdog_s
    integer(c_int32_t) :: element, threads
  end type c_transform_options

  !> Fields on the grid are real (points, levels), spectral ones complex (levels, coefficients), each as tw_field(array)
  !! of an array with the attribute target. Collective.
  interface
    !> The inverse transform: grid points from spectral coefficients.
    function tw_transform_to_grid(transform, spectral, grid) bind(C) result(status)
      import :: c_int, tw_transform, tw_field
      type(tw_transform), value :: transform
      type(tw_field), intent(in) :: spectral, grid
      integer(c_int) :: status
    end function tw_transform_to_grid

    !> The direct transform: spectral coefficients from grid points.
    function tw_transform_to_spectral(transform, grid, spectral) bind(C) result(status)
      import :: c_int, tw_transform, tw_field
      type(tw_transform), value :: transform
      type(tw_field), intent(in) :: grid, spectral
      integer(c_int) :: status
    end function tw_transform_to_spectral

    !> The wind to the east and to the north, m/s, from vorticity and divergence, 1/s.
    function tw_transform_wind(transform, vorticity, divergence, u, v) bind(C) result(status)
      import :: c_int, tw_transform, tw_field
      type(tw_transform), value :: transform
      type(tw_field), intent(in) :: vorticity, divergence, u, v
      integer(c_int) :: status
    end function tw_transform_wind

    !> Vorticity and divergence of a wind on the grid.
    function tw_transform_vorticity_divergence(transform, u, v, vorticity, divergence) bind(C) result(status)
      import :: c_int, tw_transform, tw_field
      type(tw_transform), value :: transform
      type(tw_field), intent(in) :: u, v, vorticity, divergence
      integer(c_int) :: status
    end function tw_transform_vorticity_divergence

    !> The gradient to the east and to the north on the grid, per metre.
    function tw_transform_gradient(transform, spectral, east, north) bind(C) result(status)
      import :: c_int, tw_transform, tw_field
      type(tw_transform), value :: transform
      type(tw_field), intent(in) :: spectral, east, north
      integer(c_int) :: status
    end function tw_transform_gradient

    !> The adjoints of all of these: from what they return to what they take. `product`: tw_weighted, coefficients of
    !! m > 0 count twice, or tw_plain.
    function tw_transform_to_grid_adjoint(transform, product, grid, spectral) bind(C) result(status)
      import :: c_int, tw_transform, tw_field
      type(tw_transform), value :: transform
      integer(c_int), value :: product
      type(tw_field), intent(in) :: grid, spectral
      integer(c_int) :: status
    end function tw_transform_to_grid_adjoint

    function tw_transform_to_spectral_adjoint(transform, product, spectral, grid) bind(C) result(status)
      import :: c_int, tw_transform, tw_field
      type(tw_transform), value :: transform
      integer(c_int), value :: product
      type(tw_field), intent(in) :: spectral, grid
      integer(c_int) :: status
    end function tw_transform_to_spectral_adjoint

    function tw_transform_wind_adjoint(transform, product, u, v, vorticity, divergence) bind(C) result(status)
      import :: c_int, tw_transform, tw_field
      type(tw_transform), value :: transform
      integer(c_int), value :: product
      type(tw_field), intent(in) :: u, v, vorticity, divergence
      integer(c_int) :: status
    end function tw_transform_wind_adjoint

    function tw_transform_vorticity_divergence_adjoint(transform, product, vorticity, divergence, u, v) &
        bind(C) result(status)
      import :: c_int, tw_transform, tw_field
      type(tw_transform), value :: transform
      integer(c_int), value :: product
      type(tw_field), intent(in) :: vorticity, divergence, u, v
      integer(c_int) :: status
    end function tw_transform_vorticity_divergence_adjoint

    function tw_transform_gradient_adjoint(transform, product, east, north, spectral) bind(C) result(status)
      import :: c_int, tw_transform, tw_field
      type(tw_transform), value :: transform
      integer(c_int), value :: product
      type(tw_field), intent(in) :: east, north, spectral
      integer(c_int) :: status
    end function tw_transform_gradient_adjoint

    function tw_transform_free(transform) bind(C) result(status)
      import :: c_int, tw_transform
      type(tw_transform), value :: transform
      integer(c_int) :: status
    end function tw_transform_free

    function c_transform_make_f(comm, grid, options, transform) bind(C, name="tw_transform_make_f") result(status)
      import :: c_int, c_char, tw_transform, c_transform_options
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: grid(*)
      type(c_transform_options), intent(in) :: options
      type(tw_transform), intent(out) :: transform
      integer(c_int) :: status
    end function c_transform_make_f

    function c_transform_make_rows_f(comm, rows, lengths, options, transform) &
        bind(C, name="tw_transform_make_rows_f") result(status)
      import :: c_int, c_int64_t, tw_transform, c_transform_options
      integer(c_int), value :: comm
      integer(c_int64_t), value :: rows
      integer(c_int64_t), intent(in) :: lengths(*)
      type(c_transform_options), intent(in) :: options
      type(tw_transform), intent(out) :: transform
      integer(c_int) :: status
    end function c_transform_make_rows_f

    function c_transform_sizes(transform, degree, first, points, coefficients) &
        bind(C, name="tw_transform_sizes") result(status)
      import :: c_int, c_int64_t, tw_transform
      type(tw_transform), value :: transform
      integer(c_int64_t), intent(inout) :: degree, first, points, coefficients
      integer(c_int) :: status
    end function c_transform_sizes

    function c_transform_levels(transform, levels, first, count) bind(C, name="tw_transform_levels") result(status)
      import :: c_int, c_int64_t, tw_transform
      type(tw_transform), value :: transform
      integer(c_int64_t), value :: levels
      integer(c_int64_t), intent(inout) :: first, count
      integer(c_int) :: status
    end function c_transform_levels

    function c_transform_coordinates(transform, longitude, latitude) &
        bind(C, name="tw_transform_coordinates") result(status)
      import :: c_int, c_double, tw_transform
      type(tw_transform), value :: transform
      real(c_double), intent(inout) :: longitude(*), latitude(*)
      integer(c_int) :: status
    end function c_transform_coordinates

    function c_transform_numbers(transform, m, n) bind(C, name="tw_transform_numbers") result(status)
      import :: c_int, c_int64_t, tw_transform
      type(tw_transform), value :: transform
      integer(c_int64_t), intent(inout) :: m(*), n(*)
      integer(c_int) :: status
    end function c_transform_numbers
  end interface

contains

  function transform_on_integer(transform, comm, grid, options) result(status)
    type(tw_transform), intent(out) :: transform
    integer, intent(in) :: comm
    character(len=*), intent(in) :: grid
    type(tw_transform_options), intent(in), optional :: options
    integer(c_int) :: status
    character(len=17, kind=c_char), target :: names(2)
    status = c_transform_make_f(int(comm, c_int), trim(grid) // c_null_char, c_options_of(names, options), transform)
  end function transform_on_integer

  function transform_on_handle(transform, comm, grid, options) result(status)
    type(tw_transform), intent(out) :: transform
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: grid
    type(tw_transform_options), intent(in), optional :: options
    integer(c_int) :: status
    status = transform_on_integer(transform, comm%MPI_VAL, grid, options)
  end function transform_on_handle

  function rows_on_integer(transform, comm, lengths, options) result(status)
    type(tw_transform), intent(out) :: transform
    integer, intent(in) :: comm
    integer, intent(in) :: lengths(:)
    type(tw_transform_options), intent(in), optional :: options
    integer(c_int) :: status
    character(len=17, kind=c_char), target :: names(2)
    status = c_transform_make_rows_f(int(comm, c_int), size(lengths, kind=c_int64_t), int(lengths, c_int64_t), &
                                     c_options_of(names, options), transform)
  end function rows_on_integer

  function rows_on_handle(transform, comm, lengths, options) result(status)
    type(tw_transform), intent(out) :: transform
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: lengths(:)
    type(tw_transform_options), intent(in), optional :: options
    integer(c_int) :: status
    status = rows_on_integer(transform, comm%MPI_VAL, lengths, options)
  end function rows_on_handle

  !> `names`: memory of their texts.
  function c_options_of(names, options) result(given)
    character(len=17, kind=c_char), intent(out), target :: names(2)
    type(tw_transform_options), intent(in), optional :: options
    type(c_transform_options) :: given
    type(tw_transform_options) :: chosen
    if (present(options)) chosen = options
    names = [character(len=17) :: trim(chosen%rule) // c_null_char, trim(chosen%dealt) // c_null_char]
    given = c_transform_options(c_loc(names(1)), c_loc(names(2)), int(chosen%degree, c_int64_t), &
      int(chosen%level_sets, c_int64_t), chosen%radius, chosen%watchdog_s, int(chosen%element, c_int32_t), &
      int(chosen%threads, c_int32_t))
  end function c_options_of

  !> The truncation's degree T; the rank's first point, from 1, in the order of the grid, rows from the north, each from
  !! the Greenwich meridian to the east; the number of its points; that of its coefficients.
  function tw_transform_sizes(transform, degree, first, points, coefficients) result(status)
    type(tw_transform), intent(in) :: transform
    integer, intent(out) :: degree, first, points, coefficients
    integer(c_int) :: status
    integer(c_int64_t) :: found(4)
    found = 0
    status = c_transform_sizes(transform, found(1), found(2), found(3), found(4))
    degree = int(found(1))
    first = int(found(2)) + 1
    points = int(found(3))
    coefficients = int(found(4))
  end function tw_transform_sizes

  !> The levels of the rank in spectral space, of `levels` in all: the first, from 1, and how many.
  function tw_transform_levels(transform, levels, first, count) result(status)
    type(tw_transform), intent(in) :: transform
    integer, intent(in) :: levels
    integer, intent(out) :: first, count
    integer(c_int) :: status
    integer(c_int64_t) :: begin, number
    begin = 0
    number = 0
    status = c_transform_levels(transform, int(levels, c_int64_t), begin, number)
    first = int(begin) + 1
    count = int(number)
  end function tw_transform_levels

  !> Longitude and latitude of each point of the rank, in degrees.
  function tw_transform_coordinates(transform, longitude, latitude) result(status)
    type(tw_transform), intent(in) :: transform
    real(c_double), allocatable, intent(out) :: longitude(:), latitude(:)
    integer(c_int) :: status
    integer :: degree, first, points, coefficients
    status = tw_transform_sizes(transform, degree, first, points, coefficients)
    allocate(longitude(points), latitude(points))
    if (status == tw_ok) status = c_transform_coordinates(transform, longitude, latitude)
  end function tw_transform_coordinates

  !> m and n of each coefficient of the rank: for each of its wavenumbers the degrees m to T.
  function tw_transform_numbers(transform, m, n) result(status)
    type(tw_transform), intent(in) :: transform
    integer, allocatable, intent(out) :: m(:), n(:)
    integer(c_int) :: status
    integer(c_int64_t), allocatable :: wide_m(:), wide_n(:)
    integer :: degree, first, points, coefficients
    status = tw_transform_sizes(transform, degree, first, points, coefficients)
    allocate(wide_m(coefficients), wide_n(coefficients))
    if (status == tw_ok) status = c_transform_numbers(transform, wide_m, wide_n)
    m = int(wide_m)
    n = int(wide_n)
  end function tw_transform_numbers
end module tradewind_transforms
