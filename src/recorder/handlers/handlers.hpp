#pragma once

#include "recorder/handlers/collective.hpp"
#include "recorder/handlers/completion.hpp"
#include "recorder/handlers/environment.hpp"
#include "recorder/handlers/one_sided.hpp"
#include "recorder/handlers/point_to_point.hpp"
