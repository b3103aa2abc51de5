# The second extension module, for real MPI. Without an MPI to build against, everything else still builds.
#
# Which MPI: the one named with -DMPI_C_COMPILER=..., else the `mpich` wheel of the Python that builds, else what
# FindMPI finds on the PATH.
execute_process(COMMAND ${Python_EXECUTABLE} -c
                        "import importlib.metadata as m; print(next(f.locate().resolve() for f in m.files('mpich') if f.name == 'mpicc'))"
                OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE mpich_wheel_compiler ERROR_QUIET)
if(NOT MPI_C_COMPILER AND mpich_wheel_compiler)
  set(MPI_C_COMPILER ${mpich_wheel_compiler})
endif()

file(GLOB mpi_sources CONFIGURE_DEPENDS src/mpi/*.cpp src/mpi/transport/*.cpp src/mpi/packing/*.cpp)
file(GLOB mpi_bindings CONFIGURE_DEPENDS bindings/python/mpi/*.cpp)
if(mpi_bindings)
  find_package(MPI COMPONENTS C)  # C, not CXX: the C++ bindings of MPI are gone since MPI-3
endif()
if(MPI_C_FOUND AND mpi_bindings)
  # An isolated build leaves the path of its vanished environment in the link options.
  set_target_properties(MPI::MPI_C PROPERTIES INTERFACE_LINK_OPTIONS "")
  nanobind_add_module(_mpi NB_STATIC NB_DOMAIN tradewind ${mpi_sources} ${mpi_bindings})
  target_link_libraries(_mpi PRIVATE tradewind_core MPI::MPI_C)
  # lib/pythonX.Y/site-packages/tradewind -> lib, where the wheel puts libmpi.
  set_target_properties(_mpi PROPERTIES INSTALL_RPATH "$ORIGIN/../../.." BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS _mpi LIBRARY DESTINATION tradewind)
else()
  message(WARNING "No MPI found: building without tradewind.mpi (verify, simulate and studies of them work)")
endif()
