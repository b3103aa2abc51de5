# How the module `tradewind` is compiled, with the library and with a project.
function(tradewind_compile_module target)
  if(NOT CMAKE_Fortran_COMPILER_ID STREQUAL GNU)
    return()
  endif()
  # By the MPI standard the communicator of mpi_f08 is a C type with a component of Fortran's own integer.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:Fortran>:-Wno-c-binding-type>)
  # By this a C compiler other than gcc, as clang beside gfortran, finds ISO_Fortran_binding.h after its own headers.
  execute_process(COMMAND "${CMAKE_Fortran_COMPILER}" -print-file-name=include
                  OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:C>:-idirafter${folder}>")
endfunction()
