"""The time to compile Tradewind, as a multiple of the time of nanobind's own files in the same build.

``python benchmarks/compile_time.py BUILD_FOLDER`` reads the log of ninja. The build must be fresh, without ccache, on a
machine that does nothing else.
"""

from __future__ import annotations

import sys
from pathlib import Path


def compile_seconds(build: Path) -> dict[str, float]:
    """Wall seconds of each compiled file but those of tests, the last time that it was compiled."""
    seconds = {}
    for line in (build / ".ninja_log").read_text().splitlines()[1:]:
        begin, end, _, output, _ = line.split("\t")
        if output.endswith((".o", ".gch")) and "core_tests.dir" not in output:
            seconds[output.removeprefix("CMakeFiles/")] = (int(end) - int(begin)) / 1e3
    return seconds


if __name__ == "__main__":
    seconds = compile_seconds(Path(sys.argv[1]))
    for output, taken in sorted(seconds.items(), key=lambda row: -row[1])[:10]:
        print(f"{taken:7.1f} s  {output}")
    total = sum(seconds.values())
    own = sum(taken for output, taken in seconds.items() if output.startswith("nanobind"))
    print(f"{total:7.1f} s for {len(seconds)} files; {total / own:.1f} times nanobind's own ({own:.1f} s)")
