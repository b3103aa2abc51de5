"""`tradewind config`: where libtradewind is, for programs in C, C++ and Fortran."""

from __future__ import annotations

from typing import Annotated

from tradewind.cli import options
from tradewind.cli.parameters import Option

Cflags = Annotated[bool, Option("--cflags", help="Flags to compile C and C++ with.")]
Libs = Annotated[bool, Option("--libs", help="Flags to link with.")]
Cmake = Annotated[bool, Option("--cmake", help="Folder of the CMake package, for tradewind_DIR.")]
Pkgconfig = Annotated[bool, Option("--pkgconfig", help="Folder of tradewind.pc, for PKG_CONFIG_PATH.")]
Fortran = Annotated[bool, Option("--fortran", help="Sources of the Fortran module, in the order to compile.")]


def command(
    cflags: Cflags = False,
    libs: Libs = False,
    cmake: Cmake = False,
    pkgconfig: Pkgconfig = False,
    fortran: Fortran = False,
    as_json: options.Json = False,
) -> None:
    """Print where libtradewind is: what is asked for in one line, or all of it."""
    from tradewind.base.installation import flags
    from tradewind.cli.output import print_result

    found = flags().as_json()
    asked = {"cflags": cflags, "libs": libs, "cmake": cmake, "pkgconfig": pkgconfig, "fortran": fortran}
    result = {name: found[name] for name in found if asked[name] or not any(asked.values())}
    print_result(result, as_json, lambda: _show(result, with_names=not any(asked.values())))


def _show(result: dict[str, str | list[str]], with_names: bool) -> None:
    lines = [value if isinstance(value, str) else " ".join(value) for value in result.values()]
    if with_names:
        for name, line in zip(result, lines, strict=True):
            print(f"--{name:<10} {line}")
    else:
        print(*lines)
