"""A level of a field before and after, as a picture."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tradewind.base.errors import InputError
from tradewind.plot.field import coarse, save_levels

SIGNATURES = {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF", ".html": b"<!DOCTYPE html>"}


@pytest.mark.parametrize("suffix", SIGNATURES)
def test_kinds_of_files(tmp_path, suffix):
    path = tmp_path / f"field{suffix}"
    save_levels([[[0.0, 1.0]], [[0.25, 0.75]]], ["before", "after"], (2, 1), path)
    assert SIGNATURES[suffix] in path.read_bytes()[:200]


def test_every_point_is_drawn_with_its_titles(tmp_path):
    path = tmp_path / "field.svg"
    save_levels([[[0.0, 1.0, 2.0]], [[0.5, 0.5, 2.0]]], ["before", "after 3 steps"], (3, 1), path)
    text = path.read_text()
    assert "before" in text
    assert "after 3 steps" in text
    assert len(re.findall(r'aria-roledescription="rect mark"|role="graphics-symbol"', text)) >= 6


@pytest.mark.parametrize("shape", [(1, 1), (96, 96), (97, 5), (300, 291), (1, 1000)])
def test_a_large_level_becomes_means_of_blocks(shape):
    level = np.random.default_rng(1).random(shape)
    small = coarse(level)
    assert max(small.shape) <= 96
    stride = -(-max(shape) // 96)
    assert small.shape == tuple(-(-points // stride) for points in shape)
    for j, i in ((0, 0), (small.shape[0] - 1, small.shape[1] - 1)):
        block = level[j * stride : (j + 1) * stride, i * stride : (i + 1) * stride]
        assert small[j, i] == pytest.approx(block.mean())


def test_files_that_cannot_be(tmp_path):
    for path, message in ((tmp_path / "field.gif", "ends in .svg"), (tmp_path / "no" / "field.svg", "no folder")):
        with pytest.raises(InputError, match=message):
            save_levels([[[0.0]]], ["before"], (1, 1), path)
