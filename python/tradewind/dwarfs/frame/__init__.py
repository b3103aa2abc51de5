"""The frame of all dwarfs: requests, runs and their records, time steps, grids and meshes, diagnosis and output."""
