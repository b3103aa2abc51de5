"""Files of fields: forms in which they are written, manifests, and input files that are read."""
