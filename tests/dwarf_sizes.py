"""Options of each dwarf for a step that takes milliseconds, on up to four ranks."""

from typing import Any

SIZES: dict[str, dict[str, Any]] = {
    "bifourier": {"grid": (12, 10, 4)},
    "diffusion": {"grid": (16, 12, 4)},
    "helmholtz": {"grid": (8, 8, 4), "rtol": 0.0, "iterations": 4},
    "hirlam": {"grid": (12, 10, 4)},
    "mpdata": {"grid": "O8", "levels": 2},
    "nekbone": {"elements": (2, 2, 1), "nx1": 4},
    "semi_lagrangian": {"grid": (16, 12, 4)},
    "spherical_harmonics": {"truncation": 7, "levels": 4},
}
