"""``--spec``: a config file in place of flags, whose keys are the flags."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import click
from click.core import ParameterSource

from fairbounds.errors import FairboundsError, SolverError, SourceError
from fairbounds.spec import AuditSpec, Key, Kind

__all__ = ["keys_of", "pointing", "repeating", "spec"]

_META = "fairbounds.spec"
_NO_KEYS = ("spec", "help")
_OUTPUT = ("format", "report", "gate", "undetermined", "junit", "github")
_LEVELS = ("favourable", "positive", "reference")
_FILES = ("internal", "external")
_KINDS: Mapping[str, Kind] = {
    "recode": "files",
    "bin": "edges",
    **dict.fromkeys(_LEVELS, "level"),
    **dict.fromkeys(_FILES, "file"),
}
_NUMBERS = ("threshold", "tolerance", "confidence", "internal_size", "external_size")
_ASKED = {"metric": "metrics", **{name: name for name in (*_NUMBERS, "internal_rounding", "external_rounding")}}


def _read(context: click.Context, _: click.Parameter, path: Path | None) -> None:
    """Let a spec stand for the flags that were not given."""
    if path is None or context.resilient_parsing:
        return
    from fairbounds.sources.paths import guarded, locate

    [found, *others] = locate(str(path), "spec")
    if others:
        raise SourceError(f"the spec {str(path)!r} is a pattern that several files match; name one")
    with guarded(f"spec {str(path)!r}"):
        try:
            text = found.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError:
            raise SourceError(f"the spec {str(path)!r} is not UTF-8 text; save it as that") from None
    read = AuditSpec.from_toml(text, keys_of(context.command), name=found.name, folder=found.parent)
    _check_values(read)
    context.meta[_META] = read
    context.default_map = {_parameter(context, name).name: _as_typed(read, name) for name in read.values}


spec = click.option(
    "--spec",
    type=click.Path(path_type=Path),
    is_eager=True,
    expose_value=False,
    callback=_read,
    metavar="AUDIT.toml",
    help="Take what is not given here from this file, tables and all; fairbounds init writes one.",
)


# -- the flags as keys -------------------------------------------------------------------------------------------------


def keys_of(command: click.Command) -> list[Key]:
    """Return what a spec may say: one key for every argument and flag of a command.

    Examples
    --------
    >>> command = click.Command("audit", params=[click.Option(["--internal-size"], type=float, help="People.")])
    >>> keys_of(command)
    [Key(name='internal_size', kind='number', help='People.', choices=(), least=None, default=None)]
    """
    return [_key_of(parameter) for parameter in command.params if _name_of(parameter) not in _NO_KEYS]


def _name_of(parameter: click.Parameter) -> str:
    """Return the flag as a key."""
    long = next((flag for flag in parameter.opts if flag.startswith("--")), parameter.name or "")
    return long.removeprefix("--").replace("-", "_")


def _parameter(context: click.Context, name: str) -> click.Parameter:
    return next(parameter for parameter in context.command.params if _name_of(parameter) == name)


def _key_of(parameter: click.Parameter) -> Key:
    name, type_ = _name_of(parameter), parameter.type
    least = type_.min if isinstance(type_, click.IntRange) else None
    return Key(
        name,
        _kind(name, parameter),
        getattr(parameter, "help", None) or _ARGUMENTS.get(name, ""),
        tuple(map(str, type_.choices)) if isinstance(type_, click.Choice) else (),
        None if least is None else int(least),
        _default(parameter),
    )


_ARGUMENTS = {
    "internal": "The table of decisions: a file, or a pattern such as part-*.csv.",
    "external": "The table with the protected columns: a file or a pattern.",
}


def _kind(name: str, parameter: click.Parameter) -> Kind:
    if name in _KINDS:
        return _KINDS[name]
    if isinstance(parameter.type, click.Path):
        return "file"
    if getattr(parameter, "is_flag", False):
        return "flag"
    if parameter.multiple:
        return "texts"
    if isinstance(parameter.type, click.types.FloatParamType):
        return "number"
    return "whole" if isinstance(parameter.type, click.types.IntParamType) else "text"


def _default(parameter: click.Parameter) -> Any:
    """Return the default as a spec would write it, ``None`` where nothing, or false, is the default."""
    value = parameter.default
    if isinstance(value, list | tuple):
        return list(value) or None
    return value if isinstance(value, str | int | float) and value is not False else None


# -- values ------------------------------------------------------------------------------------------------------------


def _check_values(read: AuditSpec) -> None:
    """Check what only the engines know: names of metrics, and numbers that make no sense."""
    from fairbounds.answering import Asked

    for name, argument in _ASKED.items():
        if name in read.values:
            value: Any = read.values[name]
            try:
                Asked(**{argument: value})
            except FairboundsError as error:
                raise read.fault(str(error), name) from None


def _as_typed(read: AuditSpec, name: str) -> Any:
    """Return a value of the spec as the command line would be given it, and paths as seen from here."""
    value = read.values[name]
    if name in _FILES or name in ("report", "junit"):
        return read.path(str(value))
    if isinstance(value, dict):
        return [f"{column}={_entry(read, name, column, entry)}" for column, entry in value.items()]
    return str(value) if name in _LEVELS else value


def _entry(read: AuditSpec, name: str, column: str, entry: Any) -> str:
    if "=" in column:
        raise read.fault(f"the column {column!r} has a sign of equality in its name; rename it", name, column)
    return ",".join(map(repr, entry)) if isinstance(entry, list) else read.path(entry)


@contextmanager
def pointing() -> Iterator[None]:
    """Name the line of the spec that an error is about, where a value of the spec occurs in its message."""
    try:
        yield
    except SolverError:  # ours to mend, with its traceback
        raise
    except FairboundsError as error:
        places = _places(click.get_current_context(), str(error))
        if not places:
            raise
        raise type(error)(f"{error} ({' and '.join(places)})") from None


def _places(context: click.Context, message: str) -> list[str]:
    read = context.meta.get(_META)
    if read is None:
        return []
    complaint = message.partition(";")[0]  # what follows is advice, which may quote anything
    found = [
        name
        for name, value in read.values.items()
        if context.get_parameter_source(str(_parameter(context, name).name)) is ParameterSource.DEFAULT_MAP
        and any(repr(text) in complaint for text in _texts(read, value))
    ]
    said = [name for name in found if name not in _FILES] or found
    return [f"{name!r} on {read.place(name)}" for name in said]


def _texts(read: AuditSpec, value: Any) -> list[str]:
    """Return what of a value a message may quote."""
    texts = [*value, *map(str, value.values())] if isinstance(value, dict) else value
    found = [text for text in (texts if isinstance(texts, list) else [texts]) if isinstance(text, str)]
    return [*found, *(read.path(text) for text in found), *(os.path.basename(text) for text in found)]


# -- to do it again ----------------------------------------------------------------------------------------------------


def repeating() -> dict[str, Any]:
    """Return the spec and the command that repeat the audit of this command line, files by their names alone.

    What is written and where is left out: the audit is the same whatever becomes of it.
    """
    said, context = {}, click.get_current_context()
    for parameter in context.command.params:
        key = _name_of(parameter)
        if key not in (*_NO_KEYS, *_OUTPUT):
            value = _as_key(key, context.params[str(parameter.name)])
            if value not in (None, [], {}, False) and value != _default(parameter):
                said[key] = value
    return {"command": _command(said), "spec": said}


def _as_key(key: str, value: Any) -> Any:
    """Return a parameter as a spec would write it."""
    if key in _FILES:
        return os.path.basename(value)
    if isinstance(value, Mapping):
        return {column: _part(key, str(text)) for column, text in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _part(key: str, text: str) -> Any:
    return os.path.basename(text) if key == "recode" else _numbers(text)


def _numbers(text: str) -> list[float]:
    return [int(part) if part.strip().lstrip("-").isdecimal() else float(part) for part in text.split(",")]


def _command(said: Mapping[str, Any]) -> str:
    """Write a command line of values by key."""
    words = ["fairbounds", "audit", *(str(said[name]) for name in _FILES if name in said)]
    for name, value in said.items():
        if name not in _FILES:
            words += _option(f"--{name.replace('_', '-')}", value)
    return shlex.join(words)


def _option(flag: str, value: Any) -> list[str]:
    if value is True:
        return [flag]
    if isinstance(value, dict):
        return [word for column, entry in value.items() for word in (flag, f"{column}={_joined(entry)}")]
    return [word for one in (value if isinstance(value, list) else [value]) for word in (flag, str(one))]


def _joined(entry: Any) -> str:
    return ",".join(f"{number!r}" for number in entry) if isinstance(entry, list) else cast("str", entry)
