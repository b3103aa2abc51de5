# built_with.json: the MPI library of this build, for `tradewind config` and `tradewind doctor`. That of the mpich wheel
# is where the wheel puts it in whichever environment the package is installed: no path of this one.
if(mpi_of_wheel)
  set(mpich_wheel true)
else()
  set(mpich_wheel false)
  set(named_compiler ${mpi_compiler})
  list(TRANSFORM MPI_C_INCLUDE_DIRS REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE named_include_folders)
  list(TRANSFORM MPI_C_LIBRARIES REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE named_libraries)
  list(JOIN named_include_folders ", " named_include_folders)
  list(JOIN named_libraries ", " named_libraries)
endif()
configure_file(cmake/built_with.json.in ${PROJECT_BINARY_DIR}/built_with.json @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/built_with.json DESTINATION .)
