"""Look at the files that show rows: all of them, one taken apart, and the policy that asks for them."""

from pathlib import Path
from typing import Any

import yaml

from substrate.scopes import namespaces
from tests.curator.workshop import Workshop

PERSONAS = "governance.auto_export_personas_to_filesystem"
REFLECTIONS = "governance.auto_export_reflections_to_filesystem"


def ask(shop: Workshop, *fields: str, namespace: str = "global", value: bool | None = True) -> None:
    with shop.memory.write() as tx:
        for field in fields or (PERSONAS, REFLECTIONS):
            namespaces.set_policy(tx, shop.memory.caller, namespace, field, value)


def files(home: Path) -> dict[str, bytes]:
    """Map every path under the two folders to what is there."""
    return {
        path.relative_to(home).as_posix(): path.read_bytes()
        for folder in ("personas", "reflections")
        for path in sorted((home / folder).rglob("*"))
        if path.is_file()
    }


def taken_apart(data: bytes) -> tuple[dict[str, Any], str]:
    """Give the fields and the body of a file."""
    text = data.decode()
    assert text.startswith("---\n")
    front, _, body = text.removeprefix("---\n").partition("\n---\n")
    return yaml.safe_load(front), body


def recorded(shop: Workshop) -> list[tuple[str, str, str]]:
    with shop.memory.db.connection() as connection:
        return connection.rows("SELECT path, subject, sha256 FROM projections ORDER BY path")
