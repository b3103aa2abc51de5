#include "call.hpp"

int calls_from_cpp(tw::Plan& plan, int calls) {
    int failed = 0;
    for (int i = 0; i < calls; ++i) {
        try {
            plan();
        } catch (const tw::Error&) {
            ++failed;
        }
    }
    return failed;
}
