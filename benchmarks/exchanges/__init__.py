"""Programs of the ranks of the benchmark of exchanges: one file each. `benchmarks/exchange.py` starts them."""
