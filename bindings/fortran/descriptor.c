/* Reads the arrays of Fortran, of any type and rank, by the descriptor that the compiler passes to C. The C compiler
 * must be one that has the header of the Fortran compiler: descriptors of two compilers differ. */
#include <ISO_Fortran_binding.h>
#include <tradewind/tradewind.h>

/* To a compiler that sees both sides of a call, the descriptor is of two types, of which it may say that one cannot be
 * the other. */
#if defined(__GNUC__) && !defined(__clang__)
#define OPAQUE __attribute__((noipa))
#else
#define OPAQUE
#endif

/* -1 for types that plans do not move: the call that takes the field refuses it. */
static int element_of(CFI_type_t type) {
    if (type == CFI_type_float) return TW_F4;
    if (type == CFI_type_double) return TW_F8;
    if (type == CFI_type_int32_t) return TW_I4;
    if (type == CFI_type_int64_t) return TW_I8;
    if (type == CFI_type_float_Complex) return TW_C8;
    if (type == CFI_type_double_Complex) return TW_C16;
    return -1;
}

/* tw_field(array) of Fortran. */
OPAQUE tw_field tradewind_field(const CFI_cdesc_t* array) {
    int64_t points[3] = {1, 1, 1}, strides[3] = {0, 0, 0};
    for (int i = 0; i < array->rank && i < 3; ++i) {
        points[i] = array->dim[i].extent;
        strides[i] = array->dim[i].sm;
    }
    return tw_field_f(element_of(array->type), array->rank, points, strides, array->base_addr);
}
