"""Marks and words of an SVG, pixels of a PNG: to judge a picture by its content."""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

_SVG = "{http://www.w3.org/2000/svg}"


class Svg:
    """A picture that was drawn as SVG. Raises where it is none, or no XML."""

    def __init__(self, path: Path) -> None:
        self.root = ElementTree.fromstring(path.read_text())
        assert self.root.tag == f"{_SVG}svg"
        self.elements = list(self.root.iter())

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in its own units."""
        if (box := self.root.get("viewBox")) is not None:
            _, _, width, height = map(float, box.split())
            return width, height
        return float(self.root.attrib["width"]), float(self.root.attrib["height"])

    @property
    def texts(self) -> list[str]:
        """All that can be read, in order."""
        found = ("".join(each.itertext()).strip() for each in self.elements if each.tag == f"{_SVG}text")
        return [text for text in found if text]

    def marks(self, kind: str) -> list[ElementTree.Element]:
        """The marks of a chart that say of themselves what they are: "bar", "rect mark", "point"."""
        return [each for each in self.elements if each.get("aria-roledescription") == kind]

    def shapes(self) -> Counter[str]:
        """Count the elements of each tag."""
        return Counter(each.tag.removeprefix(_SVG) for each in self.elements)


def png(path: Path) -> NDArray[np.uint8]:
    """The pixels of a PNG of 8 bits a channel, [row][column][channel]; without a library for pictures.

    PNG (ISO/IEC 15948): chunks, one zlib stream, and a filter for each row.
    """
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, stream, head = 8, b"", b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0]
        head = body if kind == b"IHDR" else head
        stream += body if kind == b"IDAT" else b""
        at += 12 + length
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", head)
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    assert (depth, interlaced) == (8, 0)
    rows = np.frombuffer(zlib.decompress(stream), np.uint8).reshape(height, 1 + width * channels)
    return _unfiltered(rows[:, 0], rows[:, 1:].reshape(height, width, channels))


def _unfiltered(filters: NDArray[np.uint8], rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    out = np.zeros(rows.shape, np.int64)
    above = np.zeros(rows.shape[1:], np.int64)
    for y, (kind, row) in enumerate(zip(filters, rows.astype(np.int64), strict=True)):
        if kind in (0, 2):  # none, up
            out[y] = row + (above if kind == 2 else 0)
        elif kind == 1:  # the pixel to the left
            out[y] = np.cumsum(row, axis=0)
        else:
            left = corner = np.zeros(rows.shape[2], np.int64)
            for x in range(row.shape[0]):
                guess = (left + above[x]) // 2 if kind == 3 else _paeth(left, above[x], corner)
                left, corner = (row[x] + guess) & 255, above[x]
                out[y, x] = left
        out[y] &= 255
        above = out[y]
    return out.astype(np.uint8)


def _paeth(left: NDArray[np.int64], up: NDArray[np.int64], corner: NDArray[np.int64]) -> NDArray[np.int64]:
    by_left, by_up, by_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
    return np.where((by_left <= by_up) & (by_left <= by_corner), left, np.where(by_up <= by_corner, up, corner))


def colours(pixels: NDArray[np.uint8]) -> Counter[tuple[int, ...]]:
    """Count the pixels of each colour."""
    found, count = np.unique(pixels[..., :3].reshape(-1, 3), axis=0, return_counts=True)
    return Counter({tuple(map(int, colour)): int(n) for colour, n in zip(found, count, strict=True)})
