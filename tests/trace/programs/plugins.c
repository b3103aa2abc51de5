/* Opens each library that is named, calls its function `step`, whose address it prints, and closes it. */

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    for (int n = 1; n < argc; n++) {
        void* library = dlopen(argv[n], RTLD_NOW);
        if (library == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
        void (*step)(void);
        *(void**)&step = dlsym(library, "step");
        printf("%p\n", *(void**)&step);
        step();
        dlclose(library);
    }
    MPI_Finalize();
}
