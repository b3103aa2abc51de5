"""Who owns which points: layouts by name, meshes, lists of points."""
