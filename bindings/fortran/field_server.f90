!> Output and input that do not stop a model: servers beside it encode, write and read ahead. They are started in the same
!! job, mpiexec -n 12 ./model : -n 1 tradewind serve plan.toml. All but tw_field_server_wants are collective over the ranks
!! of the model, in the same order on all.
module tradewind_field_server
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_double, c_char, c_ptr, c_null_ptr, c_null_char, &
    c_loc
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use tradewind_interfaces
  use tradewind_fields
  implicit none
  private
  public :: tw_field_server, tw_geometry, tw_regular, tw_gaussian, tw_spectral, tw_unstructured
  public :: tw_lambert, tw_polar_stereographic, tw_rotated, tw_curvilinear
  public :: tw_field_server_open, tw_field_server_comm, tw_field_server_define, tw_field_server_define_points
  public :: tw_field_server_wants, tw_field_server_write, tw_field_server_start, tw_field_server_wait
  public :: tw_field_server_end_step, tw_field_server_prefetch
  public :: tw_field_server_read, tw_field_server_finish, tw_field_server_close

  type, bind(C) :: tw_field_server
    integer(c_int64_t) :: id = 0
  end type tw_field_server

  !> The horizontal grid of a field, as files describe it.
  type :: tw_geometry
    private
    integer(c_int32_t) :: kind = -1
    integer(c_int64_t) :: nx = 0, ny = 0
    integer(c_int64_t), allocatable :: rows(:)
    real(c_double) :: longitude = 0, latitude = 0, dx = 0, dy = 0
    real(c_double), allocatable :: longitudes(:), latitudes(:)
    real(c_double) :: projection(3) = 0, radius = 0
    character(len=:), allocatable :: uuid
    integer(c_int32_t) :: grid_number = 0, grid_in_reference = 0
  end type tw_geometry

  type, bind(C) :: c_geometry
    integer(c_int32_t) :: kind
    integer(c_int64_t) :: nx, ny
    type(c_ptr) :: rows
    real(c_double) :: longitude, latitude, dx, dy
    type(c_ptr) :: longitudes, latitudes
    real(c_double) :: projection(3), radius
    type(c_ptr) :: uuid
    integer(c_int32_t) :: grid_number, grid_in_reference
  end type c_geometry

  type, bind(C) :: c_description
    integer(c_int64_t) :: levels
    type(c_ptr) :: level, level_type, units, long_name, standard_name, grib
    integer(c_int32_t) :: element, axis
  end type c_description

  !> Texts of C and numbers of levels that a description points to.
  type :: description_memory
    character(len=:), allocatable :: level_type, units, long_name, standard_name, grib
    real(c_double), allocatable :: level(:)
  end type description_memory

  integer(c_int32_t), parameter :: regular = 0, gaussian = 1, spectral = 2, unstructured = 3, lambert = 4, &
    polar_stereographic = 5, rotated = 6, curvilinear = 7

  !> status = tw_field_server_open(server, comm [, plan]): join the servers. `comm` holds all ranks of the model and all
  !! servers, as MPI_COMM_WORLD does. Where no rank is a server, the library starts local servers beside the model, with
  !! the plan file `plan` of the first rank, or else of its environment variable TRADEWIND_PLAN; without either all ranks
  !! get tw_error_input.
  interface tw_field_server_open
    procedure :: open_on_integer, open_on_handle
  end interface tw_field_server_open

  !> status = tw_field_server_comm(comm, server): the communicator of the model's ranks, in place of that of open.
  interface tw_field_server_comm
    procedure :: comm_as_integer, comm_as_handle
  end interface tw_field_server_comm

  !> status = tw_field_server_write(server, name, values, step [, level]): give this rank's part of a field of a step; the
  !! array is the model's again at once. `values`: real, of one to three dimensions, or a tw_field. `level`: the place,
  !! from 1, of the one level that is written, where the layout has one and the field several.
  interface tw_field_server_write
    procedure :: write_field, write_real32, write_real64
  end interface tw_field_server_write

  !> status = tw_field_server_start(server, name, values, step [, level]): the same without a copy: the array must stay as it
  !! is until tw_field_server_wait returns. It must have the attribute target (or be a pointer), so that the compiler knows
  !! that calls which do not name it read it; it may be a section, but no expression, and must outlive the wait. An array
  !! of intent(in) is given as tw_field(values).
  interface tw_field_server_start
    procedure :: start_field, start_real32, start_real64
  end interface tw_field_server_start

  !> status = tw_field_server_read(server, name, values, path): fill this rank's part of a field from a file that
  !! tw_field_server_prefetch has named; waits where the file is late.
  interface tw_field_server_read
    procedure :: read_field, read_real32, read_real64
  end interface tw_field_server_read

  interface
    function c_server_open(comm, plan, server) bind(C, name="tw_field_server_open_plan_f") result(status)
      import :: c_int, c_char, tw_field_server
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: plan(*)
      type(tw_field_server), intent(out) :: server
      integer(c_int) :: status
    end function c_server_open

    function c_server_comm(server, comm) bind(C, name="tw_field_server_comm_f") result(status)
      import :: c_int, tw_field_server
      type(tw_field_server), value :: server
      integer(c_int), intent(inout) :: comm
      integer(c_int) :: status
    end function c_server_comm

    function c_server_define(server, name, layout, geometry, description) bind(C, name="tw_field_server_define") &
        result(status)
      import :: c_int, c_char, tw_field_server, tw_layout, c_geometry, c_description
      type(tw_field_server), value :: server
      character(kind=c_char), intent(in) :: name(*)
      type(tw_layout), value :: layout
      type(c_geometry), intent(in) :: geometry
      type(c_description), intent(in) :: description
      integer(c_int) :: status
    end function c_server_define

    function c_server_define_points(server, name, points, ids, geometry, description) &
        bind(C, name="tw_field_server_define_points") result(status)
      import :: c_int, c_int64_t, c_char, tw_field_server, c_geometry, c_description
      type(tw_field_server), value :: server
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: points
      integer(c_int64_t), intent(in) :: ids(*)
      type(c_geometry), intent(in) :: geometry
      type(c_description), intent(in) :: description
      integer(c_int) :: status
    end function c_server_define_points

    function c_server_wants(server, name, step, wants) bind(C, name="tw_field_server_wants") result(status)
      import :: c_int, c_int64_t, c_char, tw_field_server
      type(tw_field_server), value :: server
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: step
      integer(c_int), intent(inout) :: wants
      integer(c_int) :: status
    end function c_server_wants

    function c_server_write(server, name, values, step, level) bind(C, name="tw_field_server_write") result(status)
      import :: c_int, c_int64_t, c_char, tw_field_server, tw_field
      type(tw_field_server), value :: server
      character(kind=c_char), intent(in) :: name(*)
      type(tw_field), intent(in) :: values
      integer(c_int64_t), value :: step, level
      integer(c_int) :: status
    end function c_server_write

    function c_server_start(server, name, values, step, level) bind(C, name="tw_field_server_start") result(status)
      import :: c_int, c_int64_t, c_char, tw_field_server, tw_field
      type(tw_field_server), value :: server
      character(kind=c_char), intent(in) :: name(*)
      type(tw_field), intent(in) :: values
      integer(c_int64_t), value :: step, level
      integer(c_int) :: status
    end function c_server_start

    function c_server_wait(server, name) bind(C, name="tw_field_server_wait") result(status)
      import :: c_int, c_ptr, tw_field_server
      type(tw_field_server), value :: server
      type(c_ptr), value :: name
      integer(c_int) :: status
    end function c_server_wait

    function c_server_end_step(server, step) bind(C, name="tw_field_server_end_step") result(status)
      import :: c_int, c_int64_t, tw_field_server
      type(tw_field_server), value :: server
      integer(c_int64_t), value :: step
      integer(c_int) :: status
    end function c_server_end_step

    function c_server_prefetch(server, count, paths) bind(C, name="tw_field_server_prefetch") result(status)
      import :: c_int, c_int64_t, c_ptr, tw_field_server
      type(tw_field_server), value :: server
      integer(c_int64_t), value :: count
      type(c_ptr), intent(in) :: paths(*)
      integer(c_int) :: status
    end function c_server_prefetch

    function c_server_read(server, name, values, path) bind(C, name="tw_field_server_read") result(status)
      import :: c_int, c_char, tw_field_server, tw_field
      type(tw_field_server), value :: server
      character(kind=c_char), intent(in) :: name(*), path(*)
      type(tw_field), intent(in) :: values
      integer(c_int) :: status
    end function c_server_read

    !> Wait until all steps that have ended are on the disk.
    function tw_field_server_finish(server) bind(C) result(status)
      import :: c_int, tw_field_server
      type(tw_field_server), value :: server
      integer(c_int) :: status
    end function tw_field_server_finish

    !> The same, and let the servers end. The handle is freed in any case.
    function tw_field_server_close(server) bind(C) result(status)
      import :: c_int, tw_field_server
      type(tw_field_server), value :: server
      integer(c_int) :: status
    end function tw_field_server_close
  end interface

contains

  !> nx longitudes and ny latitudes: point (i, j) at (longitude + (i - 1) dx, latitude + (j - 1) dy), in degrees.
  function tw_regular(nx, ny, longitude, latitude, dx, dy) result(geometry)
    integer, intent(in) :: nx, ny
    real(real64), intent(in) :: longitude, latitude, dx, dy
    type(tw_geometry) :: geometry
    geometry = in_rows(regular, nx, ny, longitude, latitude, dx, dy)
  end function tw_regular

  !> A Gaussian grid, full or reduced, row j from the north of rows(j) points.
  function tw_gaussian(rows) result(geometry)
    integer, intent(in) :: rows(:)
    type(tw_geometry) :: geometry
    geometry%kind = gaussian
    geometry%ny = size(rows)
    geometry%rows = int(rows, c_int64_t)
  end function tw_gaussian

  !> Coefficients of spherical harmonics, triangular truncation, as GRIB orders them.
  function tw_spectral(truncation) result(geometry)
    integer, intent(in) :: truncation
    type(tw_geometry) :: geometry
    geometry%kind = spectral
    geometry%nx = truncation
  end function tw_spectral

  !> Points in the order of their numbers. Coordinates in degrees, of all points, are read on the model's first rank.
  !! `uuid`: by which GRIB names the grid, computed from the coordinates where it is absent; `grid_number` and
  !! `grid_in_reference`: numbers of the grid and of its kind of points there.
  function tw_unstructured(count, longitudes, latitudes, uuid, grid_number, grid_in_reference) result(geometry)
    integer, intent(in) :: count
    real(real64), intent(in), optional :: longitudes(:), latitudes(:)
    character(len=*), intent(in), optional :: uuid
    integer, intent(in), optional :: grid_number, grid_in_reference
    type(tw_geometry) :: geometry
    geometry%kind = unstructured
    geometry%nx = count
    if (present(longitudes)) geometry%longitudes = longitudes
    if (present(latitudes)) geometry%latitudes = latitudes
    if (present(uuid)) geometry%uuid = trim(uuid) // c_null_char
    if (present(grid_number)) geometry%grid_number = int(grid_number, c_int32_t)
    if (present(grid_in_reference)) geometry%grid_in_reference = int(grid_in_reference, c_int32_t)
  end function tw_unstructured

  !> nx x ny points on Lambert's conformal map: point (i, j) is (i - 1) dx and (j - 1) dy metres, along x and y, from the
  !! first one, at (longitude, latitude). y runs along the meridian `orientation`; lengths are true at two parallels, which
  !! may be one. The Earth is a sphere of `radius`, 6371229 m where it is absent.
  function tw_lambert(nx, ny, longitude, latitude, dx, dy, orientation, parallel, second_parallel, radius) &
      result(geometry)
    integer, intent(in) :: nx, ny
    real(real64), intent(in) :: longitude, latitude, dx, dy, orientation, parallel, second_parallel
    real(real64), intent(in), optional :: radius
    type(tw_geometry) :: geometry
    geometry = in_rows(lambert, nx, ny, longitude, latitude, dx, dy, [orientation, parallel, second_parallel])
    if (present(radius)) geometry%radius = radius
  end function tw_lambert

  !> The same on the stereographic map around a pole: that of the hemisphere of `true_latitude`, where lengths are true. y
  !! runs along the meridian `orientation` to where latitude increases.
  function tw_polar_stereographic(nx, ny, longitude, latitude, dx, dy, orientation, true_latitude, radius) &
      result(geometry)
    integer, intent(in) :: nx, ny
    real(real64), intent(in) :: longitude, latitude, dx, dy, orientation, true_latitude
    real(real64), intent(in), optional :: radius
    type(tw_geometry) :: geometry
    geometry = in_rows(polar_stereographic, nx, ny, longitude, latitude, dx, dy, [orientation, true_latitude, 0d0])
    if (present(radius)) geometry%radius = radius
  end function tw_polar_stereographic

  !> A grid of longitudes and latitudes, as tw_regular, of a sphere whose north pole is moved to (pole_longitude,
  !! pole_latitude); `longitude` and `latitude` are those of that sphere.
  function tw_rotated(nx, ny, longitude, latitude, dx, dy, pole_longitude, pole_latitude) result(geometry)
    integer, intent(in) :: nx, ny
    real(real64), intent(in) :: longitude, latitude, dx, dy, pole_longitude, pole_latitude
    type(tw_geometry) :: geometry
    geometry = in_rows(rotated, nx, ny, longitude, latitude, dx, dy, [pole_longitude, pole_latitude, 0d0])
  end function tw_rotated

  !> nx x ny points anywhere: point (i, j) at (longitudes(i, j), latitudes(i, j)), which are read on the model's first rank.
  function tw_curvilinear(longitudes, latitudes) result(geometry)
    real(real64), intent(in) :: longitudes(:, :), latitudes(:, :)
    type(tw_geometry) :: geometry
    geometry = in_rows(curvilinear, size(longitudes, 1), size(longitudes, 2), 0d0, 0d0, 0d0, 0d0)
    geometry%longitudes = reshape(longitudes, [size(longitudes)])
    geometry%latitudes = reshape(latitudes, [size(latitudes)])
  end function tw_curvilinear

  function in_rows(kind, nx, ny, longitude, latitude, dx, dy, projection) result(geometry)
    integer(c_int32_t), intent(in) :: kind
    integer, intent(in) :: nx, ny
    real(real64), intent(in) :: longitude, latitude, dx, dy
    real(real64), intent(in), optional :: projection(3)
    type(tw_geometry) :: geometry
    geometry%kind = kind
    geometry%nx = nx
    geometry%ny = ny
    geometry%longitude = longitude
    geometry%latitude = latitude
    geometry%dx = dx
    geometry%dy = dy
    if (present(projection)) geometry%projection = projection
  end function in_rows

  function open_on_integer(server, comm, plan) result(status)
    type(tw_field_server), intent(out) :: server
    integer, intent(in) :: comm
    character(len=*), intent(in), optional :: plan
    integer(c_int) :: status
    if (present(plan)) then
      status = c_server_open(int(comm, c_int), trim(plan)//c_null_char, server)
    else
      status = c_server_open(int(comm, c_int), c_null_char, server)
    end if
  end function open_on_integer

  function open_on_handle(server, comm, plan) result(status)
    type(tw_field_server), intent(out) :: server
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in), optional :: plan
    integer(c_int) :: status
    status = open_on_integer(server, comm%MPI_VAL, plan)
  end function open_on_handle

  function comm_as_integer(comm, server) result(status)
    integer, intent(inout) :: comm
    type(tw_field_server), intent(in) :: server
    integer(c_int) :: status, found
    found = int(comm, c_int)
    status = c_server_comm(server, found)
    comm = int(found)
  end function comm_as_integer

  function comm_as_handle(comm, server) result(status)
    type(MPI_Comm), intent(inout) :: comm
    type(tw_field_server), intent(in) :: server
    integer(c_int) :: status
    status = comm_as_integer(comm%MPI_VAL, server)
  end function comm_as_handle

  !> Define a field: where its points lie on the ranks of the model, and its attributes in files. `levels`: their number,
  !! of which the layout has all or one; those of the layout where absent. `level`: their numbers; 1, 2, ... where absent.
  !! `level_type`: "model", "pressure" (hPa), "surface" or "height" (m). `grib`: a short name of ecCodes. `element`:
  !! tw_f8 (where it is absent) or tw_f4.
  function tw_field_server_define(server, name, layout, geometry, levels, level, level_type, units, long_name, &
                                  standard_name, grib, element) result(status)
    type(tw_field_server), intent(in) :: server
    character(len=*), intent(in) :: name
    type(tw_layout), intent(in) :: layout
    type(tw_geometry), intent(in), target :: geometry
    integer, intent(in), optional :: levels, element
    real(real64), intent(in), optional :: level(:)
    character(len=*), intent(in), optional :: level_type, units, long_name, standard_name, grib
    integer(c_int) :: status
    type(description_memory), target :: memory
    type(c_description) :: description
    call describe(description, memory, levels, level, level_type, units, long_name, standard_name, grib, element, 1)
    status = c_server_define(server, trim(name) // c_null_char, layout, as_c(geometry), description)
  end function tw_field_server_define

  !> The same of points by their numbers, from 1, in the order of this rank's array, whose dimension `axis` (1 where it is
  !! absent, or 2) is over points and the other over levels.
  function tw_field_server_define_points(server, name, ids, geometry, levels, level, level_type, units, long_name, &
                                         standard_name, grib, element, axis) result(status)
    type(tw_field_server), intent(in) :: server
    character(len=*), intent(in) :: name
    integer, intent(in) :: ids(:)
    type(tw_geometry), intent(in), target :: geometry
    integer, intent(in), optional :: levels, element, axis
    real(real64), intent(in), optional :: level(:)
    character(len=*), intent(in), optional :: level_type, units, long_name, standard_name, grib
    integer(c_int) :: status
    type(description_memory), target :: memory
    type(c_description) :: description
    integer :: over_points
    over_points = 1
    if (present(axis)) over_points = axis
    call describe(description, memory, levels, level, level_type, units, long_name, standard_name, grib, element, &
                  over_points)
    status = c_server_define_points(server, trim(name) // c_null_char, size(ids, kind=c_int64_t), &
                                    int(ids, c_int64_t) - 1, as_c(geometry), description)
  end function tw_field_server_define_points

  !> Whether the plan has a field written at a step.
  function tw_field_server_wants(wants, server, name, step) result(status)
    logical, intent(out) :: wants
    type(tw_field_server), intent(in) :: server
    character(len=*), intent(in) :: name
    integer, intent(in) :: step
    integer(c_int) :: status, found
    found = 0
    status = c_server_wants(server, trim(name) // c_null_char, int(step, c_int64_t), found)
    wants = found /= 0
  end function tw_field_server_wants

  !> Return when the arrays of a field that were given to tw_field_server_start are the model's again; those of all fields
  !! where there is no name.
  function tw_field_server_wait(server, name) result(status)
    type(tw_field_server), intent(in) :: server
    character(len=*), intent(in), optional :: name
    integer(c_int) :: status
    character(len=:), allocatable, target :: text
    if (present(name)) then
      text = trim(name) // c_null_char
      status = c_server_wait(server, c_loc(text))
    else
      status = c_server_wait(server, c_null_ptr)
    end if
  end function tw_field_server_wait

  !> Nothing more comes of a step: steps end in ascending order. tw_error_write where an earlier one could not be written.
  function tw_field_server_end_step(server, step) result(status)
    type(tw_field_server), intent(in) :: server
    integer, intent(in) :: step
    integer(c_int) :: status
    status = c_server_end_step(server, int(step, c_int64_t))
  end function tw_field_server_end_step

  !> Name the next input files in their order; servers read ahead as many as `look_ahead` of the plan.
  function tw_field_server_prefetch(server, paths) result(status)
    type(tw_field_server), intent(in) :: server
    character(len=*), intent(in) :: paths(:)
    integer(c_int) :: status
    character(len=len(paths) + 1), target :: texts(size(paths))
    type(c_ptr) :: places(size(paths))
    integer :: i
    do i = 1, size(paths)
      texts(i) = trim(paths(i)) // c_null_char
      places(i) = c_loc(texts(i))
    end do
    status = c_server_prefetch(server, size(paths, kind=c_int64_t), places)
  end function tw_field_server_prefetch

  function write_field(server, name, values, step, level) result(status)
    type(tw_field_server), intent(in) :: server
    character(len=*), intent(in) :: name
    type(tw_field), intent(in) :: values
    integer, intent(in) :: step
    integer, intent(in), optional :: level
    integer(c_int) :: status
    status = c_server_write(server, trim(name) // c_null_char, values, int(step, c_int64_t), place_of(level))
  end function write_field

  function start_field(server, name, values, step, level) result(status)
    type(tw_field_server), intent(in) :: server
    character(len=*), intent(in) :: name
    type(tw_field), intent(in) :: values
    integer, intent(in) :: step
    integer, intent(in), optional :: level
    integer(c_int) :: status
    status = c_server_start(server, trim(name) // c_null_char, values, int(step, c_int64_t), place_of(level))
  end function start_field

  !> The place of a level, from 0; -1 for all levels.
  function place_of(level) result(place)
    integer, intent(in), optional :: level
    integer(c_int64_t) :: place
    place = -1
    if (present(level)) place = merge(level - 1_c_int64_t, level - 2_c_int64_t, level > 0)  ! -1 would mean all levels
  end function place_of

  function read_field(server, name, values, path) result(status)
    type(tw_field_server), intent(in) :: server
    character(len=*), intent(in) :: name, path
    type(tw_field), intent(in) :: values
    integer(c_int) :: status
    status = c_server_read(server, trim(name) // c_null_char, values, trim(path) // c_null_char)
  end function read_field

  function write_real32(server, name, values, step, level) result(status)
    real(real32), target :: values(..)
    include "server_write.inc"
  end function write_real32

  function write_real64(server, name, values, step, level) result(status)
    real(real64), target :: values(..)
    include "server_write.inc"
  end function write_real64

  function start_real32(server, name, values, step, level) result(status)
    real(real32), target, intent(inout) :: values(..)
    include "server_start.inc"
  end function start_real32

  function start_real64(server, name, values, step, level) result(status)
    real(real64), target, intent(inout) :: values(..)
    include "server_start.inc"
  end function start_real64

  function read_real32(server, name, values, path) result(status)
    real(real32), target :: values(..)
    include "server_read.inc"
  end function read_real32

  function read_real64(server, name, values, path) result(status)
    real(real64), target :: values(..)
    include "server_read.inc"
  end function read_real64

  function as_c(geometry) result(found)
    type(tw_geometry), intent(in), target :: geometry
    type(c_geometry) :: found
    found = c_geometry(geometry%kind, geometry%nx, geometry%ny, c_null_ptr, geometry%longitude, geometry%latitude, &
                       geometry%dx, geometry%dy, c_null_ptr, c_null_ptr, geometry%projection, geometry%radius, &
                       c_null_ptr, geometry%grid_number, geometry%grid_in_reference)
    if (allocated(geometry%uuid)) found%uuid = c_loc(geometry%uuid)
    if (allocated(geometry%rows)) found%rows = c_loc(geometry%rows)
    if (allocated(geometry%longitudes)) found%longitudes = c_loc(geometry%longitudes)
    if (allocated(geometry%latitudes)) found%latitudes = c_loc(geometry%latitudes)
  end function as_c

  subroutine describe(description, memory, levels, level, level_type, units, long_name, standard_name, grib, element, &
                      axis)
    type(c_description), intent(out) :: description
    type(description_memory), intent(inout), target :: memory
    integer, intent(in), optional :: levels, element
    real(real64), intent(in), optional :: level(:)
    character(len=*), intent(in), optional :: level_type, units, long_name, standard_name, grib
    integer, intent(in) :: axis
    description = c_description(0, c_null_ptr, c_null_ptr, c_null_ptr, c_null_ptr, c_null_ptr, c_null_ptr, tw_f8, &
                                int(axis - 1, c_int32_t))
    if (present(levels)) description%levels = levels
    if (present(element)) description%element = int(element, c_int32_t)
    if (present(level)) then
      memory%level = level
      description%levels = size(level)
      description%level = c_loc(memory%level)
    end if
    call keep(level_type, memory%level_type, description%level_type)
    call keep(units, memory%units, description%units)
    call keep(long_name, memory%long_name, description%long_name)
    call keep(standard_name, memory%standard_name, description%standard_name)
    call keep(grib, memory%grib, description%grib)
  end subroutine describe

  subroutine keep(text, memory, place)
    character(len=*), intent(in), optional :: text
    character(len=:), allocatable, intent(inout), target :: memory
    type(c_ptr), intent(inout) :: place
    if (.not. present(text)) return
    memory = trim(text) // c_null_char
    place = c_loc(memory)
  end subroutine keep
end module tradewind_field_server
