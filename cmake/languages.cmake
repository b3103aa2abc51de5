# libtradewind for C and C++, the Fortran module over it, and what finds them: a CMake package and a file of pkg-config.
# All of it is the component `development` of the installation; the Python package is not part of it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tradewind)

file(GLOB c_sources CONFIGURE_DEPENDS bindings/c/*.cpp)
add_library(tradewind SHARED ${c_sources})
target_compile_definitions(tradewind PRIVATE TRADEWIND_VERSION="${PROJECT_VERSION}")
target_compile_definitions(tradewind INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
target_include_directories(tradewind PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(tradewind PRIVATE $<BUILD_INTERFACE:tradewind_mpi> PUBLIC MPI::MPI_C)
# Where the MPI library is, so that programs find the one that this was built with.
list(GET MPI_C_LIBRARIES 0 mpi_library)
cmake_path(GET mpi_library PARENT_PATH mpi_library_folder)
set_target_properties(tradewind PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                                           INSTALL_RPATH "${mpi_library_folder}")
install(TARGETS tradewind EXPORT tradewind COMPONENT development)
install(DIRECTORY include/tradewind DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)

include(CheckLanguage)
if(TRADEWIND_FORTRAN STREQUAL AUTO)
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
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tradewindConfigVersion.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH to_prefix /any/${CMAKE_INSTALL_LIBDIR}/pkgconfig /any)
configure_file(cmake/tradewind.pc.in ${PROJECT_BINARY_DIR}/tradewind.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tradewindConfig.cmake ${PROJECT_BINARY_DIR}/tradewindConfigVersion.cmake
        DESTINATION ${package_folder} COMPONENT development)
install(FILES ${PROJECT_BINARY_DIR}/tradewind.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
