"""Commands whose first argument names a kind: a pattern or a dwarf, which brings options of its own.

``tradewind bench halo --help`` shows what a halo takes. A command is written once, for all kinds: it takes a parameter
of the type `Asked`, which stands for the options of the kind. What a user gives of them is read by `Asked.values`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from tradewind.cli.parameters import Option

if TYPE_CHECKING:
    from tradewind.workload.options import Option as KindOption

Command = Callable[..., Any]


@dataclass(frozen=True)
class Family:
    """The kinds that a command can be about."""

    what: str
    """Name in errors: pattern, dwarf."""
    kinds: Callable[[], Mapping[str, str]]
    """Names and what they are."""
    options: Callable[[str], Mapping[str, KindOption]]
    """The options of a kind, in the order of the help."""
    shared: Callable[[], Mapping[str, KindOption]]
    """The options that all kinds have."""
    beside: tuple[str, ...] = ()
    """Options of all kinds that commands have by themselves."""

    @property
    def panel(self) -> str:
        """The heading of a kind's options."""
        return f"{self.what.capitalize()} options"

    def named(self, arguments: Sequence[str]) -> str | None:
        """The kind that arguments name; None where they name none. Raises InputError where the first is no kind."""
        known = self.kinds()
        found = next((each for each in arguments if each in known), None)
        if found is None and arguments and not arguments[0].startswith("-"):
            from tradewind.base.errors import InputError
            from tradewind.base.names import unknown

            raise InputError(unknown(self.what, arguments[0], known))
        return found

    def own_options(self, kind: str) -> list[KindOption]:
        """The options of a kind that commands do not have by themselves."""
        return [each for name, each in self.options(kind).items() if name not in self.beside]


@dataclass(frozen=True)
class Asked:
    """Options of a kind that the user gave, as text."""

    given: Mapping[str, Any] = field(default_factory=dict)


def of_kinds(family: Family) -> Callable[[Command], Command]:
    """Let a command take its `Asked` from the options of a kind. The command's first argument is the kind's name."""

    def decorate(command: Command) -> Command:
        def spread_over(options: Sequence[KindOption]) -> Command:
            return spread(command, Asked, [parameter(each, family.panel) for each in options], Asked)

        def general() -> Command:
            """Return the command with the options that all kinds have."""
            shared = family.shared().items()
            return spread_over([each for name, each in shared if each.common and name not in family.beside])

        command.family = family  # type: ignore[attr-defined]
        command.general = general  # type: ignore[attr-defined]
        command.of = lambda kind: spread_over(family.own_options(kind))  # type: ignore[attr-defined]
        return command

    return decorate


def spread(
    command: Command, kind: type, parameters: Sequence[inspect.Parameter], make: Callable[[dict[str, Any]], Any]
) -> Command:
    """Return a command with these parameters in place of its one of a kind, which `make` makes of those given."""
    signature = inspect.signature(command, eval_str=True)
    whole = next(p.name for p in signature.parameters.values() if p.annotation is kind)

    @functools.wraps(command)
    def run(*arguments: Any, **values: Any) -> Any:
        given = {each.name: values.pop(each.name, None) for each in parameters}
        return command(
            *arguments, **values, **{whole: make({name: value for name, value in given.items() if value is not None})}
        )

    shown: list[inspect.Parameter] = []
    for each in signature.parameters.values():
        if each.name == whole:
            shown += parameters
        else:
            shown.append(each.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]  # which is read
    run.__annotations__ = {each.name: each.annotation for each in shown}
    return run


def parameter(each: KindOption, panel: str | None, prefix: str = "") -> inspect.Parameter:
    """An option of a kind as a parameter. What is not given is None, and the request's own default holds.

    `prefix`: of its name, where two kinds have options of one name.
    """
    kind: Any = str if each.unit or each.words else {"int": int, "float": float, "bool": bool}.get(each.kind, str)
    must = each.required and not each.offered
    nothing = each.required or each.negated or each.default in (None, "", False)
    shown: str | bool = each.shown or each.offered or (False if nothing else each.text(each.default))
    option = Option(
        each.flag,
        help=each.help,
        panel=panel,
        show_default=shown,
        metavar=each.metavar or None,
        hidden=each.hidden,
        allowed=None,
        known=each.known,
    )
    annotation = Annotated[kind, option] if must else Annotated[kind | None, option]
    default = inspect.Parameter.empty if must else None
    return inspect.Parameter(prefix + each.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
