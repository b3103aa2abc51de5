"""Programs of the benchmark of the field server: one file each. `benchmarks/fieldserver.py` runs them."""
