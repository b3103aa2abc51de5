"""What the ranks of the benchmark of exchanges do: one file a comparison. `benchmarks/exchange.py` starts them."""
