!> The calls of MPI that start a program, for an MPI library that comes without Fortran. With the same names and
!! arguments as in the standard's module mpi_f08, which takes its place where there is one.
module mpi_f08
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  private
  public :: MPI_Comm, MPI_COMM_WORLD, MPI_Init, MPI_Finalize, MPI_Comm_rank, MPI_Comm_size

  type, bind(C) :: MPI_Comm
    integer :: MPI_VAL
  end type MPI_Comm
  type(MPI_Comm), bind(C, name="tradewind_mpi_comm_world"), protected :: MPI_COMM_WORLD

  interface
    subroutine MPI_Init() bind(C, name="tradewind_mpi_init")
    end subroutine MPI_Init
    subroutine MPI_Finalize() bind(C, name="MPI_Finalize")
    end subroutine MPI_Finalize
    subroutine tradewind_mpi_comm(comm, rank, size) bind(C)
      import :: c_int
      integer(c_int), value :: comm
      integer(c_int), intent(out) :: rank, size
    end subroutine tradewind_mpi_comm
  end interface

contains

  subroutine MPI_Comm_rank(comm, rank)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(out) :: rank
    integer :: size
    call tradewind_mpi_comm(comm%MPI_VAL, rank, size)
  end subroutine MPI_Comm_rank

  subroutine MPI_Comm_size(comm, size)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(out) :: size
    integer :: rank
    call tradewind_mpi_comm(comm%MPI_VAL, rank, size)
  end subroutine MPI_Comm_size
end module mpi_f08
