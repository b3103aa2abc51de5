// The same calls, compiled as C++.
#include "calls.c"
