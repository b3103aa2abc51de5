"""Every dwarf writes its fields through the field server, and readers of others find in the files what it computed."""

from __future__ import annotations

import numpy as np
import pytest
import xarray

pytest.importorskip("mpi4py.MPI")
pytest.importorskip("eccodes")

from tradewind.dwarfs import from_plain
from tradewind.fieldserver.files.manifest import Manifest, check
from tradewind.launch.dwarf import run

PLAN = """
folder = "{folder}"
durable = false
step = "60s"

[[sink]]
name = "messages"
format = "grib2"
path = "{{step}}-{{name}}.grib2"
bits = 24

[[sink]]
name = "history"
format = "netcdf"
path = "{{step}}.nc"

[[rule]]
sink = ["messages", "history"]
every = 4
"""
DWARFS = {
    "diffusion": ({"grid": (16, 12, 3)}, {"t": "t"}),
    "mpdata": ({"grid": "O8", "levels": 2}, {"q": "q"}),
    "hirlam": ({"grid": (16, 12, 3)}, {"u": "u", "v": "v", "phi": "z"}),
    "bifourier": ({"grid": (16, 12, 3)}, {"u": "u", "v": "v", "phi": "z"}),
    "spherical_harmonics": (
        {"truncation": 7, "levels": 2},
        {"vorticity": "vo", "divergence": "d", "geopotential": "z"},
    ),
    "semi_lagrangian": (
        {"grid": (32, 16, 2), "geometry": "sphere", "tracers": 2, "strategy": "on-demand"},
        {"q1": "q"},
    ),
    "helmholtz": ({"grid": (16, 12, 4)}, {"t": "t"}),
    "nekbone": ({"elements": (2, 2, 2), "nx1": 4, "mass": True, "side": "wave"}, {"x": "unknown"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DWARFS)
def test_a_dwarf_writes_what_it_computed(tmp_path, name):
    options, fields = DWARFS[name]
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(folder=tmp_path / "out"))
    servers = {"diffusion": 1, "mpdata": "threads"}.get(name, 0)
    dwarf = from_plain(name, {"ranks": 2, "check": True, **options})
    drawn = tmp_path / "line.svg" if servers == 1 else None
    result = run(dwarf, 6, output=plan, servers=servers, timeline=drawn)
    assert result["agreement"]
    assert result["output"]["servers"] == (servers if isinstance(servers, int) else 0)
    assert any(row["part"] == "output" for row in result["parts"])
    if drawn is not None:
        picture = drawn.read_text()
        rows = ("rank 0 model", "rank 1 model", "rank 2 server", "rank 2 writer", "rank 2: bytes that wait")
        assert [name for name in rows if name not in picture] == []
    folder = tmp_path / "out"
    assert Manifest(folder).steps() == [0, 4]
    assert check(folder) == []
    for step in (0, 4):
        netcdf = xarray.open_dataset(folder / f"{step}.nc", engine="netcdf4")
        for field, short in fields.items():
            grib = xarray.open_dataset(
                folder / f"{step}-{field}.grib2", engine="cfgrib", backend_kwargs={"indexpath": ""}
            )
            apart = np.abs(grib[short].values.ravel() - netcdf[field].values.ravel()).max()
            spread = float(netcdf[field].max() - netcdf[field].min())
            assert apart <= 1e-6 * max(spread, float(np.abs(netcdf[field]).max())), (step, field)
    if name == "diffusion":
        z, y, x = np.ogrid[:3, :12, :16]
        initial = dwarf.box(z, y, x)
        assert (xarray.open_dataset(folder / "0.nc").t.values[0] == initial).all()
        assert (xarray.open_dataset(folder / "4.nc").t.values[0] == dwarf.reference(initial, 4)).all()
    if name == "nekbone":
        from mpi4py import MPI

        along = next(axis for axis, count in enumerate(dwarf.of_rank(0).split) if count == 2)
        elements = [2, 2, 2]
        elements[along] = 4
        alone = from_plain(name, {**options, "ranks": 1, "elements": tuple(elements)}).on(MPI.COMM_SELF)
        alone.advance(4)
        np.testing.assert_allclose(xarray.open_dataset(folder / "4.nc").x.values[0, 0], alone.map(), rtol=1e-10, atol=0)
    if name == "semi_lagrangian":
        whole = xarray.open_dataset(folder / "4.nc")
        initial = np.concatenate([xarray.open_dataset(folder / "0.nc")[each].values[0] for each in ("q1", "q2")])
        found = np.concatenate([whole[each].values[0] for each in ("q1", "q2")])
        np.testing.assert_allclose(found, dwarf.reference(initial, 4), rtol=1e-10, atol=1e-12)
