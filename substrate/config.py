"""The settings of one home: ``config.toml``, read at start and checked whole.

Source: docs/spec/model.md §4 (files).
"""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from audit import files
from audit.errors import Invalid, Unavailable
from substrate import limits

FILE = "config.toml"
_BYTES = 64 * 1024
_PATH_CHARS = 4_096
ENGINE = frozenset({"force_compression", "memory_limit", "threads"})  # settings a home may choose
TIERS = ("keyword", "semantic", "smart", "autonomous")  # a ceiling somebody sets, not what is installed
EMBEDDING_MODEL = "all-MiniLM-L6-v2"  # the one that comes as a package
FORMS = "cheap, off, extractive, ollama/<model> or openai/<model>"
_KNOWN = "known are principal (text), tier, [engine], [models] and [recall]"


@dataclass(frozen=True)
class Models:
    """Which language models the curator may ask, and how far.

    ``persona`` and ``reflect`` are ``cheap``, ``off``, ``extractive`` or ``<provider>/<model>``. Times in seconds,
    tokens as the models count them, ``input_price`` and ``output_price`` in micro-dollars per thousand tokens.
    ``openai_key`` is never written to ``config.toml``; ``openai_key_file`` names a private file that holds it.
    """

    persona: str = "cheap"
    reflect: str = "cheap"
    ollama_url: str = "http://127.0.0.1:11434"
    ollama_model: str | None = None
    openai_url: str = "https://api.openai.com/v1"
    openai_model: str | None = None
    openai_key: str | None = field(default=None, repr=False)
    openai_key_file: str | None = None
    timeout_s: float = limits.LLM_SECONDS
    calls_per_day: int = limits.MODEL_CALLS
    context_tokens: int = 8_192
    input_price: int = 0
    output_price: int = 0


@dataclass(frozen=True)
class Search:
    """How recall looks.

    ``model`` makes the vectors: the packaged one by its name, any other of sentence-transformers by its folder.
    ``tokenizer`` is the file, such as ``tokenizer.json`` of a model, that counts tokens; without one they are bounded
    from above.
    """

    model: str = EMBEDDING_MODEL
    tokenizer: str | None = None


@dataclass(frozen=True)
class Config:
    """What a home says about itself.

    ``principal`` is who the command line acts as when nobody is named; ``engine`` are settings of the database engine;
    ``tier`` is the highest capability tier whose actions may be asked for.
    """

    principal: str | None = None
    engine: Mapping[str, str] = field(default_factory=dict)
    tier: str = "smart"
    models: Models = field(default_factory=Models)
    search: Search = field(default_factory=Search)


def is_model(text: str) -> bool:
    """Say whether this names a model: ``cheap``, ``off``, ``extractive`` or ``<provider>/<model>``.

    Source: docs/spec/requirements.md S0-52.
    """
    return re.fullmatch(r"cheap|off|extractive|(?:ollama|openai)/[!-~]{1,200}", text) is not None


def is_url(text: str) -> bool:
    """Say whether this is the address of a server: http or https, a host, no user, no query."""
    try:
        parts = urlsplit(text)
        named = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return named and re.fullmatch(r"(?i:https?)://[!-~]+", text) is not None and not set(text) & set("@?#\\")


def is_embedding_model(text: str) -> bool:
    """Say whether this names a model for vectors: the packaged one, or a folder by a path from / or ~/."""
    return len(text) <= _PATH_CHARS and (
        text == EMBEDDING_MODEL or (text.isprintable() and text.startswith(("/", "~/")))
    )


def _is_text(text: object) -> bool:
    return isinstance(text, str) and re.fullmatch(r"[!-~]{1,200}", text) is not None


def _between(least: float, most: float, *kinds: type) -> Callable[[object], bool]:
    return lambda value: type(value) in kinds and least <= value <= most  # type: ignore[operator]  # a bool is no number


_Checks = dict[str, tuple[Callable[[Any], bool], str]]
_PATH = (lambda v: isinstance(v, str) and v.isprintable() and v.startswith(("/", "~/")), "a path from / or ~/")
_MODELS: _Checks = {
    "persona": (lambda v: isinstance(v, str) and is_model(v), FORMS),
    "reflect": (lambda v: isinstance(v, str) and is_model(v), FORMS),
    "ollama_url": (lambda v: isinstance(v, str) and is_url(v), "an http or https address"),
    "ollama_model": (_is_text, "the name of a model"),
    "openai_url": (lambda v: isinstance(v, str) and is_url(v), "an http or https address"),
    "openai_model": (_is_text, "the name of a model"),
    "openai_key_file": _PATH,
    "timeout_s": (_between(0.1, 3_600, int, float), "seconds, 0.1 to 3600"),
    "calls_per_day": (_between(0, 10**9, int), "a whole number from 0"),
    "context_tokens": (_between(512, 10**8, int), "a whole number from 512"),
    "input_price": (_between(0, 10**9, int), "a whole number of micro-dollars per thousand tokens"),
    "output_price": (_between(0, 10**9, int), "a whole number of micro-dollars per thousand tokens"),
}
_SEARCH: _Checks = {
    "model": (lambda v: isinstance(v, str) and is_embedding_model(v), f"{EMBEDDING_MODEL}, or {_PATH[1]}"),
    "tokenizer": _PATH,
}
_TABLES: dict[str, tuple[str, type, _Checks]] = {
    "models": ("models", Models, _MODELS),
    "recall": ("search", Search, _SEARCH),
}
"""The tables of the file whose values are checked one by one, with the field of `Config` each fills."""


def read(home: Path) -> Config:
    """Read the settings of a home; a home without a file has the defaults.

    Raises Invalid naming every unknown key and wrong value, or that others may write the file; Unavailable when it
    cannot be read.
    """
    path = home / FILE
    try:
        with open(path, "rb", opener=files.unblocked) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise Invalid(f"{path} is not a regular file", hint="move it away")
            if status.st_mode & 0o022:
                raise Invalid(f"{path} can be written by others", hint=f"chmod go-w {path}")
            found = tomllib.loads(file.read(_BYTES).decode())
    except (FileNotFoundError, NotADirectoryError):
        return Config()
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}", hint="check its permissions") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Invalid(f"{path} cannot be read: {error}", hint="mend it, or delete it to get the defaults") from error
    wrong = _faults(found)
    if wrong:
        raise Invalid(
            f"{path}: unknown or wrong: {', '.join(sorted(wrong))}",
            hint="; ".join(dict.fromkeys(wrong[name] for name in sorted(wrong))),
        )
    tables = {field: kind(**found.get(table, {})) for table, (field, kind, _) in _TABLES.items()}
    return Config(found.get("principal"), found.get("engine", {}), found.get("tier", Config.tier), **tables)


def _faults(found: Mapping[str, Any]) -> dict[str, str]:
    """Name every key that is unknown or wrong, with what is known in its place."""
    wrong = dict.fromkeys(found.keys() - {"principal", "engine", "tier", *_TABLES}, _KNOWN)
    if not isinstance(found.get("principal", ""), str):
        wrong["principal"] = _KNOWN
    if found.get("tier", "smart") not in TIERS:
        wrong["tier"] = f"tier is one of {', '.join(TIERS)}"
    engine = found.get("engine", {})
    known = f"in [engine] are known, as texts, {', '.join(sorted(ENGINE))}"
    if not isinstance(engine, dict) or not all(isinstance(value, str) for value in engine.values()):
        wrong["engine"] = known
    else:  # any other setting could change what a query means, or unlock what is locked
        wrong |= {f"engine.{name}": known for name in engine.keys() - ENGINE}
    for table, (_, _, checks) in _TABLES.items():
        wrong |= _table_faults(table, found.get(table, {}), checks)
    return wrong


def _table_faults(table: str, held: object, checks: _Checks) -> dict[str, str]:
    if not isinstance(held, dict):
        return {table: f"[{table}] is a table"}
    wrong = {}
    for name, value in held.items():
        if (table, name) == ("models", "openai_key"):
            wrong["models.openai_key"] = "keep the key in a file of mode 600 and name that as openai_key_file"
        elif name not in checks:
            wrong[f"{table}.{name}"] = f"in [{table}] are known {', '.join(checks)}"
        elif not checks[name][0](value):
            wrong[f"{table}.{name}"] = f"{name} is {checks[name][1]}"
    return wrong


def write(home: Path, config: Config) -> None:
    """Write the settings of a home, at once and durably; a key of a provider is never among them."""
    lines = ["# Who commands act as when nobody is named with --as."]
    if config.principal is not None:
        lines.append(f'principal = "{config.principal}"')
    if config.tier != Config.tier:
        lines.append(f'tier = "{config.tier}"')
    if config.engine:
        lines += ["", "[engine]", *(f'{name} = "{value}"' for name, value in sorted(config.engine.items()))]
    for table, (part, kind, checks) in _TABLES.items():
        chosen = {name: getattr(getattr(config, part), name) for name in checks}
        chosen = {name: value for name, value in chosen.items() if value != getattr(kind, name)}
        if chosen:  # what is printable is written in JSON as in TOML
            texts = (f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in chosen.items())
            lines += ["", f"[{table}]", *texts]
    draft = home / f".{FILE}.new"
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as file:
            file.write(("\n".join(lines) + "\n").encode())
            file.flush()
            os.fsync(file.fileno())
        draft.replace(home / FILE)
    except OSError as error:
        raise Unavailable(f"{home / FILE} could not be written: {error.strerror}", hint="free some space") from error
