# The module `tradewind`: iso_c_binding over libtradewind. It needs no Fortran of MPI's, hence goes with any.
enable_language(Fortran)
file(GLOB fortran_sources CONFIGURE_DEPENDS bindings/fortran/*.f90 bindings/fortran/*.c)
set(modules ${PROJECT_BINARY_DIR}/fortran_modules)
add_library(tradewind_fortran SHARED ${fortran_sources})
include(cmake/tradewindModule.cmake)
tradewind_compile_module(tradewind_fortran)
target_include_directories(tradewind_fortran PUBLIC $<BUILD_INTERFACE:${modules}>
                                                    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tradewind>)
target_link_libraries(tradewind_fortran PUBLIC tradewind)
set_target_properties(tradewind_fortran PROPERTIES
  Fortran_MODULE_DIRECTORY ${modules} EXPORT_NAME fortran INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
if(NOT DEFINED SKBUILD)
  set_target_properties(tradewind_fortran PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
endif()
# An export of its own: the CMake package takes it only for a project whose compiler is this one.
install(TARGETS tradewind_fortran EXPORT tradewind_compiled_fortran COMPONENT development)
install(EXPORT tradewind_compiled_fortran NAMESPACE tradewind:: FILE tradewindCompiledFortran.cmake
        DESTINATION ${package_folder} COMPONENT development)
install(DIRECTORY ${modules}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tradewind COMPONENT development
        FILES_MATCHING PATTERN "*.mod")

add_subdirectory(benchmarks/c EXCLUDE_FROM_ALL)
add_subdirectory(benchmarks/calls EXCLUDE_FROM_ALL)
add_subdirectory(benchmarks/fortran EXCLUDE_FROM_ALL)
