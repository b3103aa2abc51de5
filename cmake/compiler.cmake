# The compilers that are known to compile the core. pip's builds ask earlier, in build_backend.py: keep the two alike.
if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
   OR (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16))
  message(FATAL_ERROR "Tradewind needs g++ 12 or newer, or clang++ 16 or newer: ${CMAKE_CXX_COMPILER} is "
                      "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}. Name another: CXX=g++-12 cmake ...")
endif()
