#include "call.h"

int calls_from_c(tw_plan plan, int calls) {
    int failed = 0;
    for (int i = 0; i < calls; ++i) failed += tw_plan_call(plan) != TW_OK;
    return failed;
}
