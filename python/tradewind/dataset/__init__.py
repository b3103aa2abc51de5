"""The results of a study as one xarray Dataset, and as NetCDF."""
