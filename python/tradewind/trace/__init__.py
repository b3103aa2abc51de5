"""Traces: what the ranks of any MPI program called, in which order and when, as `tradewind record` writes it down."""
