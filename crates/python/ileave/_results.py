"""Running experiments, and reading results."""

from __future__ import annotations

import json
import math
import os
import warnings
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from . import _ileave
from ._ileave import InputError

Path = Union[str, "os.PathLike[str]"]
Column = Tuple[str, str, str, str, str, List[Any]]
PANDAS_TYPES = {"int": "Int64", "float": "float64", "bool": "boolean", "str": "object"}


def run(
    experiment: Union[Path, Mapping[str, Any]],
    *,
    set: Union[Mapping[str, Any], Iterable[str], None] = None,
    out: Optional[Path] = None,
    resume: bool = False,
    as_: str = "pandas",
) -> Any:
    """Runs an experiment in simulation: the path of an experiment file or of a fio job, or a dict with what such a file
    has.

    `set` gives keys other values, or lists of them, as `{"volume.interleave": ["32KiB", "64KiB"]}` or
    `["volume.interleave=32KiB,64KiB"]`. In a dict a string is one value, commas or not. With `out` the results are kept in that directory, as `ileave run --out` does,
    and `resume=True` continues there. Ctrl-C stops the trials that run; what is finished is kept in `out`.

    Returns the trials, a row each: a `pandas.DataFrame`, a `pyarrow.Table` (`as_="arrow"`) or a dict of lists
    (`as_="dict"`). `attrs` (of a Table: its metadata) has `answer`, the units and the roles of the columns, and `out`.
    """
    _check_form(as_)
    path, text = _experiment(experiment)
    if resume and out is None:
        raise InputError("resume=True needs `out`, the directory whose run is continued")
    out = None if out is None else os.fspath(out)
    try:
        columns, answer, said = _ileave.run(path, text, _assignments(set), out, resume)
    except KeyboardInterrupt as interrupt:
        if out is not None and hasattr(interrupt, "add_note"):
            interrupt.add_note(f"finished trials are kept; continue with out={out!r}, resume=True")
        raise
    for warning in said:
        warnings.warn(warning, stacklevel=2)
    return _table(columns, as_, {"answer": answer, "out": out})


class Report:
    """The verdict on a results directory. `print(report)` shows what `ileave report` shows; in a notebook it is the
    verdict and the ranking."""

    def __init__(self, native: _ileave.Report) -> None:
        self._native = native

    @property
    def name(self) -> str:
        """The name of the experiment."""
        return self._native.name()

    @property
    def answer(self) -> str:
        """What to choose, in a sentence."""
        return self._native.answer()

    def markdown(self) -> str:
        """The verdict and the ranking as Markdown."""
        return self._native.markdown()

    def html(self) -> str:
        """One self-contained page."""
        return self._native.html()

    def json(self) -> Dict[str, Any]:
        """All of it as data, as `ileave report --json` prints it."""
        return json.loads(self._native.json())

    def trials(self, as_: str = "pandas") -> Any:
        """The trials, a row each, as `run` returns them."""
        _check_form(as_)
        return _table(self._native.columns(), as_, {"answer": self.answer})

    def __str__(self) -> str:
        return self._native.text()

    def _repr_markdown_(self) -> str:
        return self.markdown()


def report(
    directory: Path,
    *,
    safe: bool = False,
    objective: Union[str, Sequence[str]] = (),
    subject_to: Union[str, Sequence[str]] = (),
    choose: Union[str, Sequence[str]] = (),
) -> Report:
    """Judges a results directory; the arguments are the flags of `ileave report`."""
    return Report(
        _ileave.Report(
            os.fspath(directory), safe, _words(objective), _words(subject_to), _words(choose)
        )
    )


def _words(given: Union[str, Sequence[str]]) -> List[str]:
    return [given] if isinstance(given, str) else list(given)


def _assignments(given: Union[Mapping[str, Any], Iterable[str], None]) -> List[Tuple[str, str]]:
    if given is None:
        return []
    if isinstance(given, Mapping):
        return [(str(key), _values(_plain(str(key), value))) for key, value in given.items()]
    pairs = []
    for word in _words(given):
        key, equals, values = word.partition("=")
        if not key or not equals:
            raise InputError(f"set {word}: write it as KEY=VALUE[,VALUE…], or give a dict")
        pairs.append((key, values))
    return pairs


def _plain(key: str, value: Any) -> Any:
    """The value of a key, or its values, as JSON has them; with lists for whatever holds several."""
    # Numbers and arrays of numpy, series of pandas.
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, Mapping):
        inside = f"{key}." if key else ""
        return {str(name): _plain(f"{inside}{name}", own) for name, own in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [_plain(key, one) for one in value]
    if isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise InputError(f"`{key}` is {value!r}; give a number, a text, True, False, or a list of these")


def _values(value: Any) -> str:
    """The value, or the values of a list, as `--set` reads them: what commas or brackets would part stands in quotes."""
    if isinstance(value, list):
        return ",".join(_values(one) for one in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    is_bare = text == text.strip() and not any(mark in text for mark in ",[]\"'\\\n")
    # A JSON string is a TOML string, but for the halves of characters that JSON escapes.
    return text if is_bare else json.dumps(text, ensure_ascii=False)


def _experiment(experiment: Union[Path, Mapping[str, Any]]) -> Tuple[Optional[str], Optional[str]]:
    """The path of an experiment, or what it has as JSON."""
    if isinstance(experiment, Mapping):
        return None, json.dumps(_plain("", experiment))
    return os.fspath(experiment), None


def _check_form(as_: str) -> None:
    """Says before anything runs what would fail after it."""
    if as_ == "pandas":
        _import("pandas", "pandas")
    elif as_ == "arrow":
        _import("pyarrow", "arrow")
    elif as_ != "dict":
        raise InputError(f'as_={as_!r}: take "pandas", "arrow" or "dict"')


def _import(module: str, extra: str) -> Any:
    try:
        return __import__(module)
    except ImportError as error:
        raise ImportError(
            f'{module} is not installed; `pip install "ileave[{extra}]"`, or take as_="dict"'
        ) from error


def _table(columns: List[Column], as_: str, about: Dict[str, Any]) -> Any:
    about["units"] = {name: unit for name, _, unit, *_ in columns if unit}
    about["roles"] = {name: role for name, role, *_ in columns}
    if as_ == "dict":
        return {name: values for name, *_, values in columns}
    if as_ == "arrow":
        return _arrow(columns, about)
    pandas = _import("pandas", "pandas")
    frame = pandas.DataFrame(
        {name: pandas.Series(values, dtype=PANDAS_TYPES[kind]) for name, *_, kind, values in columns}
    )
    frame.attrs.update(about)
    return frame


def _arrow(columns: List[Column], about: Dict[str, Any]) -> Any:
    pyarrow = _import("pyarrow", "arrow")
    types = {
        "int": pyarrow.int64(),
        "float": pyarrow.float64(),
        "bool": pyarrow.bool_(),
        "str": pyarrow.string(),
    }
    fields = [
        pyarrow.field(name, types[kind], metadata={"role": role, "unit": unit, "meaning": meaning})
        for name, role, unit, meaning, kind, _ in columns
    ]
    arrays = [pyarrow.array(values, types[kind]) for *_, kind, values in columns]
    schema = pyarrow.schema(fields, metadata={"ileave": json.dumps(about)})
    return pyarrow.Table.from_arrays(arrays, schema=schema)
