"""Small model files for tests, as text."""

HEAD = """
title = "a model"
source = "these tests"
grid = "{grid}"
step = "60s"
"""
COMPUTE = """
[[steps]]
label = "physics"
compute = "xy"
bytes = 3000
"""
HALO = """
[[steps]]
label = "halo"
halo = 1
"""
TRANSPOSE = """
[[steps]]
label = "to rows"
path = "xy-zy"
algorithm = "burst"
"""
SUM = """
[[steps]]
label = "sum"
allreduce = 1
"""


def text_of(*steps: str, grid: str = "40x20x10") -> str:
    """Return the file of a model with these steps."""
    return HEAD.format(grid=grid) + "".join(steps)
