// The text of a program file from what all ranks have recorded.
#pragma once

#include <string>

#include "mpi/recorded_exchanges.hpp"

namespace tradewind::mpi {

std::string recorded_program(const RecordedExchanges& recorded);

}  // namespace tradewind::mpi
