"""SST/macro 7.1.0 beside our packet model: the same networks, exchanges and settings."""
