"""Checks the words of the project: run from the root as ``python tests/words.py``.

Names that a stranger cannot understand, and comments and docstrings that begin with "Of", "What" or "How often", are
refused with file, line and what to write instead; so are sentences in which programs hear and tell like persons.
`PENDING` and `_PENDING_PERSONS` list the folders that are still to be revised.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("src", "bindings", "include", "python", "tests", "docs", "examples", "benchmarks", "README.md")
SUFFIXES = {".c", ".cpp", ".f90", ".h", ".hpp", ".js", ".jinja", ".md", ".py", ".pyi", ".sh"}

FORMER_NAMES = ("CHANGELOG.md", "tests/words.py", "tests/test_words.py")
"""Files that must name former words."""

PENDING: tuple[str, ...] = ()
"""Folders and files that are still to be revised. The list only shrinks."""

_PENDING_PERSONS: tuple[str, ...] = ()
"""Folders, and beginnings of names, in which programs may still speak like persons. The list only shrinks."""

_UNIT = (
    r"bytes?|ranks?|NICs?|messages?|seconds?|points?|flops|threads?|packets?|cores?|exchanges?|levels?|values?|times"
)
_STORES = ("python/tradewind/study/cases/store.py", "tests/dataset/test_read.py", "tests/study/test_study_store.py")
_STEPS = ("python/tradewind/workload/output_program.py",)
"""Files in which it is in the name of a step, which the hash of stored programs depends on."""
_NOBODY = (
    *("tests/base/test_files.py", "tests/study/test_study_finding.py", "tests/workload/test_program_file.py"),
    "tests/validation/test_forms.py",
)
"""Files in which it is the name of a user, or a text of a study."""
_PER = r"rank|node|point|second|packet|stage|step|message|process|switch|part|window|group|port|core"

RULES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (r"[Cc]arriages?", "intranode", ("python/tradewind/machine/machine.py", "tests/machine/test_intranode.py")),
    (r"Handling", "MessageCost", ()),
    (r"Standing", "SwitchCoordinates", ()),
    (r"[Nn]ewsroom|take_stock|Stock", "ProgressReceiver, scan_cache, CachedCases", ()),
    (r"[Cc]rew|hired", "workers, start_workers", ()),
    (r"[Rr]eckon(s|ed|ing)?", "extrapolate, compute, or 'computed by hand'", ()),
    (r"LetterReader|Mail|Desk", "ByteReader, ProcessExchange, lookup scratch", ()),
    (r"shelved|backlog|crowd_bytes|crowd_from", "compact queue, compact_from", ()),
    (r"passes_on", "store_and_forward", ()),
    (r"Unlike|abstain(s|ed)?", "Mismatch, decline", ()),
    (r"Envelope|longest_letter", "PeerMessage, longest_message", ()),
    (r"Act", "Operation", ()),
    (r"halo_turn", "halo_parity", ()),
    (r"keepers?|lend|lent|borrow(ed)?", "directory rank, ghost point", ()),
    (r"of_first", "on_root", ()),
    (r"TEACHING", "NOT_SIMULATED", ()),
    (r"nearness", "published comparison", ()),
    (r"act_kinds|MOST_SPANS", "trace_event_kinds, MAX_EVENTS", ()),
    (
        r"\w*(nics|ranks|nodes|bytes|points|steps|messages|packets|events|switches|links)_a_(node|rank|point|window|step|second|switch|chunk|check|message|packet)",
        "..._per_node, ..._per_rank",
        (),
    ),
    (r"descendant ports|ports up|ports down", "downlinks, uplinks", ()),
    (r"(letters|tables) to (a few )?ranks that do not know", "dynamic sparse data exchange (NBX)", ()),
    (r"wait for (one another|each other) in a circle", "cyclic dependency, deadlock", ()),
    (r"points that cannot be", "skipped cases", ()),
    (rf"({_UNIT}) an? ({_PER})", "'per', as in bytes per point", ()),
    (r"[Aa]nswers? as JSON", "print JSON", ()),
    (r"(right|wrong|reference) answers?", "expected result, wrong result", ()),
    (r"answers (an?|the) (status|text|field|version)", "returns a status", ()),
    (r"TuningSite|site_of", "Host, host_of", ()),
    (r"most loaded (link|port|NIC)s?", "busiest link", ()),
    (r"(carried|completed)_way", "carried_method, completed_method", ()),
    (r"reckoned_change", "extrapolated_change", _STORES),
    (r"lay_beside|lay (it|them) beside", "add_predictions, compare with", ()),
    (r"(leave|chosen)_together", "fail_collectively, chosen_on_all", ()),
    (r"for_ever|wait for (each other|one another) for ever", "deadlock", ("docs/tutorial/index.md",)),
    (r"talks?", "send and receive, call, or a message", (*_PENDING_PERSONS, "docs/explanation/hirlam2004.md")),
    (r"hears?|heard", "receive, get the error", _PENDING_PERSONS),
    (r"news", "status, progress", _PENDING_PERSONS),
    (r"hurry|hurries|spoil(s|t|ed)?|is_spoilt", "flush_now, mark_incomplete", _PENDING_PERSONS),
    (r"tells?|telling|or_tell", "send, report, distinguish", _PENDING_PERSONS),
    (r"told|foretells?|foretold", "given, fitted, reported, predicted", (*_PENDING_PERSONS, *_STEPS)),
    (r"said", "text, attributes; reported, given", _PENDING_PERSONS),
    (r"nobody", "no rank, nothing", (*_PENDING_PERSONS, *_NOBODY)),
    (r"so many", "the name of the number", (*_PENDING_PERSONS, *_NOBODY)),
    (r"(that|which|or|and) (is|are) none", "invalid", _PENDING_PERSONS),
    (r"share_out|shared_out|lies_by_rows", "split_work, is_strided", _PENDING_PERSONS),
)
"""(word, what to say instead, files or folders in which it may stand, for example as the former name of a key)."""

_WORDS = re.compile("|".join(rf"\b(?:{word})\b" for word, _, _ in RULES))
_OPENING = re.compile(
    r'"""(?:Of|What|How often|How many)\s|^[ \t]*(?://+|#|!+>?|\*) (?:Of|What|How often|How many)\s', re.MULTILINE
)
_GENERATED = re.compile(r"<!-- begin [\w-]+ -->.*?<!-- end [\w-]+ -->", re.DOTALL)
"""Blocks that `docs/studies.py` writes have the words of the studies."""
_COMMENT = re.compile(r"\s*(?://|#|!|\*)")


def problems_of(text: str, name: str) -> Iterator[str]:
    """Yield each problem of a file: its name, the line, the word and what to write instead."""
    text = _GENERATED.sub(lambda block: "\n" * block[0].count("\n"), text)
    for found in _WORDS.finditer(text):
        instead, former = next((instead, former) for word, instead, former in RULES if re.fullmatch(word, found[0]))
        if not name.startswith(former):
            yield f"{name}:{_line(text, found.start())}: {found[0]!r}: write {instead}"
    if name.endswith(".md"):
        return
    for found in _OPENING.finditer(text):
        line = _line(text, found.start())
        if found[0].startswith('"""') or not (line > 1 and _COMMENT.match(text.splitlines()[line - 2])):
            opening = found[0].strip(' \t"/#!*>\n')
            yield f"{name}:{line}: begins with {opening!r}: begin with a verb or a noun that says what it is"


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def is_pending(name: str) -> bool:
    """Return whether a file is still to be revised."""
    return any(name == each or name.startswith(f"{each}/") for each in PENDING)


def files_of(root: Path) -> Iterator[Path]:
    """Yield the files that are checked, in order."""
    for folder in FOLDERS:
        path = root / folder
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (each for each in found if each.suffix in SUFFIXES and each.is_file())


def problems(root: Path) -> list[str]:
    """Return the problems of all files that are not pending."""
    found: list[str] = []
    for path in files_of(root):
        name = path.relative_to(root).as_posix()
        if name not in FORMER_NAMES and not is_pending(name):
            found += problems_of(path.read_text(encoding="utf-8"), name)
    return found


def main() -> int:
    """Print the problems and return the exit code."""
    found = problems(ROOT)
    for each in found:
        print(each)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
