"""Owners of points: layouts by name, meshes, lists of points."""
