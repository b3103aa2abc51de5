"""Workloads that are verified, run and simulated: exchanges, programs, repetitions, recorded messages."""
