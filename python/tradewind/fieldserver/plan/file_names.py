"""Names of files: paths of sinks with keys in braces, names of fields, and which of them would meet."""

from __future__ import annotations

import functools
import glob
import itertools
import re
import string
from pathlib import PurePosixPath

from tradewind.base.errors import quoted
from tradewind.base.names import unknown

MANIFEST = "manifest"
"""Name of the folder of manifests."""
_KEYS_OF_PATHS = ("step", "name", "level")
_SPEC = {"step": re.compile("(0[1-9])?"), "name": re.compile(""), "level": re.compile("(0[1-9])?")}
_LONGEST_NAME = 200
_LONGEST_PATH = 1000


@functools.cache
def is_by_level(template: str) -> bool:
    """Whether files of a template are of one level each."""
    return "level" in (keys_of(template) or ())


class _Level(str):
    """The number of a level as a part of a path."""

    def __format__(self, spec: str) -> str:
        return self.zfill(int(spec or 0))


def file_name(template: str, name: str, step: int, level: float | None = None) -> str:
    """The path of a template for a field of a step, of one level where there is one: else with a star for it."""
    return template.format(step=step, name=name, level="*" if level is None else _Level(f"{level:.15g}"))


def _parsed(path: str) -> list[tuple[str, str | None, str | None, str | None]]:
    """Parts of a template: text before, key, form, conversion. Raises ValueError."""
    return list(string.Formatter().parse(path))


def keys_of(path: str) -> set[str] | None:
    """Return the keys of a template; None where its braces do not match."""
    try:
        return {key for _, key, _, _ in _parsed(path) if key is not None}
    except ValueError:
        return None


def path_problems(path: str, *, outside: bool = False) -> list[str]:
    """Problems of the path of a sink, which stays below the folder unless it may be `outside`."""
    if "\0" in path:
        return ["path: a null character is in no path"]
    if (keys := keys_of(path)) is None:
        return [f"path {path!r}: braces do not match"]
    problems = [f"path {path!r}: {unknown('key', key, _KEYS_OF_PATHS)}" for key in keys if key not in _KEYS_OF_PATHS]
    if problems:
        return problems
    if any(conversion or not _SPEC[key].fullmatch(form or "") for _, key, form, conversion in _parsed(path) if key):
        return [f"path {path!r}: {{step}}, {{step:06}}, {{name}}, {{level}} and {{level:03}} are allowed"]
    made = file_name(path, "name", 1, 1)
    if len(made) > _LONGEST_PATH:
        return [f"path of {len(made)} characters: up to {_LONGEST_PATH} are allowed"]
    parts = PurePosixPath(made)
    if ".." in parts.parts:
        return [f"path {path!r}: '..' is not allowed"]
    if parts.is_absolute() and not outside:
        return [f"path {path!r}: below the folder is allowed; elsewhere only with outside = true"]
    if any(part.startswith(".") for part in parts.parts):
        return [f"path {path!r}: names that begin with a point are those of files that are not whole"]
    if not parts.parts:
        return [f"path {path!r}: the name of a file is needed"]
    if parts.parts[0] == MANIFEST:
        return [f"path {path!r}: the folder {MANIFEST!r} holds what each step consists of"]
    return _unclear(path)


def _unclear(path: str) -> list[str]:
    """Problems of keys that nothing parts: field t1 at step 1 and field t at step 11 would have one file."""
    parsed = _parsed(path)
    return [
        f"path {path!r}: something other than a digit is needed between {{{before}}} and {{{key}}}, or two files have "
        "one name"
        for (_, before, _, _), (text, key, _, _) in itertools.pairwise(parsed)
        if before and key and (not text or text.isdigit())
    ]


def named(path: str, name: str | None = None) -> PurePosixPath:
    """Return a path with steps and levels as keys without a form, and where it is given the name of a field."""
    parts = [text + ("" if key is None else _as_key(key, name)) for text, key, _, _ in _parsed(path)]
    return PurePosixPath("".join(parts))


def _as_key(key: str, name: str | None) -> str:
    return name if key == "name" and name is not None else f"{{{key}}}"


def folders_of(path: str) -> str:
    """The pattern, as of `glob`, of the folders that files of a template lie in."""
    parts = [glob.escape(text) + ("" if key is None else "*") for text, key, _, _ in _parsed(path)]
    return str(PurePosixPath("".join(parts)).parent)


def meets(one: PurePosixPath, other: PurePosixPath) -> bool:
    """Whether two paths of `named` are of one file, or one is a folder of the other."""
    return one == other or one in other.parents or other in one.parents


def name_problems(name: str) -> list[str]:
    """Problems of the name of a field, which may become part of a path."""
    if not isinstance(name, str) or not name or len(name) > _LONGEST_NAME:
        return [f"field {quoted(name)}: a name of 1 to {_LONGEST_NAME} characters is allowed"]
    if any(c in name for c in "/{}") or not name.isprintable() or name.startswith("."):
        return [f"field {name!r}: a name without '/', braces and a leading point, of one line, is allowed"]
    if (count := len(name.encode())) > _LONGEST_NAME:
        return [f"field {name!r}: {count} bytes as UTF-8; a name of 1 to {_LONGEST_NAME} is allowed"]
    return []
