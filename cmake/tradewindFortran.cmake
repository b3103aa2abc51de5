# tradewind::fortran, the module `tradewind`. A module file is good for one compiler only: what was compiled with the
# library is taken for a project with the same one, and for any other the module is compiled with the project.
get_property(tradewind_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
set(tradewind_compiled "${CMAKE_CURRENT_LIST_DIR}/tradewindCompiledFortran.cmake")
if(NOT "Fortran" IN_LIST tradewind_languages)
  if(EXISTS "${tradewind_compiled}")
    include("${tradewind_compiled}")
  endif()
  return()
endif()

if(EXISTS "${tradewind_compiled}"
   AND tradewind_fortran_compiler STREQUAL "${CMAKE_Fortran_COMPILER_ID} ${CMAKE_Fortran_COMPILER_VERSION}")
  include("${tradewind_compiled}")
elseif(NOT TARGET tradewind_fortran)
  file(GLOB tradewind_sources "${tradewind_fortran_folder}/*.f90" "${tradewind_fortran_folder}/*.c")
  add_library(tradewind_fortran STATIC EXCLUDE_FROM_ALL ${tradewind_sources})
  set(tradewind_modules "${CMAKE_CURRENT_BINARY_DIR}/tradewind_modules")
  set_target_properties(tradewind_fortran PROPERTIES
    Fortran_MODULE_DIRECTORY "${tradewind_modules}" POSITION_INDEPENDENT_CODE ON)
  include("${CMAKE_CURRENT_LIST_DIR}/tradewindModule.cmake")
  tradewind_compile_module(tradewind_fortran)
  target_include_directories(tradewind_fortran PUBLIC "${tradewind_modules}")
  target_link_libraries(tradewind_fortran PUBLIC tradewind::tradewind)
  add_library(tradewind::fortran ALIAS tradewind_fortran)
endif()

# The few calls of mpi_f08 that start a program, for an MPI library without Fortran, as that of the mpich wheel.
if(NOT TARGET tradewind_mpi_f08)
  file(GLOB tradewind_sources "${tradewind_fortran_folder}/mpi_f08/*")
  add_library(tradewind_mpi_f08 STATIC EXCLUDE_FROM_ALL ${tradewind_sources})
  set(tradewind_modules "${CMAKE_CURRENT_BINARY_DIR}/tradewind_mpi_f08")
  set_target_properties(tradewind_mpi_f08 PROPERTIES
    Fortran_MODULE_DIRECTORY "${tradewind_modules}" POSITION_INDEPENDENT_CODE ON)
  target_include_directories(tradewind_mpi_f08 PUBLIC "${tradewind_modules}")
  target_link_libraries(tradewind_mpi_f08 PUBLIC MPI::MPI_C)
  add_library(tradewind::mpi_f08 ALIAS tradewind_mpi_f08)
endif()
