"""One command of the command line: its parameters, its help, and how it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tradewind.base.errors import InputError
from tradewind.base.names import nearest, unknown
from tradewind.cli.kinds import Family
from tradewind.cli.parameters import Parameter, parameters_of, parse, wants_help


class Command:
    """A command that is about nothing else, or about a kind of a `Family`, whose options it takes, too."""

    def __init__(self, name: str, function: Callable[..., Any], about: str, arguments: Sequence[str] = ()) -> None:
        """`arguments`: of a command about a kind, where it is named."""
        self.name, self.path, self.about = name, f"tradewind {name}", about
        self.family: Family | None = getattr(function, "family", None)
        self.kind = None if self.family is None else self.family.named(arguments)
        if self.family is not None:
            function = function.general() if self.kind is None else function.of(self.kind)  # type: ignore[attr-defined]
        self._function = function
        self.parameters: list[Parameter] = parameters_of(function)

    def __call__(self, arguments: Sequence[str]) -> int | None:
        """Run it with the arguments behind its name, or print its help. Raises InputError."""
        if wants_help(arguments):
            print(self.help(), end="")
            return 0
        if self.family is not None and self.kind is None:
            raise InputError(f"which {self.family.what}? {', '.join(self.family.kinds())} are known")
        code: int | None = self._function(**parse(self.parameters, arguments, self._strange))
        return code

    def help(self) -> str:
        """Its help; of a command about a kind without one, with the kinds that there are."""
        from tradewind.cli.help import help_text

        if self.family is None:
            word = self.name.partition(" ")[2]  # which the path has, and which is the first argument, too
            shown = self.parameters[1:] if word else self.parameters
            return help_text(self.path, self.about, shown, example=self.example)
        what = self.family.what
        more: dict[str, Any] = {"example": self.example, "kind_panel": self.family.panel, "without": what}
        if self.kind is not None:
            return help_text(f"{self.path} {self.kind}", self.about, self.parameters, **more)
        more["kinds"] = (f"{what.capitalize()}s", self.family.kinds())
        note = f"`{self.path} {what.upper()} --help` shows the options of one."
        return help_text(self.path, self.about, self.parameters, note=note, **more)

    @property
    def example(self) -> str:
        """A command line that its help shows; "": it has none."""
        from tradewind.cli.examples import example_of

        return example_of(self.name, self.kind, None if self.family is None else self.family.what)

    def _strange(self, flag: str, known: list[str]) -> str:
        """Return the error for an option that this command does not have."""
        if self.family is not None:
            others = [
                kind for kind in self.family.kinds() if any(each.flag == flag for each in self.family.own_options(kind))
            ]
            if others:
                own = [each.flag for each in self.family.own_options(str(self.kind)) if not each.hidden]
                takes = f"leave it out ({', '.join(others)} {'takes' if len(others) == 1 else 'take'} it)"
                more = f"{nearest(flag, own)} ({self.kind} takes {', '.join(own)})"
                return f"{flag} does not apply to {self.kind}: {takes}{more}"
        return unknown("option", flag, known)
