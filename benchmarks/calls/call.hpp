#pragma once

#include <tradewind/tradewind.hpp>

int calls_from_cpp(tw::Plan& plan, int calls);
