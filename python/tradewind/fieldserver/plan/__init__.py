"""The plan of a run: the plan file, its fields and their grids, the space that it needs."""
