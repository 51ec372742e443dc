"""The settings of one home: ``config.toml``, read at start and checked whole.

Source: docs/spec/model.md §4 (files).
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from audit import files
from audit.errors import Invalid, Unavailable

FILE = "config.toml"
_BYTES = 64 * 1024
ENGINE = frozenset(
    {"checkpoint_threshold", "force_compression", "memory_limit", "threads"}
)  # settings a home may choose


@dataclass(frozen=True)
class Config:
    """What a home says about itself.

    ``principal`` is who the command line acts as when nobody is named; ``engine`` are settings of the database engine.
    """

    principal: str | None = None
    engine: Mapping[str, str] = field(default_factory=dict)


def read(home: Path) -> Config:
    """Read the settings of a home; a home without a file has the defaults.

    Raises Invalid naming every unknown key and wrong type, or that others may write the file; Unavailable when it
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
    wrong = [key for key in found if key not in ("principal", "engine")]
    principal, engine = found.get("principal"), found.get("engine", {})
    if not isinstance(principal, str | None):
        wrong.append("principal")
    if not isinstance(engine, dict) or not all(isinstance(value, str) for value in engine.values()):
        wrong.append("engine")
    else:  # any other setting could change what a query means, or unlock what is locked
        wrong += sorted(f"engine.{name}" for name in engine.keys() - ENGINE)
    if wrong:
        raise Invalid(
            f"{path}: unknown or wrong: {', '.join(sorted(wrong))}",
            hint=f"known are principal (text) and in [engine], as texts, {', '.join(sorted(ENGINE))}",
        )
    return Config(principal, engine)


def write(home: Path, config: Config) -> None:
    """Write the settings of a home, at once and durably."""
    lines = ["# Who commands act as when nobody is named with --as."]
    if config.principal is not None:
        lines.append(f'principal = "{config.principal}"')
    if config.engine:
        lines += ["", "[engine]", *(f'{name} = "{value}"' for name, value in sorted(config.engine.items()))]
    draft = home / f".{FILE}.new"
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as file:
            file.write(("\n".join(lines) + "\n").encode())
            file.flush()
            os.fsync(file.fileno())
        draft.replace(home / FILE)
    except OSError as error:
        raise Unavailable(f"{home / FILE} could not be written: {error.strerror}", hint="free some space") from error
