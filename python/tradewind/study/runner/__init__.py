"""Running the cases of studies, here or on a cluster."""
