# What needs an MPI library to build against: the second extension module, and libtradewind for C, C++ and Fortran.
# Without one, everything else still builds.
#
# Which MPI: the one named with -DMPI_C_COMPILER=..., else the `mpich` wheel of the Python that builds, else what
# FindMPI finds on the PATH.
if(NOT TRADEWIND_MPI)
  return()
endif()
set(mpi_of_wheel OFF)
if(TRADEWIND_PYTHON AND NOT MPI_C_COMPILER)
  execute_process(COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/mpich_wheel.py
                  OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE found)
  if(found)
    list(GET found 0 MPI_C_COMPILER)
    list(GET found 1 mpi_of_wheel_stays)
    set(mpi_of_wheel ON)
  endif()
endif()

find_package(MPI COMPONENTS C)  # C, not CXX: the C++ bindings of MPI are gone since MPI-3
if(NOT MPI_C_FOUND)
  if(NOT TRADEWIND_PYTHON)
    message(FATAL_ERROR "No MPI found: name its compiler with -DMPI_C_COMPILER=/path/to/mpicc")
  endif()
  message(WARNING "No MPI found: building without tradewind.mpi (verify, simulate and studies of them work) and without "
                  "libtradewind")
  return()
endif()
# An isolated build leaves the path of its vanished environment in the link options.
set_target_properties(MPI::MPI_C PROPERTIES INTERFACE_LINK_OPTIONS "")

# For programs that are to find the MPI that this was built with: its compiler, where its library is, and the name by
# which they ask for it at run time. On a Cray the compiler itself knows MPI, and names neither wrapper nor library.
set(mpi_compiler "${MPI_C_COMPILER}")
if(NOT mpi_compiler)
  set(mpi_compiler "${CMAKE_C_COMPILER}")
endif()
set(mpi_library_folder "")
if(MPI_C_LIBRARIES)
  list(GET MPI_C_LIBRARIES 0 mpi_library)
  cmake_path(GET mpi_library PARENT_PATH mpi_library_folder)
endif()
set(mpi_program ${PROJECT_BINARY_DIR}/mpi_program)
file(WRITE ${mpi_program}.c "#include <mpi.h>\nint main(void) { return MPI_Finalize(); }\n")
try_compile(mpi_program_made ${mpi_program} ${mpi_program}.c LINK_LIBRARIES MPI::MPI_C COPY_FILE ${mpi_program}.out)
execute_process(COMMAND ${CMAKE_READELF} -d ${mpi_program}.out OUTPUT_VARIABLE mpi_needed ERROR_QUIET)
string(REGEX MATCH "\\(NEEDED\\)[^\n]*(libmpi[^]]*)" mpi_soname "${mpi_needed}")
set(mpi_soname "${CMAKE_MATCH_1}")

# The loops that copy a message's values; and executor 2.
file(GLOB packing_sources CONFIGURE_DEPENDS src/mpi/packing/*.cpp)
add_library(tradewind_packing STATIC ${packing_sources})
target_link_libraries(tradewind_packing PUBLIC tradewind_exchange MPI::MPI_C Threads::Threads)
# Open MPI 4 and old MPICH bring C++ bindings of their own along, which want another library.
target_compile_definitions(tradewind_packing PUBLIC OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
target_compile_options(tradewind_packing PRIVATE ${loop_options})
file(GLOB mpi_sources CONFIGURE_DEPENDS src/mpi/*.cpp src/mpi/device/*.cpp src/mpi/transport/*.cpp)
add_library(tradewind_mpi OBJECT ${mpi_sources})
target_link_libraries(tradewind_mpi PUBLIC tradewind_packing)
compile_plainly(tradewind_mpi)
read_headers_once(tradewind_mpi REUSE_FROM tradewind_exchange)
# The model's side of field servers.
file(GLOB fieldserver_sources CONFIGURE_DEPENDS src/fieldserver/*.cpp)
add_library(tradewind_fieldserver OBJECT ${fieldserver_sources})
target_link_libraries(tradewind_fieldserver PUBLIC tradewind_packing)
compile_plainly(tradewind_fieldserver)
read_headers_once(tradewind_fieldserver REUSE_FROM tradewind_exchange)

# Tries in a process of its own whether MPI takes pointers of a device; beside the module, and beside libtradewind.
add_executable(tradewind_device_trial bindings/c/program/device_trial.cpp src/mpi/device/trial.cpp
               src/mpi/device/driver.cpp)
target_link_libraries(tradewind_device_trial PRIVATE tradewind_exchange MPI::MPI_C ${CMAKE_DL_LIBS})
target_compile_definitions(tradewind_device_trial PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
set_target_properties(tradewind_device_trial PROPERTIES OUTPUT_NAME tradewind-device-trial)

if(TRADEWIND_PYTHON)
  file(GLOB mpi_bindings CONFIGURE_DEPENDS bindings/python/mpi/*.cpp)
  nanobind_add_module(_mpi NB_STATIC NB_DOMAIN tradewind ${mpi_bindings})
  add_dependencies(extensions _mpi)
  target_link_libraries(_mpi PRIVATE tradewind_mpi tradewind_fieldserver)
  # lib/pythonX.Y/site-packages/tradewind -> lib, where the wheel puts libmpi.
  set_target_properties(_mpi PROPERTIES INSTALL_RPATH "$ORIGIN/../../.." BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS _mpi LIBRARY DESTINATION .)
  add_dependencies(extensions tradewind_device_trial)
  set_target_properties(tradewind_device_trial PROPERTIES INSTALL_RPATH "$ORIGIN/../../.." BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS tradewind_device_trial RUNTIME DESTINATION .)
  include(cmake/built_with.cmake)
endif()
if(TRADEWIND_C)
  include(cmake/languages.cmake)
endif()
