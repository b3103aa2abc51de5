#pragma once

#include <memory>

#include "pattern/allreduce.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// Allreduce by recursive halving and doubling (Rabenseifner 2004, "Optimization of collective reduction operations"):
// among 2^p ranks, in stage s < p those that differ in bit s give each other the half of what they have that the other
// one keeps; p more stages, back from bit p - 1 to bit 0, bring the sums together. Every rank sends 2 (2^p - 1) / 2^p
// of the vector in 2 p messages. A half of one element is that element or nothing, and nothing is not sent.
//
// Where n is not a power of two, the two differ:
//
// rabenseifner (as published): with 2^p the largest power not above n and r = n - 2^p, the first 2 r ranks make pairs.
// In a pair each sums up one half of the vector, the second rank hands its half to the first one and has the result
// back at the end: 3 stages more.
std::shared_ptr<const schedule::Schedule> allreduce_rabenseifner(std::shared_ptr<const pattern::AllReduce> reduce);

// halving-doubling: with 2^p the smallest power not below n and d = 2^p - n, each of the first d ranks plays two roles,
// 2 i and 2 i + 1; the roles of a rank have nothing to exchange with each other. No stages more, but twice the data for
// some ranks. So did SST/macro carry out MPI_Allreduce, the simulator of Zheng & Marguinaud (2018).
std::shared_ptr<const schedule::Schedule> allreduce_halving_doubling(std::shared_ptr<const pattern::AllReduce> reduce);

}  // namespace tradewind::algorithm
