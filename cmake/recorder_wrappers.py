"""Write the wrappers of the recorder from its table of MPI functions: ``recorder_wrappers.py TABLE OUTPUT``.

Each function of `src/recorder/functions.table` becomes a function MPI_X that calls the handler of its section with a
structure of its arguments by name; PMPI_X is another name of the same. Functions with the same handler and arguments
share the structure, and so the compiled handler. Handlers are in `src/recorder/handlers/`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Function(NamedTuple):
    """A function of MPI: its name without MPI_, its handler, its arguments, and whether its counts are large.

    `narrowed`: the places of arguments that are an int in its form without large counts.
    """

    name: str
    handler: str
    arguments: list[str]
    large: bool = False
    narrowed: tuple[int, ...] = ()

    @property
    def symbol(self) -> str:
        """Return the name of the function."""
        return f"MPI_{self.name}{'_c' if self.large else ''}"

    @property
    def parameters(self) -> list[str]:
        """Return the names of the arguments; of functions that are only counted all names are alike."""
        return [f"argument{n}" for n in range(len(self.arguments))] if self.handler == "Count" else self.arguments

    @property
    def base(self) -> str:
        """Return what the structure of the arguments is derived from."""
        if self.handler == "Count":
            return f"Call<{str(self.large).lower()}>"
        persistent, request = "_init" in self.name, "request" in self.arguments
        form = "Persistent" if persistent else "Nonblocking" if request else "Blocking"
        neighbors = str("eighbor" in self.name).lower()
        return f"Call<{str(self.large).lower()}, Form::{form}, {neighbors}>"


def functions_of(table: str) -> Iterator[Function]:
    """Yield the functions of a table. Raises ValueError for a line that is wrong."""
    section, lists = "", {"large": frozenset[str](), "narrowed": frozenset[str]()}
    for number, line in enumerate(table.splitlines(), 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        if line[0] == "[":
            section = line[1:-1]
        elif section in lists:
            lists[section] |= set(line.split())
        elif ":" not in line:
            raise ValueError(f"line {number}: {line!r}: NAMES: ARGUMENTS is allowed")
        else:
            names, _, arguments = line.partition(":")
            for name in names.split():
                yield from _forms(Function(name, section, arguments.split()), **lists)


def _forms(function: Function, large: frozenset[str], narrowed: frozenset[str]) -> Iterator[Function]:
    """Yield a function in all its forms."""
    name, handler, arguments, *_ = function
    forms = [function]
    if name[-1] == "*":
        name = name[:-1]
        forms = [
            Function(name, handler, arguments),
            Function(f"I{name[0].lower()}{name[1:]}", handler, [*arguments, "request"]),
            Function(f"{name}_init", handler, [*arguments, "info", "request"]),
        ]
    for form in forms:
        yield form
        if large & set(form.arguments):
            places = tuple(n for n, argument in enumerate(form.arguments) if argument in narrowed)
            yield form._replace(large=True, narrowed=places)


_HEADER = """// Written by cmake/recorder_wrappers.py from src/recorder/functions.table.
#include "recorder/handlers/handlers.hpp"

namespace tradewind::recorder {
"""


def wrappers(functions: list[Function]) -> str:
    """Return the source of all wrappers."""
    names = list(dict.fromkeys(function.name for function in functions))
    text = [_HEADER]
    text.append("const char* const function_names[] = {" + ", ".join(f'"MPI_{name}"' for name in names) + "};")
    text.append(f"const int function_count = {len(names)};")
    text.append("Function functions[function_count] = {};\n")
    structures: dict[str, str] = {}
    for function in functions:
        structures.setdefault(_body(function), f"{function.symbol}_Call")
    text += [f"struct {name} : {body}" for body, name in structures.items()]
    text.append("}  // namespace tradewind::recorder\n\nusing namespace tradewind::recorder;\n")
    text += [_wrapper(each, structures[_body(each)], names.index(each.name)) for each in functions]
    return "\n".join(text)


def _body(function: Function) -> str:
    """Return the structure of a function's arguments, without its name."""
    names = ", ".join(function.parameters)
    types = ", ".join(["Word"] * len(function.parameters))
    fitting = " && ".join(_fits(function, n) for n in function.narrowed) or "true"
    fits = f"bool fits([[maybe_unused]] CountsRead read) const {{ return {fitting}; }}" if function.large else ""
    return f"""{function.base} {{
    using Function = int({types});
    {f"Word {names};" if names else ""}
    int invoke(Function* function) const {{ return function({names}); }}
    {fits}
}};"""


def _fits(function: Function, place: int) -> str:
    """Return the condition that an argument fits into an int, or is not read."""
    read = {"count": "!read.send || ", "recvcount": "!read.receive || "}.get(function.arguments[place], "")
    return f"({read}is_int({function.parameters[place]}))"


def _wrapper(function: Function, structure: str, number: int) -> str:
    symbol, names = function.symbol, function.parameters
    parameters = ", ".join(f"Word {name}" for name in names)
    base = f'"PMPI_{function.name}"' if function.large else "nullptr"
    initial = ", ".join([f"{{{number}, frame}}", *names])
    return f"""extern "C" TRADEWIND_EXPORTED int {symbol}({parameters}) {{
    static Real<{structure}::Function> real{{"P{symbol}", {base}}};
    const auto frame = reinterpret_cast<Word>(__builtin_frame_address(0));
    {structure} call{{{initial}}};
    return recorded<{function.handler}>(call, real);
}}
extern "C" TRADEWIND_EXPORTED int P{symbol}({parameters}) __attribute__((alias("{symbol}")));
"""


def main(table: str, output: str) -> None:
    """Write the wrappers of a table into a file."""
    functions = list(functions_of(Path(table).read_text(encoding="utf-8")))
    Path(output).write_text(wrappers(functions), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
