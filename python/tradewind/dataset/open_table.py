"""Opens any result as one tidy table: datasets and folders of studies, JSON of commands, tuning files, CSV."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tradewind.base.errors import InputError
from tradewind.base.reading import is_folder, is_there, path_of, read_json, read_text
from tradewind.base.toml_lines import TomlFile
from tradewind.dataset.command_results import records_of_json, records_of_tuning
from tradewind.dataset.read import read_dataset
from tradewind.dataset.table import TEXT_COLUMNS, VALUES, columns, table_of, typed
from tradewind.study.cases.records import Record

if TYPE_CHECKING:
    import pandas as pd

DATASET = "results.nc"
SUFFIXES = (".nc", ".json", ".toml", ".csv")


def open_table(*paths: str | Path) -> pd.DataFrame:
    """Return the tidy table of one result or several: a row per value (`tradewind.dataset.table`).

    A path is a study's results.nc, the folder of a study or of studies, what ``--json`` of bench, tune, run, simulate
    or advise has printed, a tuning file, or such a table as CSV. Files of earlier versions are read as well. Raises
    InputError for other files.
    """
    import pandas as pd

    if not paths:
        raise InputError("no result: name one file or folder, or more")
    tables = [_table(path_of("result", path)) for path in paths]
    if len(tables) == 1:
        return tables[0]
    first = 0
    for table in tables:
        table["case"] += first
        first = int(table["case"].max()) + 1 if len(table) else first
    joined = pd.concat(tables, ignore_index=True)
    return joined[[name for name in columns() if name in joined]]


def is_tuning(path: Path) -> bool:
    """Whether a TOML file is a tuning file; else it may be that of a machine."""
    return "entry" in TomlFile(path).data


def _table(path: Path) -> pd.DataFrame:
    if not is_there(path):
        raise InputError(f"{path}: there is no such file or folder")
    if is_folder(path):
        return _folder(path)
    if path.suffix == ".csv":
        return _checked(_csv(path), path)
    records = _records(path)
    if path.suffix != ".json":
        return table_of(records)
    try:
        return _checked(table_of(records), path)
    except (TypeError, ValueError, ArithmeticError) as error:
        raise InputError(f"{path}: a value is not a number: {error}") from None


def _checked(table: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return a table of a file that anyone may have written. Raises InputError for invalid ranks and times."""
    if "ranks" in table and table["ranks"].dtype.kind != "i":
        texts = list(table["ranks"].dropna())
        wrong = next((text for text in texts if not text.isdecimal()), texts[0])
        raise InputError(f"{path}: ranks {wrong!r}: a whole number is allowed")
    times = table.loc[table["quantity"] == "time", "value"]
    for wrong in times[~times.between(0, sys.float_info.max)]:
        raise InputError(f"{path}: time {wrong:g} s: a finite number, 0 or more, is allowed")
    return table


def _records(path: Path) -> list[Record]:
    if path.suffix == ".nc":
        return read_dataset(path)[0]
    if path.suffix == ".toml":
        return _tuning(path)
    if path.suffix == ".json":
        return records_of_json(read_json(path, "result"), str(path))
    raise InputError(f"{path}: a folder, or a name that ends in {', '.join(SUFFIXES)} is allowed")


def _folder(path: Path) -> pd.DataFrame:
    """The table of a study, of all studies in a folder, or of the datasets that lie in it."""
    found = datasets_of(path)
    if not found:
        raise InputError(f"{path}: no dataset of a study, that is no {DATASET}, lies in this folder or one below it")
    if "" in found:
        return table_of(read_dataset(found[""])[0])
    return table_of(list(_of_studies(found.items())))


def datasets_of(path: Path) -> dict[str, Path]:
    """Return the datasets of a result by the names of their studies, that of one study under an empty name; none for
    results of commands."""
    if not is_folder(path):
        return {"": path} if path.suffix == ".nc" else {}
    if is_there(path / DATASET):
        return {"": path / DATASET}
    found = {file.parent.name: file for file in sorted(path.glob(f"*/{DATASET}"))}
    return found | {file.stem: file for file in sorted(path.glob("*.nc"))}


def _of_studies(files: Iterable[tuple[str, Path]]) -> Iterable[Record]:
    for name, file in files:
        for record in read_dataset(file)[0]:
            yield record | {"study": name}


def _tuning(path: Path) -> list[Record]:
    from tradewind.method.tuning import check

    if not is_tuning(path):
        raise InputError(f"{path}: this file has no measured times; a tuning file has tables [[entry]]")
    check(path)
    return records_of_tuning(TomlFile(path).data["entry"])


def _csv(path: Path) -> pd.DataFrame:
    import pandas as pd

    text = read_text(path, "table")
    header = text.partition("\n")[0].split(",")
    if missing := [name for name in ("case", *VALUES) if name not in header]:
        raise InputError(f"{path} is not a table of results: it has no column {', '.join(missing)}")
    types = dict.fromkeys(TEXT_COLUMNS, "string")
    try:
        table = pd.read_csv(io.StringIO(text), dtype=types, keep_default_na=False, na_values=[""])
        return typed(table.fillna({"part": ""}))
    except (ValueError, TypeError) as error:
        raise InputError(f"{path} is not a table of results: {error}") from None
