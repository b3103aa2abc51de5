"""The picture of latency and bandwidth over message sizes."""

from __future__ import annotations

from tradewind.plot.sizes import save_sizes_chart, size_rows, sizes_chart


def result(sizes: list[int]) -> dict[str, object]:
    row = {"algorithm": "direct", "transport": "shared", "packing": "buffer"}
    times = {"median_s": 2e-6, "samples_s": [1e-6, 2e-6, 4e-6], "bytes_per_s": 1e9}
    return {"sizes": [{"message_bytes": n, "results": [row | times]} for n in sizes], "oversubscribed": True}


def test_rows_and_ticks():
    (row,) = size_rows(result([2048]))
    assert (row["method"], row["named"], row["low"], row["high"]) == ("direct, shared, buffer", "2 KiB", 1e-6, 4e-6)
    drawn = str(sizes_chart(result([8 << n for n in range(24)])))
    assert "[8, 64, 512, 4096, 32768, 262144, 2097152, 16777216]" in drawn
    assert "'4096': '4 KiB'" in drawn.replace("\\'", "'")


def test_a_picture_is_written(tmp_path):
    save_sizes_chart(result([8, 16]), tmp_path / "sizes.svg", "halo on 2 ranks")
    text = (tmp_path / "sizes.svg").read_text()
    assert all(word in text for word in ("halo on 2 ranks", "8 B", "16 B", "bandwidth", "OVERSUBSCRIBED"))
