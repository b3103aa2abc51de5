"""Errors, units, names, files and memory, for all other packages."""
