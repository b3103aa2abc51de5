! Calls MPI on two or more ranks, and prints for each function how often, and how many bytes it sent and received:
! RANK NAME CALLS BYTES RECEIVED. With -DF08 by the module mpi_f08, else by mpi.
#ifdef F08
#define HANDLE(kind) type(kind)
#define STATUS(name) type(MPI_Status) :: name
#define STATUSES(name, n) type(MPI_Status) :: name(n)
#else
#define HANDLE(kind) integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name, n) integer :: name(MPI_STATUS_SIZE, n)
#endif

program calls
#ifdef F08
    use mpi_f08
#else
    use mpi
#endif
    implicit none
    integer, parameter :: doubles = 24, functions = 32
    character(len=24) :: names(functions) = ''
    integer :: numbers(3, functions) = 0
    integer :: rank, ranks, next, last, ierror, n
    double precision :: in(256), out(256)

    out = 1
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    next = modulo(rank + 1, ranks)
    last = modulo(rank - 1, ranks)
    call point_to_point()
    call persistent()
    call collective()
    do n = 1, functions
        if (names(n) == '') exit
        write (*, '(i0,1x,a,3(1x,i0))') rank, trim(names(n)), numbers(:, n)
    end do
    flush (6)
    call MPI_Finalize(ierror)

contains

    subroutine did(name, sent, received)
        character(len=*), intent(in) :: name
        integer, intent(in) :: sent, received
        integer :: n
        do n = 1, functions
            if (names(n) == '') names(n) = name
            if (names(n) == name) exit
        end do
        numbers(:, n) = numbers(:, n) + [1, sent, received]
    end subroutine did

    subroutine point_to_point()
        integer, parameter :: b = 8 * doubles
        HANDLE(MPI_Request) :: request(2)
        STATUSES(several, 2)
        STATUS(one)
        logical :: done
        if (rank == 0) then
            call MPI_Send(out, doubles, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, ierror)
            call did('MPI_Send', b, 0)
        else if (rank == 1) then
            call MPI_Recv(in, 2 * doubles, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &
                          MPI_STATUS_IGNORE, ierror)
            call did('MPI_Recv', 0, b)
        end if
        call MPI_Irecv(in, doubles, MPI_DOUBLE_PRECISION, last, 2, MPI_COMM_WORLD, request(1), ierror)
        call did('MPI_Irecv', 0, 0)
        call MPI_Isend(out, doubles, MPI_DOUBLE_PRECISION, next, 2, MPI_COMM_WORLD, request(2), ierror)
        call did('MPI_Isend', b, 0)
        call MPI_Waitall(2, request, several, ierror)
        call did('MPI_Waitall', 0, b)
        call MPI_Irecv(in, doubles, MPI_DOUBLE_PRECISION, last, 3, MPI_COMM_WORLD, request(1), ierror)
        call did('MPI_Irecv', 0, 0)
        call MPI_Isend(out, doubles, MPI_DOUBLE_PRECISION, next, 3, MPI_COMM_WORLD, request(2), ierror)
        call did('MPI_Isend', b, 0)
        done = .false.
        do while (.not. done)
            call MPI_Test(request(1), done, one, ierror)
            call did('MPI_Test', 0, merge(b, 0, done))
        end do
        call MPI_Wait(request(2), MPI_STATUS_IGNORE, ierror)
        call did('MPI_Wait', 0, 0)
        call MPI_Sendrecv(out, 3, MPI_INTEGER, next, 4, in, 3, MPI_INTEGER, last, 4, MPI_COMM_WORLD, one, ierror)
        call did('MPI_Sendrecv', 12, 12)
    end subroutine point_to_point

    subroutine persistent()
        HANDLE(MPI_Request) :: request(2)
        HANDLE(MPI_Datatype) :: column
        integer :: step
        call MPI_Type_vector(4, 1, 4, MPI_DOUBLE_PRECISION, column, ierror)
        call MPI_Type_commit(column, ierror)
        call MPI_Recv_init(in, 1, column, last, 5, MPI_COMM_WORLD, request(1), ierror)
        call did('MPI_Recv_init', 0, 0)
        call MPI_Send_init(out, 1, column, next, 5, MPI_COMM_WORLD, request(2), ierror)
        call did('MPI_Send_init', 32, 0)
        do step = 1, 3
            call MPI_Startall(2, request, ierror)
            call did('MPI_Startall', 0, 0)
            call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, ierror)
            call did('MPI_Waitall', 0, 32)
        end do
        do step = 1, 2
            call MPI_Request_free(request(step), ierror)
            call did('MPI_Request_free', 0, 0)
        end do
        call MPI_Type_free(column, ierror)
    end subroutine persistent

    subroutine collective()
        HANDLE(MPI_Comm) :: half
        HANDLE(MPI_Request) :: request
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call did('MPI_Barrier', 0, 0)
        call MPI_Bcast(out, 2, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, ierror)
        call did('MPI_Bcast', merge(16, 0, rank == 1), merge(0, 16, rank == 1))
        call MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
        call did('MPI_Allreduce', 16, 16)
        call MPI_Iallreduce(out, in, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request, ierror)
        call did('MPI_Iallreduce', 8, 8)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
        call did('MPI_Wait', 0, 0)
        call MPI_Alltoall(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, MPI_COMM_WORLD, ierror)
        call did('MPI_Alltoall', 8 * ranks, 8 * ranks)
        call MPI_Comm_split(MPI_COMM_WORLD, modulo(rank, 2), 0, half, ierror)
        call did('MPI_Comm_split', 0, 0)
        call MPI_Reduce(out, in, 1, MPI_REAL, MPI_MAX, 0, half, ierror)
        call did('MPI_Reduce', 4, merge(4, 0, rank < 2))
        call MPI_Comm_free(half, ierror)
        call did('MPI_Comm_free', 0, 0)
    end subroutine collective

end program calls
