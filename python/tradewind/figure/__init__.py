"""Charts of the results of studies."""
