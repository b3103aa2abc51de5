"""The digests of requests as earlier versions stored them: they say which case is the same case."""

from __future__ import annotations

from tradewind.study.cases.case import digest
from tradewind.study.cases.expand import expand
from tradewind.study.plan.load import load_study

STUDY = """
title = "One of each kind"

[[sweep]]
name = "proved"
kind = "verify"
pattern = "halo"
grid = "24x20x4"
ranks = 4
periodic = "xy"

[[sweep]]
name = "timed"
kind = "measure"
pattern = "allreduce"
ranks = 2
algorithm = ["native", "recursive-2"]

[[sweep]]
name = "there"
kind = "simulate"
pattern = "transpose"
grid = "24x20x4"
slab = "xz"
ranks = 4
machine = "torus-M"
set = { "link.bandwidth" = "1GB/s" }

[[sweep]]
name = "run"
kind = "run"
dwarf = "diffusion"
grid = "32x24x4"
ranks = 2
strategy = ["overlap", "wide"]
width = 4
transport = "shared"
threads = 2

[[sweep]]
name = "run there"
kind = "run"
dwarf = "diffusion"
grid = "32x24x4"
ranks = 12
machine = "piz-daint"
nodes = 2
point_time = "10ns"

[[sweep]]
name = "theirs"
kind = "published"
dwarf = "diffusion"
source = "a paper"
grid = "128x128x64"
transport = "isend-irecv"
nodes = 2
steps = 1000
ranks = [2]
time = ["8s"]

[[sweep]]
name = "step"
kind = "program"
grid = "24x20x4"
ranks = 4
split = "2x2"
machine = "torus-M"
point_time = "1us"
[[sweep.step]]
compute = "xy"
[[sweep.step]]
path = "xy-zy-xy"
algorithm = "burst"
"""
EARLIER = [
    ("proved", "da9dc886ee484854"),
    ("timed", "1ecd7679fc1994e6"),
    ("timed", "f7c791827f785d69"),
    ("there", "1634b399ec902285"),
    ("run", "ee0988b96ec16a45"),
    ("run", "399d72504f741b3e"),
    ("run there", "5f7724dbf8a0e41c"),
    ("theirs", "8893d5405b6621d8"),
    ("step", "11ff4e4b60826abb"),
]


def test_requests_are_those_that_earlier_versions_stored() -> None:
    cases, skips = expand(load_study("one.toml", STUDY).study)
    assert skips == []
    assert [(case.sweep, digest(case.request)[:16]) for case in cases] == EARLIER
