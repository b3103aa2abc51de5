/* Loops of calls, one a language; each returns the number of calls that failed. */
#pragma once

#include <tradewind/tradewind.h>

#ifdef __cplusplus
extern "C" {
#endif
int calls_from_c(tw_plan plan, int calls);
int calls_from_fortran(tw_plan plan, int calls);
#ifdef __cplusplus
}
#endif
