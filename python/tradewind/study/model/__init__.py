"""The study file: its tables, keys and values."""
