# libtradewind for C and C++, the Fortran module over it, and what finds them: a CMake package and a file of pkg-config.
# All of it is the component `development` of the installation. No path in it but those to an MPI library that stays
# where it is: a wheel is built in one folder and installed in another.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tradewind)
set(fortran_folder ${CMAKE_INSTALL_DATADIR}/tradewind/fortran)

# In a wheel, the mpich wheel's library is found from here: tradewind/lib -> site-packages -> lib/pythonX.Y -> lib; where
# site-packages is in lib64, libmpi is in the lib beside it. A build in place can name the environment that it is in.
if(mpi_of_wheel AND (SKBUILD_STATE STREQUAL "wheel" OR NOT mpi_of_wheel_stays))
  set(library_rpath "$ORIGIN/../../../..;$ORIGIN/../../../../../lib")
  set(package_mpi_compiler "\${PACKAGE_PREFIX_DIR}/../../../../bin/mpicc")
else()
  set(library_rpath "${mpi_library_folder}")
  set(package_mpi_compiler "${mpi_compiler}")
endif()

file(GLOB c_sources CONFIGURE_DEPENDS bindings/c/*.cpp)
add_library(tradewind SHARED ${c_sources} $<TARGET_OBJECTS:tradewind_spectral>
                             $<TARGET_OBJECTS:tradewind_shared_kernel>)
compile_plainly(tradewind)
read_headers_once(tradewind REUSE_FROM tradewind_exchange)
target_compile_definitions(tradewind PRIVATE TRADEWIND_VERSION="${PROJECT_VERSION}")
target_compile_definitions(tradewind INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
target_include_directories(tradewind PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(tradewind PRIVATE $<BUILD_INTERFACE:tradewind_mpi> $<BUILD_INTERFACE:tradewind_fieldserver>
                      PUBLIC MPI::MPI_C)
set_target_properties(tradewind PROPERTIES INSTALL_RPATH "${library_rpath}")
if(NOT DEFINED SKBUILD)  # a wheel holds no links, but would hold the library three times
  set_target_properties(tradewind PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
endif()
install(TARGETS tradewind EXPORT tradewind COMPONENT development)
set_property(TARGET tradewind_device_trial APPEND PROPERTY INSTALL_RPATH "${library_rpath}")
add_dependencies(tradewind tradewind_device_trial)
install(PROGRAMS $<TARGET_FILE:tradewind_device_trial> DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY include/tradewind DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)

# The Fortran module as source, for any compiler; and compiled, where it is not for a wheel, for the one that is here.
install(DIRECTORY bindings/fortran/ DESTINATION ${fortran_folder} COMPONENT development)
if(SKBUILD_STATE STREQUAL "wheel")
  set(fortran OFF)
elseif(TRADEWIND_FORTRAN STREQUAL "AUTO")
  include(CheckLanguage)
  check_language(Fortran)
  set(fortran ${CMAKE_Fortran_COMPILER})
else()
  set(fortran ${TRADEWIND_FORTRAN})
endif()
if(fortran)
  include(cmake/fortran.cmake)
endif()

install(EXPORT tradewind NAMESPACE tradewind:: DESTINATION ${package_folder} COMPONENT development)
configure_package_config_file(cmake/tradewindConfig.cmake.in ${PROJECT_BINARY_DIR}/tradewindConfig.cmake
                              INSTALL_DESTINATION ${package_folder} PATH_VARS fortran_folder)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tradewindConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tradewindConfig.cmake ${PROJECT_BINARY_DIR}/tradewindConfigVersion.cmake
              cmake/tradewindFortran.cmake cmake/tradewindModule.cmake
        DESTINATION ${package_folder} COMPONENT development)
file(RELATIVE_PATH to_prefix /any/${CMAKE_INSTALL_LIBDIR}/pkgconfig /any)
configure_file(cmake/tradewind.pc.in ${PROJECT_BINARY_DIR}/tradewind.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tradewind.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
