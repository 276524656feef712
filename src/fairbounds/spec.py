"""The config file of an audit, ``audit.toml``: everything that the flags can say, checked key by key.

Which keys there are is for the command line to say (its flags are the keys); what they may hold is checked here, and
every complaint names the line.
"""

from __future__ import annotations

import glob
import json
import math
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from fairbounds.errors import SourceError, brief, listed, nearest

__all__ = ["AuditSpec", "Key", "Kind", "schema", "written"]

Kind: TypeAlias = Literal["text", "texts", "level", "number", "whole", "flag", "file", "files", "edges"]
Value: TypeAlias = str | float | bool | list[Any] | dict[str, Any]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_MEANINGS: Mapping[Kind, str] = {
    "text": "text in quotation marks",
    "texts": "a list of texts",
    "level": "a level: text, a number, true or false",
    "number": "a number",
    "whole": "a whole number",
    "flag": "true or false",
    "file": "the path of a file, in quotation marks",
    "files": 'a table of files, one for each column, such as job = "map.csv"',
    "edges": "a table of lists of numbers, one for each column, such as age = [25, 60]",
}


_ADVICE = {
    "Cannot overwrite a value": "each key may be given once",
    "Invalid value": "text needs quotation marks, a list square brackets",
}


@dataclass(frozen=True)
class Key:
    """One thing that a spec can say.

    Attributes
    ----------
    name : str
        The flag, with underscores for hyphens.
    kind : Kind
        What it holds.
    help : str
        What it means, in the words of the command line.
    choices : tuple of str
        Words that a text must be among; none for any.
    least : int or None
        Smallest whole number.
    default : optional
        What holds where the key is absent.
    """

    name: str
    kind: Kind
    help: str = ""
    choices: tuple[str, ...] = ()
    least: int | None = None
    default: Any = None


@dataclass(frozen=True)
class AuditSpec:
    r"""What a config file says, checked.

    Attributes
    ----------
    values : dict
        By key; lists and tables as the file has them.
    name : str
        What messages call the file.
    folder : Path
        Paths in the file are relative to it.
    text : str
        The file, to point at its lines.

    Examples
    --------
    >>> keys = [Key("protected", "texts"), Key("threshold", "number")]
    >>> AuditSpec.from_toml('protected = ["sex"]\nthreshold = 0.9', keys).values
    {'protected': ['sex'], 'threshold': 0.9}
    >>> AuditSpec.from_toml('protected = "sex"\ntreshold = 0.9', keys)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    fairbounds.errors.SourceError: line 2 of 'audit.toml': there is no key 'treshold' (did you mean 'threshold'?); ...
    """

    values: Mapping[str, Value]
    name: str = "audit.toml"
    folder: Path = Path()
    text: str = field(default="", repr=False, compare=False)

    @classmethod
    def from_toml(
        cls, text: str, keys: Iterable[Key], *, name: str = "audit.toml", folder: Path | None = None
    ) -> AuditSpec:
        """Read a spec, or say on which line which key is wrong.

        Parameters
        ----------
        text : str
        keys : iterable of Key
            What it may say.
        name : str
            What messages call it.
        folder : Path, optional
            What its paths are relative to; by default the current folder.
        """
        try:
            found = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise SourceError(_syntax(name, text, error)) from None
        known = {key.name: key for key in keys}
        spec = cls({}, name, folder or Path(), text)
        return cls({key: spec._checked(known, key, value) for key, value in found.items()}, name, spec.folder, text)

    def to_toml(self) -> str:
        """Write the values as TOML, tables last; reading that gives them back.

        Examples
        --------
        >>> print(AuditSpec({"bin": {"age": [25, 60]}, "protected": ["sex"]}).to_toml())
        protected = ["sex"]
        <BLANKLINE>
        [bin]
        age = [25, 60]
        <BLANKLINE>
        """
        plain = [f"{_key(name)} = {written(value)}\n" for name, value in self.values.items() if not _is_table(value)]
        tables = [
            f"\n[{_key(name)}]\n" + "".join(f"{_key(column)} = {written(entry)}\n" for column, entry in value.items())
            for name, value in self.values.items()
            if isinstance(value, dict)
        ]
        return "".join([*plain, *tables])

    def path(self, typed: str) -> str:
        """Return a path of the file as seen from the current folder; a pattern stays one."""
        if os.path.isabs(os.path.expanduser(typed)) or self.folder == Path():
            return typed
        plain = os.path.join(self.folder, typed)
        pattern = glob.has_magic(typed) and not os.path.exists(plain)
        return os.path.join(glob.escape(str(self.folder)), typed) if pattern else plain

    def fault(self, message: str, *path: str) -> SourceError:
        """Return an error that points at the line of a key."""
        return SourceError(f"{self.place(*path)}: {message}")

    def place(self, *path: str) -> str:
        """Return the line of a key, and the name of the file, in words."""
        line = _line(self.text, path)
        return f"{brief(self.name)}" if line is None else f"line {line} of {brief(self.name)}"

    # -- what a key may hold -------------------------------------------------------------------------------------------

    def _checked(self, known: Mapping[str, Key], name: str, value: Any) -> Value:
        key = known.get(name)
        if key is None:
            raise self._unknown(known, name)
        if key.kind == "texts" and isinstance(value, str):
            value = [value]
        if not _FITS[key.kind](value):
            given = f"{'the text ' if isinstance(value, str) else ''}{_shown(value)}"
            raise self.fault(f"{name!r} must hold {_MEANINGS[key.kind]}, not {given}", *self._part(key, value))
        self._check_words(key, value)
        if key.least is not None and value < key.least:
            raise self.fault(f"{name!r} must be at least {key.least}, not {value}", name)
        return value  # type: ignore[no-any-return]

    def _unknown(self, known: Mapping[str, Key], name: str) -> SourceError:
        close = nearest(name.replace("-", "_"), known)
        return self.fault(f"there is no key {name!r}{close}; the keys are those of fairbounds audit --help", name)

    def _part(self, key: Key, value: Any) -> tuple[str, ...]:
        """Point into a table at its first wrong entry."""
        if key.kind in ("files", "edges") and isinstance(value, dict):
            wrong = (column for column, entry in value.items() if not _FITS[key.kind]({column: entry}))
            return (key.name, next(wrong, ""))
        return (key.name,)

    def _check_words(self, key: Key, value: Any) -> None:
        texts = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        if "" in texts:
            raise self.fault(f"{key.name!r} is empty; give it a value, or leave the line out", key.name)
        for text in texts:
            if key.choices and text not in key.choices:
                close = nearest(text, key.choices)
                raise self.fault(
                    f"{key.name!r} must be one of {listed(key.choices)}, not {brief(text)}{close}", key.name
                )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


_FITS: Mapping[Kind, Any] = {
    "text": _is_text,
    "texts": lambda value: isinstance(value, list) and all(map(_is_text, value)),
    "level": lambda value: isinstance(value, str | int | float),
    "number": _is_number,
    "whole": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "flag": lambda value: isinstance(value, bool),
    "file": _is_text,
    "files": lambda value: _is_table(value) and all(column and _is_text(entry) for column, entry in value.items()),
    "edges": lambda value: (
        _is_table(value)
        and all(column and isinstance(entry, list) and all(map(_is_number, entry)) for column, entry in value.items())
    ),
}


# -- lines -------------------------------------------------------------------------------------------------------------


def _syntax(name: str, text: str, error: tomllib.TOMLDecodeError) -> str:
    """Say what is no TOML, and on which line."""
    said = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", str(error), re.DOTALL)
    fault, line = (str(error), None) if said is None else (said[1], said[2])
    line = line or str(text.rstrip().count("\n") + 1)
    advice = _ADVICE.get(fault, "write key = value, with text in quotation marks")
    return f"line {line} of {brief(name)} is not TOML ({fault[:1].lower()}{fault[1:]}); {advice}"


def _line(text: str, path: Sequence[str]) -> int | None:
    """Return the line on which a key begins: that of the first lines that are TOML and have the key.

    TOML is read line by line: an entry ends where the lines so far can be read, and the entry that brings the key in
    begins on the first line after the end of the one before.
    """
    lines = [f"{line}\n" for line in text.split("\n")]
    begin = 0
    for end in range(1, len(lines) + 1):
        try:
            so_far = tomllib.loads("".join(lines[:end]))
        except tomllib.TOMLDecodeError:
            continue
        if _has(so_far, path):
            return next(at for at in range(begin, end) if not _is_blank(lines[at])) + 1
        begin = end
    return None


def _has(data: Any, path: Sequence[str]) -> bool:
    for name in path:
        if not isinstance(data, dict) or name not in data:
            return False
        data = data[name]
    return True


def _is_blank(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


# -- writing -----------------------------------------------------------------------------------------------------------


def written(value: Any) -> str:
    r"""Write a value as TOML.

    Examples
    --------
    >>> written('say "yes"\t'), written([1, 0.5]), written(True)
    ('"say \\"yes\\"\\t"', '[1, 0.5]', 'true')
    """
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower() if isinstance(value, bool) else str(value)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else written(name)


def _shown(value: Any) -> str:
    return brief(value) if isinstance(value, str) else written(value) if not _is_table(value) else "a table"


# -- as a JSON schema --------------------------------------------------------------------------------------------------

_TYPES: Mapping[Kind, Mapping[str, Any]] = {
    "text": {"type": "string", "minLength": 1},
    "level": {"type": ["string", "number", "boolean"], "minLength": 1},
    "number": {"type": "number"},
    "whole": {"type": "integer"},
    "flag": {"type": "boolean"},
    "file": {"type": "string", "minLength": 1},
    "files": {"type": "object", "additionalProperties": {"type": "string", "minLength": 1}},
    "edges": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "number"}}},
}


def schema(keys: Iterable[Key]) -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of a spec.

    Examples
    --------
    >>> schema([Key("threshold", "number", "What ratios are compared with.", default=0.8)])["properties"]
    {'threshold': {'description': 'What ratios are compared with.', 'type': 'number', 'default': 0.8}}
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:fairbounds:spec:1",
        "title": "audit.toml, the config file of fairbounds audit",
        "description": "Every key is a flag of the command, with underscores for hyphens.",
        "type": "object",
        "properties": {key.name: _property(key) for key in keys},
        "additionalProperties": False,
    }


def _property(key: Key) -> dict[str, Any]:
    word: dict[str, Any] = {"enum": list(key.choices)} if key.choices else dict(_TYPES["text"])
    if key.kind == "texts":
        shape: dict[str, Any] = {"anyOf": [word, {"type": "array", "items": word}]}
    else:
        shape = word if key.choices else dict(_TYPES[key.kind])
    if key.least is not None:
        shape["minimum"] = key.least
    default = {} if key.default is None else {"default": key.default}
    return ({"description": key.help} if key.help else {}) | shape | default
